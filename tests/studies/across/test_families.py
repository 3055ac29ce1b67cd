"""Holm's correction: a family is all tests of a table that answer one question, and the table names it."""

from pathlib import Path

import pytest

from moot.report.content import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults
from moot.stats.paired import holm
from moot.studies.across.tables_paired import paired_tests
from results_on_disk import case, experiment_view, prediction, write_results

CASES = [case(f"c{number}", "yes") for number in range(12)]


def run(folder: Path, name: str, **right: int) -> ExperimentResults:
    """Models that are right on the first cases, as many as named."""
    rows = {
        model: [
            prediction(found.case_id, "yes", "yes" if number < wanted else "no") for number, found in enumerate(CASES)
        ]
        for model, wanted in right.items()
    }
    view = experiment_view("zero_shot", models=tuple(right))
    return write_results(folder / name, CASES, rows, experiment=name, config=view)


def test_no_test_is_a_family_of_its_own_where_the_table_asks_the_same_of_others(tmp_path: Path) -> None:
    runs = [run(tmp_path, "debate", a=12, b=6), run(tmp_path, "vote", a=4, c=7), run(tmp_path, "prompt", d=3)]
    study = StudyResults("courtroom", {one.experiment: one for one in runs}, no_scores(), {}, None)
    frame = paired_tests(study).frame
    sizes = frame.groupby("family")["tests"].agg(["count", "max", "min"])
    assert sizes.loc["do models differ?"].tolist() == [2, 2, 2]
    # debate and vote by a, and each of the two with the prompt by any models
    assert sizes.loc["do experiments differ?"].tolist() == [5, 5, 5]
    for _, family in frame.groupby("family"):
        assert family["p (Holm)"].tolist() == pytest.approx(holm(family["p"].tolist()))
    alone = frame[(frame["first model"] == "c") & (frame["second model"] == "d")].iloc[0]
    assert alone["p (Holm)"] > alone["p"]
