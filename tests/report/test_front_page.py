"""Test the front page of a run: the order of its questions, and links to built files only."""

import re
from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

from front_page_results import CLAIM, HOSTILE, STUDIES, built_files, results_with_questions
from moot.core.errors import UserError
from moot.report import FIGURES, TABLES
from moot.report.content import Figure
from moot.report.figures import draw, has_content, new_figure, nothing_to_draw
from moot.report.front_page import RunRemarks, read_questions, write_front_page
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.workflow.failed_jobs import UnfinishedJob


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return results_with_questions(tmp_path)


def test_planned_comparisons_come_first_and_unanswered_questions_last(root: Path) -> None:
    questions = read_questions(
        root,
        "comparison",
        [path.relative_to(root).as_posix() for path in built_files(root)],
        STUDIES,
    )
    assert [question.text for question in questions] == [
        "Is A better than B?",
        "Is a debate shorter?",
        "Is C better than D?",
        "Is E better than F?",
        "Does smoothing help?",
        "Is one case enough?",
    ]
    reasons = ["One case", *["This run has too few cases for an interval"] * 2]
    assert [questions[place].missing for place in (2, 3, 5)] == reasons
    assert [len(question.verdicts) for question in questions] == [1, 2, 0, 0, 0, 0]
    verdicts = chain.from_iterable(question.verdicts for question in questions)
    assert "".join(verdict.sign for verdict in verdicts) == "?✓?"
    planned_reason, claim_reason = (
        question.verdicts[0].why.rpartition("; ")[2] for question in questions[:2]
    )
    assert (planned_reason, claim_reason) == (
        "p = 0.800 (Holm's correction for 4 tests).",
        "p < 0.001 (Holm's correction for 2 tests).",
    )
    assert [question.claim for question in questions] == [
        "",
        "Yes. Source: a paper",
        "",
        "",
        "",
        "Yes. Source: a paper",
    ]


def test_a_verdict_is_a_word_followed_by_its_reason(root: Path) -> None:
    answer = (
        "cannot tell: invalid answers carry the difference (-0.223 with them as wrong, +0.080"
        " without)"
    )
    bounds = {
        "supported where": "within 0.05 of 0",
        "95 % low": -0.084,
        "95 % high": 0.017,
        "tests in family": 1.0,
    }
    claim = (
        CLAIM
        | bounds
        | {
            "answer": answer,
            "p (Holm)": 0.5148,
            "published claim": "none published",
        }
    )
    pd.DataFrame([claim]).to_csv(root / "tables/comparison/questions.csv")
    question = read_questions(root, "comparison", ["tables/comparison/questions.csv"], STUDIES)[0]
    [verdict] = question.verdicts
    assert (verdict.word, verdict.sign, question.claim) == ("cannot tell", "?", "")
    assert (
        verdict.why == "The 95 % interval includes −0.05; p = 0.515. "
        "Invalid answers carry the difference (−0.223 with them as wrong, +0.080 without)."
    )


def test_the_trial_runs_are_a_link_to_their_table(root: Path) -> None:
    pd.DataFrame([{"experiment": "a", "seconds": 4.336015688}]).to_csv(
        root / "tables/comparison/trial_runs.csv"
    )
    (root / "tables/comparison/trial_runs.html").write_text("")
    write_front_page(root, "comparison", built_files(root), {"page": root / "index.html"}, STUDIES)
    page = (root / "index.html").read_text(encoding="utf-8")
    assert (
        '<a href="tables/comparison/trial_runs.html">Trial runs</a> (1)' in page
        and "4.336" not in page
    )


def test_a_bar_shows_interval_threshold_and_published_value_on_one_scale(
    root: Path,
) -> None:
    names = [path.relative_to(root).as_posix() for path in built_files(root)]
    question = read_questions(root, "comparison", names, STUDIES)[1]
    verdict = question.verdicts[0]
    values = (verdict.low, verdict.value, verdict.published or 0, verdict.high, 1)
    ends = list(map(question.at, values))
    assert ends == sorted(ends)
    assert (ends[0], ends[-1]) == (8, 92)


def test_the_page_links_built_files_and_escapes_foreign_text(root: Path) -> None:
    pages = {"page": root / "index.html", "questions": root / "questions.html"}
    write_front_page(root, "comparison", built_files(root), pages, STUDIES)
    page, fragment = (path.read_text(encoding="utf-8") for path in pages.values())
    links = re.findall(r'(?:href|src)="([^"]+)"', page)
    assert "tables/recorded/methods.html" in links
    assert "figures/recorded/accuracy.svg" in links
    ids = set(re.findall('id="([^"]+)"', page))
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        else:
            assert (root / link.partition("#")[0]).is_file(), "links are relative to the page"
    debates = [link for link in links if ".html#" in link]
    experiment_link = "reader/recorded.html#?experiment=debates"
    assert debates == [
        experiment_link,
        "reader/recorded.html#?experiment=votes&amp;model=smollm",
        *[f"{experiment_link}&amp;model=a+model"] * 2,
    ]
    assert "tables/recorded/groups.html" not in links, "the file is from an earlier run"
    for text in (page, fragment):
        assert HOSTILE not in text
        assert text.count("Both always gave the same answer &lt;img") == 3, "one a comparison"
        assert text.index("<h3>Is A better than B?") < text.index("<h3>Is a debate shorter?")
        assert text.index("<details>") < text.index("Does smoothing help?")
    assert page.count("<li>Half lies between cases") == 1
    assert "tables/comparison/deferral.html" in links
    assert "href" not in fragment, "the fragment is part of another page"


def test_the_page_shows_accuracies_and_names_empty_tables(
    root: Path,
) -> None:
    write_front_page(root, "comparison", built_files(root), {"page": root / "index.html"}, STUDIES)
    page = (root / "index.html").read_text(encoding="utf-8")
    methods = page[page.index('id="methods"') : page.index('id="deferral"')]
    assert "<td>0.500 [0.18, 0.82], n = 10</td>" in methods
    assert "<td>0.500</td><td>0.600</td><td>−0.100 [−0.400, 0.200]</td><td>10</td>" in methods
    assert "<details open>" in methods
    assert methods.count("<tr>") == 4, "an arm without a difference has no row"
    without_rows = page[page.index("Tables without rows in this run") :].partition("</p>")[0]
    assert TABLES["comparison/group_rates"].title in without_rows
    assert "tables/comparison/group_rates.html" not in page, "it has neither link nor preview"


def test_the_page_opens_with_three_sentences_papers_and_a_legend(root: Path) -> None:
    (root / "papers").mkdir()
    (root / "papers" / "b.html").write_text('<body data-items="9" data-filled="1">')
    (root / "papers" / "a.html").write_text("<body>")
    papers = {"papers/a.html": "A", "papers/b.html": HOSTILE, "papers/none.html": "C"}
    pages = {"page": root / "index.html"}
    warning = f"people: SYNTHETIC DATA {HOSTILE}"
    remarks = RunRemarks(warnings=[warning])
    write_front_page(root, "comparison", built_files(root), pages, STUDIES, remarks, papers)
    page = (root / "index.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert page.index("SYNTHETIC DATA") < page.index('class="summary"') < page.index('id="papers"')
    assert page.index('id="papers"') < page.index('class="legend"') < page.index("<article")
    summary = page.partition('class="summary"')[2].partition("</section>")[0]
    assert summary.count("<p>") == 3
    assert "asks 6 questions: 0 supported, 0 not supported, 1 with answers that differ" in summary
    answer = "Supported in 1 of 2 runs, most clearly: 0.670 [0.500, 0.880]"
    assert f"Is a debate shorter? {answer}" in summary
    assert "Is A better than B? Cannot tell" not in summary, "its word is `not shown`"
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
        "a": 'data-items="9" data-filled="0" data-drawn="4"',
        "b": 'data-items="13" data-filled="2" data-drawn="1" data-made-up="SYNTHETIC DATA"',
    }
    for name, attributes in bodies.items():
        (root / "papers" / f"{name}.html").write_text(f"<body {attributes}>")
    papers = {"papers/a.html": "A", "papers/b.html": "B"}
    pages = {"page": root / "index.html"}
    remarks = RunRemarks(has_own_experiments=True)
    write_front_page(root, "comparison", built_files(root), pages, STUDIES, remarks, papers)
    page = (root / "index.html").read_text(encoding="utf-8")
    assert (
        page.index("<h3>Is A better than B?") < page.index('id="papers"') < page.index('id="made"')
    )
    assert page.index("<h3>Is A better than B?") < page.index("<h3>Is a debate shorter?")
    assert ">A</a>: no item has values of this run; 4 need no debate" in page
    progress = ">B</a>: 2 items with values of this run next to the paper's, 10 without; 1 needs"
    assert progress in page
    assert "filled" not in page.partition("<main")[2]
    summary = page.partition('class="summary"')[2].partition("</section>")[0]
    assert "asks 4 questions:" in summary
    assert "2 further questions about the papers need other debates." in summary
    assert summary.index("Is A better than B?") < summary.index("Is a debate shorter?")


def test_an_own_question_without_an_answer_is_shown_before_those_of_papers(root: Path) -> None:
    path = root / "tables/comparison/contrasts.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    frame[["difference low", "difference high", "p (Holm)"]] = ""
    frame.to_csv(path, index=False)
    pages = {"page": root / "index.html"}
    for is_own in (True, False):
        remarks = RunRemarks(has_own_experiments=is_own)
        write_front_page(root, "comparison", built_files(root), pages, STUDIES, remarks)
        page = (root / "index.html").read_text(encoding="utf-8")
        own_question, details = page.index("<h3>Is A better"), page.index("<details>\n<summary>Q")
        assert (own_question < details) == is_own


def test_a_run_without_answers_is_summarised_in_three_sentences(root: Path) -> None:
    write_front_page(root, "comparison", [], {"page": root / "index.html"}, STUDIES)
    page = (root / "index.html").read_text(encoding="utf-8")
    summary = page.partition('class="summary"')[2].partition("</section>")[0]
    assert summary.count("<p>") == 3 and "no number here is a finding" in summary


def test_previews_are_part_of_the_page_and_show_numbers(root: Path) -> None:
    table = root / "tables" / "recorded" / "methods.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"study": "x", "method": HOSTILE, "n": 3, "empty": "", "accuracy": 0.123456}] * 9
    pd.DataFrame(rows).to_csv(table, index=False)
    write_front_page(root, "comparison", built_files(root), {"page": root / "index.html"}, STUDIES)
    page = (root / "index.html").read_text(encoding="utf-8")
    assert "<iframe" not in page and 'loading="lazy"' not in page, "a printer loads nothing late"
    preview = page.partition('id="recorded"')[2].partition("</section>")[0]
    assert re.findall("<td>(.*?)</td>", preview)[:3] == ["method", "n", "accuracy"]
    assert preview.count("<td>0.123</td>") == 4 and HOSTILE not in page


def test_names_of_code_are_words(root: Path) -> None:
    names = [path.relative_to(root).as_posix() for path in built_files(root)]
    contrasts = root / "tables/comparison/contrasts.csv"
    frame = pd.read_csv(contrasts, dtype=str, keep_default_na=False)
    frame["metric"] = "f1 against macro_f1"
    frame.to_csv(contrasts)
    question = read_questions(root, "comparison", names, STUDIES)[0]
    assert question.verdicts[0].about.startswith("Difference in F1 against macro F1: ")


def test_a_planned_comparison_shows_the_values_of_both_sides(root: Path) -> None:
    names = [path.relative_to(root).as_posix() for path in built_files(root)]
    question = read_questions(root, "comparison", names, STUDIES)[0]
    assert question.verdicts[0].about.startswith(
        "Difference in accuracy: debates, 3 models where sex=x (0.600) less votes, smollm (0.620)"
    )


def test_failures_come_first_and_unanswered_questions_cannot_tell(root: Path) -> None:
    pages = {"page": root / "index.html"}
    failures = [f"run_debates of mine, model, 0: the key is refused {HOSTILE}", "load_cases of x"]
    write_front_page(
        root, "comparison", built_files(root), pages, STUDIES, RunRemarks(failures=failures)
    )
    page = (root / "index.html").read_text(encoding="utf-8")
    assert HOSTILE not in page
    assert (
        page.index('<h2 id="failed">') < page.index("the key is refused") < page.index("load_cases")
    )
    assert page.index("load_cases") < page.index("Is A better than B?")
    unanswered = page.partition("Questions that this run cannot answer (4)")[2].split("<article")
    assert all("cannot tell" in article for article in unanswered[1:5])
    write_front_page(root, "comparison", [], pages, STUDIES, RunRemarks(failures=failures))
    page = (root / "index.html").read_text(encoding="utf-8")
    assert "This run answers no question: cannot tell." in page
    write_front_page(root, "comparison", [], pages, STUDIES)
    assert "Failed" not in (root / "index.html").read_text(encoding="utf-8")


def test_a_damaged_table_is_named(root: Path) -> None:
    path = root / "tables" / "comparison" / "questions.csv"
    path.write_bytes(b'"a\xff')
    with pytest.raises(UserError, match=r"questions\.csv is not a table"):
        write_front_page(
            root, "comparison", built_files(root), {"page": root / "index.html"}, STUDIES
        )


def test_figures_without_content_are_listed_apart(root: Path) -> None:
    path = root / "figures/recorded/accuracy.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    page = {"page": root / "index.html"}
    title = FIGURES["recorded/accuracy"].title
    for reason, gallery in (("", 1), ("No run.", 0)):
        entry = Figure(
            "recorded",
            "accuracy",
            "Title",
            "Caption",
            lambda _, reason=reason: nothing_to_draw(reason) if reason else new_figure()[0],
        )
        draw(entry, StudyResults("recorded", {}, no_scores(), {}, pd.DataFrame()), {"svg": path})
        assert has_content(path) is bool(gallery)
        write_front_page(root, "comparison", {*built_files(root), path}, page, STUDIES)
        text = page["page"].read_text(encoding="utf-8")
        assert text.count('<img src="figures/recorded/accuracy.svg"') == gallery
        list_of_figures = f"Figures without data in this run: {title}</p>"
        assert (list_of_figures in text) is not bool(gallery)


@pytest.mark.parametrize(
    ("rule", "wildcards", "name"),
    [
        ("run_debates", {"experiment": "mine", "model": "m", "shard": "0"}, "Debates of mine, m"),
        (
            "run_debates",
            {"experiment": "mine", "model": "m", "shard": "2"},
            "Debates of mine, m, part 3",
        ),
        ("load_cases", {"dataset": "toy"}, "Data of toy"),
        ("a_new_rule", {"study": "x"}, "A new rule of x"),
        ("outcome", {}, "Outcome"),
    ],
)
def test_failed_jobs_are_named_in_words(rule: str, wildcards: dict[str, str], name: str) -> None:
    assert UnfinishedJob(rule, wildcards, ()).name == name


def test_keys_in_sentences_are_code_without_backticks(root: Path) -> None:
    pages, remarks = {"page": root / "index.html"}, RunRemarks(failures=["Lower `cases` <b>."])
    write_front_page(root, "comparison", [], pages, STUDIES, remarks)
    text = pages["page"].read_text(encoding="utf-8")
    assert "Lower <code>cases</code> &lt;b&gt;." in text and "<code>contrasts</code>" in text
    assert "`" not in text.partition("<body")[2] or "`" not in text.partition("<main")[2]
