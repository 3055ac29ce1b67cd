"""Beliefs of judges, recorded and asked again, side by side and round by round."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from moot.papers.parts import OwnRow, Series
from moot.report.study_results import StudyResults
from moot.scores import concat_scores, score_experiment
from moot.scores.dynamics import stated_predictions
from moot.studies.recorded.figures import nyu_beliefs
from moot.studies.recorded.runs import judged_runs, read_outcomes
from moot.studies.recorded.tables import nyu_judges
from moot.studies.recorded.tables_rejudged import rejudged
from paper_items import fill
from recorded_runs import recorded_study
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results

BELIEFS: list[tuple[str, int, str, str, float | None]] = [
    ("a#0", 1, "judge", "yes", 0.8),
    ("a#0", 1, "recorded judge", "yes", 0.6),
    ("a#0", 2, "judge", "no", 0.7),
    ("a#0", 2, "recorded judge", "", None),
    ("b#0", 1, "judge", "yes", 0.9),
    ("b#0", 1, "judge", "no", 0.6),
    ("b#0", 1, "recorded judge", "no", 0.9),
    ("b#0", 2, "judge", "no", 0.5),
]
"""Debate, round, judge, label and probability; a is truly YES, b NO."""


def test_a_models_last_belief_of_a_round_is_compared_with_the_recorded_judges(
    tmp_path: Path,
) -> None:
    rows: list[dict[str, Any]] = []
    for turn, (debate, number, seat, label, probability) in enumerate(BELIEFS):
        belief = {"round": number, "prediction": label, "probability": probability}
        rows.append(utterance(debate, turn, seat, **belief))
    failed = {"prediction": "yes", "probability": 1.0, "parse_status": "failed"}
    rows.append(utterance("a#0", 90, "judge", **failed))
    cases = [case("a", "yes"), case("b", "no")]
    answers = [prediction(each.case_id, each.target, each.target) for each in cases]
    params = {"source_experiment": "people", "source_model": "human"}
    view = experiment_view("rejudge", params=params)
    results = write_results(tmp_path, cases, {"tiny": answers}, {"tiny": rows}, config=view)
    (row,) = rejudged(study_of(results, study="recorded")).frame.to_dict("records")
    names = ("debates of", "debated by", "judge", "beliefs", "debates")
    assert [row[name] for name in names] == ["people", "human", "tiny", 3, 2]
    assert row["same side"] == pytest.approx(2 / 3), "an undecided judge favours neither side"
    assert row["recorded belief"] == pytest.approx((0.6 + 0.5 + 0.9) / 3)
    assert row["model belief"] == pytest.approx((0.8 + 0.3 + 0.6) / 3)
    assert row["difference"] == pytest.approx((0.2 - 0.2 - 0.3) / 3)
    assert rejudged(study_of(study="recorded")).frame.empty


@pytest.fixture
def people(tmp_path: Path) -> StudyResults:
    """The shipped records of debates between people."""
    dataset = {"loader": "nyu_debates", "source": "shipped"}
    return recorded_study(tmp_path, dataset, {"people": "people debate"}, {"human": "human judge"})


def test_a_judge_flips_who_comes_to_favour_the_other_answer(people: StudyResults) -> None:
    """Only the debates with files have beliefs before the last one."""
    (run,) = judged_runs(people)
    flips = read_outcomes(run)["flips"].dropna()
    opinions = stated_predictions(run.results).dropna(subset=["previous"])
    assert len(flips) == 72
    assert flips.sum() == (opinions["previous"] != opinions["prediction"]).sum() > 0


def test_the_interval_of_judges_accuracy_stands_beside_it(people: StudyResults) -> None:
    """Behind the difference from the published value, it would be read as its interval."""
    frame = nyu_judges(people).frame
    names = list(frame.columns)
    place = names.index("ours")
    assert names[place : place + 4] == ["ours", "95 % low", "95 % high", "difference"]
    assert (frame["95 % low"] < frame["ours"]).all() and (frame["ours"] < frame["95 % high"]).all()


def test_the_figure_has_the_mean_belief_of_debates_that_end_right_and_of_others(
    people: StudyResults,
) -> None:
    (axes,) = nyu_beliefs(people).axes
    assert axes.get_title() == "people debate"
    lines = [line for line in axes.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in lines] == ["ended right", "ended wrong or undecided"]
    ends = [line.get_ydata()[[0, -1]].tolist() for line in lines]
    assert ends == [pytest.approx([50, 93], abs=1), pytest.approx([48, 10], abs=1)]
    assert [*lines[0].get_xdata()] == list(range(7))
    assert len(axes.collections) == 2, "an interval of each line"
    assert [text.get_text() for text in axes.texts] == [" n = 59", " n = 13"]


def test_recorded_debates_stand_in_the_papers_items_apart(tmp_path: Path) -> None:
    """The authors print 334 right answers of 600."""
    dataset = {"loader": "agenticsimlaw", "source": "shipped"}
    methods = {"talk": "debate", "agreeing": "cooperative debate"}
    study = recorded_study(tmp_path, dataset, methods, {"mini": "gpt-4o-mini"})
    scores = concat_scores(map(score_experiment, study.experiments.values()))
    study = replace(study, scores=scores)
    (row,) = fill("courtroom/table5", study)
    assert isinstance(row, OwnRow)
    assert row.heads == ("gpt-4o-mini (recorded in a later study)",)
    assert (row.source, row.cells["", "accuracy"].value) == ("talk", pytest.approx(334 / 600))
    (series,) = fill("courtroom/figure5", study)
    assert isinstance(series, Series) and series.is_apart
    (point,) = series.points
    assert (series.name, point.x) == ("gpt-4o-mini (later study)", "gpt-4o-mini")
    assert (point.y, point.second) == (row.cells["", "f1/binary"], row.cells["", "accuracy"])
