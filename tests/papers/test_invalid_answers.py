"""Invalid and missing answers stand beside the values that leave them out."""

from pathlib import Path

import pytest

from moot.papers import fill_item
from moot.papers.grid import build_grid, intervals_frame, values_frame
from moot.papers.items import PaperItem
from moot.papers.page import ItemContent, write_page
from moot.papers.parts import OwnRow
from moot.report.study_results import PaperMatch, PaperMatches, StudyResults
from moot.scores import score_experiment
from paper_items import ITEMS, PAPERS, PUBLISHED
from results_on_disk import case, experiment_view, prediction, utterance, write_results

PROJECT = Path(__file__).resolve().parents[2]


def trials(folder: Path, answers: dict[str, list[str]]) -> StudyResults:
    """Return courtroom debates about people who are all rearrested, by model."""
    count = max(map(len, answers.values()))
    cases = [case(f"c{number}", "yes" if number % 2 else "no") for number in range(count)]
    predictions = {}
    for model, of_model in answers.items():
        predictions[model] = [
            prediction(item.case_id, item.target, answer, debate_id=f"d{number}")
            for number, (item, answer) in enumerate(zip(cases, of_model, strict=False))
        ]
    view = experiment_view(models=tuple(answers))
    transcripts = {model: [utterance("c0", 1, "judge")] for model in answers}
    results = write_results(folder, cases, predictions, transcripts, config=view)
    matches = {
        ("toy-courtroom", model): PaperMatch(
            ("paper-courtroom",),
            our_wording=True,
            wording="moot's own prompts",
        )
        for model in answers
    }
    published = PUBLISHED[PUBLISHED["study"] == "courtroom"]
    experiments = {"toy-courtroom": results}
    scores = score_experiment(results)
    return StudyResults(
        "courtroom", experiments, scores, {}, published, paper_matches=PaperMatches(matches)
    )


def rows_of(item: PaperItem, results: StudyResults) -> list[OwnRow]:
    parts = fill_item(item, {results.study: results})
    return [part for part in parts if isinstance(part, OwnRow)]


@pytest.fixture
def half_invalid(tmp_path: Path) -> StudyResults:
    """Twelve answers, of which six are invalid and the others right; a model with two cases."""
    right = ["no", "yes"] * 3
    return trials(tmp_path, {"qwen-2.5": [*right, *[""] * 6], "small": ["no", "yes"]})


def test_many_invalid_answers_have_a_second_value(half_invalid: StudyResults) -> None:
    item = ITEMS["courtroom/table5"]
    rows = rows_of(item, half_invalid)
    grid = build_grid(item, {}, rows)
    values = values_frame(grid).set_index("source")
    assert values.loc["toy-courtroom", "Accuracy"].tolist() == ["1.00", "1.00"]
    origin = ["n", "n_invalid", "data", "cases", "wording"]
    wording = "moot's own prompts"
    assert values.loc["toy-courtroom", origin].to_numpy().tolist() == [
        ["12", "6", "toy (synthetic)", "12", wording],
        ["2", "0", "toy (synthetic)", "2", wording],
    ]
    intervals = intervals_frame(grid).query("column == 'Accuracy'")
    assert intervals["invalid_as_wrong"].tolist() == ["0.50", ""]
    assert intervals[["n", "n_invalid"]].to_numpy().tolist() == [[12, 6], [2, 0]]


def test_a_row_in_moots_wording_is_no_replication(tmp_path: Path) -> None:
    item = ITEMS["courtroom/table5"]
    all_wrong = trials(tmp_path, {"qwen-2.5": ["yes", "no"] * 20})
    grid = build_grid(item, {}, rows_of(item, all_wrong))
    row = next(row for row in grid.paper_rows if row.own_row)
    assert row.heads == ("qwen 2.5",), "it stays in the paper's row"
    low, high = row.cells[0].own_value.replication
    assert not low <= 0.0 <= high, "the published value lies outside"
    assert not row.cells[0].own_value.is_outside


def test_the_page_and_the_latex_source_show_invalid_answers(
    half_invalid: StudyResults, tmp_path: Path
) -> None:
    item = ITEMS["courtroom/table5"]
    content = ItemContent(item, tuple(rows_of(item, half_invalid)))
    write_page(PAPERS["courtroom"], [content], {}, tmp_path / "pages")
    page = (tmp_path / "pages/courtroom.html").read_text(encoding="utf-8")
    source = (tmp_path / "pages/courtroom/table5.tex").read_text(encoding="utf-8")
    for text in (page, source):
        assert "6 of 12 answers invalid" in text and "0.50" in text
        assert "jackknife over clusters" in text, "the kinds of the intervals"
