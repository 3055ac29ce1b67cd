"""Test the front page of a run: the order of its questions, and links to built files only."""

import re
from collections.abc import Collection, Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from markupsafe import escape

from front_page_results import (
    CLAIM,
    CONTRAST,
    HOSTILE,
    STUDIES,
    UNTESTED,
    built_files,
    results_with_questions,
)
from moot.core.errors import UserError
from moot.report import FIGURES, TABLES
from moot.report.content import Figure
from moot.report.figures import draw, has_content, new_figure, nothing_to_draw
from moot.report.front_page import RunRemarks, read_table_preview, write_front_page
from moot.report.study_questions import StudyQuestion, choose_questions
from results_on_disk import case, prediction, study_of, write_results


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return results_with_questions(tmp_path)


def front_page(root: Path, built: Collection[Path] | None = None, *further: Any) -> str:
    """Write the front page, by default with all built files, and return its text."""
    path = root / "index.html"
    built = built_files(root) if built is None else built
    write_front_page(root, "comparison", built, {"page": path}, STUDIES, *further)
    return path.read_text(encoding="utf-8")


def questions_of(own: Collection[str] = (), **changes: object) -> list[StudyQuestion]:
    rows = [UNTESTED, CONTRAST | changes, CLAIM]
    return choose_questions(list(map(as_text, rows)), {}, own)


def as_text(row: Mapping[str, object]) -> dict[str, str]:
    return {key: str(cell) for key, cell in row.items()}


def test_own_questions_come_first_and_shipped_ones_without_an_interval_not_at_all() -> None:
    assert [question.text for question in questions_of()] == [
        "Is a debate shorter?",
        "Is A better than B?",
    ]
    own = questions_of(["untested", "a-above-b"])
    assert [(question.text, question.sign) for question in own] == [
        ("Is A better than B?", "?"),
        ("Is C better than D?", "?"),
        ("Is a debate shorter?", "✓"),
    ]
    assert own[1].estimate is None and own[1].why == "One case."


def test_a_small_p_without_an_interval_is_an_answer() -> None:
    row = {"difference low": "", "difference high": "", "p (Holm)": 0.001, "answer": "supported"}
    question = next(q for q in questions_of(["a-above-b"], **row) if q.text.startswith("Is A"))
    assert question.answer == "supported" and question.estimate is None
    assert question.why.startswith("There is no interval; p = 0.001")


def test_a_difference_without_a_direction_is_no_yes() -> None:
    """Debates that are worse do not support that they are better."""
    changes = {"expected": "they differ", "p (Holm)": 0.001, "answer": "supported"}
    question = next(q for q in questions_of(["a-above-b"], **changes) if q.text.startswith("Is A"))
    assert question.answer_text == "supported (they differ)"
    expected = {"expected": "first lower", "p (Holm)": 0.001, "answer": "supported"}
    question = next(q for q in questions_of(["a-above-b"], **expected) if q.text.startswith("Is A"))
    assert question.answer_text == "supported"


def test_a_page_has_at_most_twenty_questions() -> None:
    rows = [as_text(CONTRAST | {"contrast": f"c{number}"}) for number in range(30)]
    questions = choose_questions(rows, {}, ["c29"])
    assert len(questions) == 20 and questions[0].is_own


def test_a_value_is_shown_with_the_threshold_that_it_is_compared_with() -> None:
    question = questions_of()[0]
    assert question.estimate is not None
    assert astuple(question.estimate) == pytest.approx((0.67, 0.5, 0.88, 1.0))
    assert question.about == f"Tokens of a debate of debates, {HOSTILE}; 124 cases"
    assert question.why == (
        "The 95 % interval leaves out 1; p < 0.001 (Holm's correction for 4 tests)."
    )
    places = [question.estimate.at(value) for value in (0.5, 0.67, 0.88, 1)]
    assert places == sorted(places) and (places[0], places[-1]) == (8, 92)


def test_an_answer_is_a_word_followed_by_its_reason() -> None:
    reason = "invalid answers carry the difference (-0.223 with them as wrong, +0.080 without)"
    [question] = questions_of(answer=f"cannot tell: {reason}")[1:]
    assert question.answer == "cannot tell"
    assert question.why.endswith(
        "Invalid answers carry the difference (-0.223 with them as wrong, +0.080 without)."
    )


def test_a_comparison_shows_the_values_of_both_sides_and_metrics_in_words() -> None:
    assert questions_of()[1].about == (
        "Difference in accuracy: debates, 3 models where sex=x (0.600) less votes, smollm"
        " (0.620); 100 cases"
    )
    [question] = questions_of(metric="f1 against macro_f1")[1:]
    assert question.about.startswith("Difference in F1 against macro F1: ")
    changes = {"metric": "agreement_after against agreement_before", "first": "votes, smollm"}
    [question] = questions_of(**changes)[1:]
    assert question.about == (
        "Votes, smollm: agreement after (0.600) less agreement before (0.620); 100 cases"
    )


def test_the_trial_runs_are_a_link_to_their_table(root: Path) -> None:
    pd.DataFrame([{"experiment": "a", "seconds": 4.336015688}]).to_csv(
        root / "tables/comparison/trial_runs.csv"
    )
    (root / "tables/comparison/trial_runs.html").write_text("")
    page = front_page(root)
    assert (
        '<a href="tables/comparison/trial_runs.html">Trial runs</a> (1)' in page
        and "4.336" not in page
    )


def test_the_page_links_built_files_and_escapes_foreign_text(root: Path) -> None:
    pages = {"page": root / "index.html", "questions": root / "questions.html"}
    write_front_page(root, "comparison", built_files(root), pages, STUDIES)
    page, fragment = (path.read_text(encoding="utf-8") for path in pages.values())
    links = re.findall(r'(?:href|src)="([^"]+)"', page)
    assert "tables/recorded/methods.html" in links
    assert "figures/recorded/nyu_beliefs.svg" in links
    ids = set(re.findall('id="([^"]+)"', page))
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        else:
            assert (root / link.partition("#")[0]).is_file(), "links are relative to the page"
    debates = [link for link in links if ".html#" in link]
    experiment_link = "reader/recorded.html#?experiment=debates"
    assert debates[1:] == [
        experiment_link,
        "reader/recorded.html#?experiment=votes&amp;model=smollm",
    ]
    assert "tables/recorded/groups.html" not in links, "the file is from an earlier run"
    for text in (page, fragment):
        assert HOSTILE not in text
        assert text.count("About 400 cases are needed &lt;img") == 1
        assert text.index("<h3>Is a debate shorter?") < text.index("<h3>Is A better than B?")
    assert "href" not in fragment, "the fragment is part of another page"


def test_the_page_shows_accuracies_and_names_empty_tables(root: Path) -> None:
    page = front_page(root)
    methods = page[page.index('id="methods"') : page.index('id="comparison"')]
    assert "<td>0.500 [0.18, 0.82]</td><td>10</td><td>10</td>" in methods
    assert "<td>0.500</td><td>0.600</td><td>−0.100 [−0.400, 0.200]</td><td>10</td>" in methods
    assert "<details open>" in methods
    assert methods.count("<tr>") == 4, "an arm without a difference has no row"
    without_values = page[page.index("Tables without values in this run") :].partition("</p>")[0]
    assert TABLES["comparison/deferral"].title in without_values
    assert "tables/comparison/deferral.html" not in page, "it has neither link nor preview"


def test_the_page_counts_calls_and_tokens(root: Path) -> None:
    answers = {"tiny": [prediction("a", "yes", "yes"), prediction("b", "yes", "yes")]}
    write_results(root, [case("a", "yes"), case("b", "yes")], answers)
    assert "<li>2 calls, 180 tokens read, 20 written.</li>" in front_page(root)
    (root / "outcome").mkdir()
    for study, waiting_count in (("courtroom", 2), ("stance", 3)):
        table = pd.DataFrame({"waiting": [waiting_count, 1]})
        table.to_csv(root / f"outcome/{study}.csv", index=False)
    assert "<li>4 debates wait for a person" in front_page(root), "the most of any page"


def test_the_page_opens_with_sentences_papers_and_a_legend(root: Path) -> None:
    (root / "papers").mkdir()
    (root / "papers" / "b.html").write_text('<body data-items="9" data-filled="1">')
    (root / "papers" / "a.html").write_text("<body>")
    papers = {"papers/a.html": "A", "papers/b.html": HOSTILE, "papers/none.html": "C"}
    warning = f"people: SYNTHETIC DATA {HOSTILE}"
    page = front_page(root, None, RunRemarks(warnings=[warning]), papers)
    assert HOSTILE not in page
    assert page.index("SYNTHETIC DATA") < page.index('class="summary"') < page.index('id="papers"')
    assert page.index('id="papers"') < page.index('class="legend"') < page.index("<article")
    summary = page.partition('class="summary"')[2].partition("</section>")[0]
    assert summary.count("<p>") == 2
    assert "Below are 2 questions: 1 supported, 0 not supported, 1 cannot tell." in summary
    assert "Is a debate shorter? Supported: 0.670 [0.500, 0.880]" in summary
    assert "1 item filled by this run, 8 open" in page
    assert page.count("items filled") == 0 and "papers/none.html" not in page
    assert re.findall(r"</span> ([a-z ]+)</dt>", page) == [
        "supported",
        "not supported",
        "cannot tell",
    ]


def test_questions_of_own_experiments_come_before_the_papers(root: Path) -> None:
    (root / "papers").mkdir()
    bodies = {
        "a": 'data-items="9" data-filled="0" data-without-debates="4"',
        "b": 'data-items="13" data-filled="2" data-without-debates="1"'
        ' data-made-up="SYNTHETIC DATA"',
    }
    for name, attributes in bodies.items():
        (root / "papers" / f"{name}.html").write_text(f"<body {attributes}>")
    papers = {"papers/a.html": "A", "papers/b.html": "B"}
    page = front_page(root, None, RunRemarks(has_own_experiments=True), papers)
    assert (
        page.index("<h3>Is A better than B?") < page.index('id="papers"') < page.index('id="made"')
    )
    assert ">A</a>: no item has values of this run; 4 need no debate" in page
    progress = ">B</a>: 2 items with values of this run next to the paper's, 10 without; 1 needs"
    assert progress in page
    assert "filled" not in page.partition("<main")[2]


def test_a_run_without_answers_is_summarised_in_three_sentences(root: Path) -> None:
    page = front_page(root, [])
    summary = page.partition('class="summary"')[2].partition("</section>")[0]
    assert summary.count("<p>") == 3 and "no number here is a finding" in summary


def test_previews_are_part_of_the_page_and_show_numbers(root: Path) -> None:
    table = root / "tables" / "recorded" / "methods.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    row = {"study": "x", "n": 3, "empty": "", "accuracy": 0.123456}
    rows = [{"method": f"{n}{HOSTILE}", **row} for n in range(9)]
    pd.DataFrame(rows).to_csv(table, index=False)
    page = front_page(root)
    assert "<iframe" not in page and 'loading="lazy"' not in page, "a printer loads nothing late"
    pages = {"page": root / "recorded.html"}  # its own table of methods has other columns
    write_front_page(root, "recorded", built_files(root), pages, STUDIES)
    preview = page.partition('id="recorded"')[2].partition("</section>")[0]
    assert re.findall("<td>(.*?)</td>", preview)[:3] == ["method", "n", "accuracy"]
    assert preview.count("<td>0.123</td>") == 4 and HOSTILE not in page


def test_a_number_of_a_preview_has_its_interval(root: Path) -> None:
    """Nobody could cite it without."""
    frame = pd.DataFrame({"method": ["a", "b"], "n": 3, "error": [0.5001, 0.25]})
    frame = frame.assign(**{"error low": [0.12345, None], "error high": [0.90012, None]})
    frame.to_csv(root / "tables" / "preview.csv", index=False)
    preview = read_table_preview(root, "tables/preview.html")
    assert [row[1] for row in preview] == ["error", "0.500 [0.123, 0.900]", "0.25"]


def test_a_preview_shows_the_columns_in_which_its_rows_differ(tmp_path: Path) -> None:
    keys = {"data": "boards", "answers of": "said"}
    rows = [keys | {"signal": name, "error": n / 10} for n, name in enumerate("ab")]
    pd.DataFrame(rows * 3).to_csv(tmp_path / "deferral.csv", index=False)
    preview = read_table_preview(tmp_path, "deferral.html")
    assert preview[0] == ["data", "signal", "error"]
    assert [row[1] for row in preview[1:]] == ["a", "b"]


def test_failures_come_first_and_unanswered_questions_cannot_tell(root: Path) -> None:
    failures = [f"run_debates of mine, model, 0: the key is refused {HOSTILE}", "load_cases of x"]
    page = front_page(root, None, RunRemarks(failures=failures))
    assert HOSTILE not in page
    assert (
        page.index('<h2 id="failed">') < page.index("the key is refused") < page.index("load_cases")
    )
    assert page.index("load_cases") < page.index("Is A better than B?")
    page = front_page(root, [], RunRemarks(failures=failures))
    assert "This run asks no question." in page
    assert "Failed" not in front_page(root, [])


def test_the_questions_of_a_single_study_are_on_the_page_of_all(root: Path) -> None:
    (root / "tables/comparison/contrasts.csv").rename(root / "tables/recorded/contrasts.csv")
    assert "<h3>Is A better than B?" in front_page(root)


def test_a_damaged_table_is_named(root: Path) -> None:
    path = root / "tables" / "comparison" / "contrasts.csv"
    path.write_bytes(b'"a\xff')
    with pytest.raises(UserError, match=r"contrasts\.csv is not a table"):
        front_page(root)


def test_figures_without_content_are_listed_apart(root: Path) -> None:
    path = root / "figures/recorded/nyu_beliefs.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    title = escape(FIGURES["recorded/nyu_beliefs"].title)
    for reason, gallery in (("", 1), ("No run.", 0)):
        entry = Figure(
            "recorded",
            "nyu_beliefs",
            "Title",
            "Caption",
            lambda _, reason=reason: nothing_to_draw(reason) if reason else new_figure()[0],
        )
        draw(entry, study_of(study="recorded"), {"svg": path})
        assert has_content(path) is bool(gallery)
        text = front_page(root, {*built_files(root), path})
        assert text.count('<img src="figures/recorded/nyu_beliefs.svg"') == gallery
        list_of_figures = f"Figures without data in this run: {title}</p>"
        assert (list_of_figures in text) is not bool(gallery)


def test_keys_in_sentences_are_code_without_backticks(root: Path) -> None:
    text = front_page(root, [], RunRemarks(failures=["Lower `cases` <b>."]))
    assert "Lower <code>cases</code> &lt;b&gt;." in text and "<code>contrasts</code>" in text
    assert "`" not in text.partition("<body")[2] or "`" not in text.partition("<main")[2]
