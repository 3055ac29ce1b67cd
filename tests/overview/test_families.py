"""Holm's correction: a family is all tests of a table that answer one question, and the table names
it.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.overview.tables_paired import EXCESS_DIFFERENCE, paired_tests
from moot.report.content import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults
from moot.stats.paired import holm
from moot.studies.recorded.tables import groups
from recorded_runs import recorded_study
from results_on_disk import case, experiment_view, prediction, write_results

CASES = [case(f"c{number}", "yes") for number in range(12)]


def run(folder: Path, name: str, **right: int) -> ExperimentResults:
    """Models that are right on the first cases, as many as named."""
    rows = {
        model: [
            prediction(found.case_id, "yes", "yes" if number < wanted else "no")
            for number, found in enumerate(CASES)
        ]
        for model, wanted in right.items()
    }
    view = experiment_view("zero_shot", models=tuple(right))
    return write_results(folder / name, CASES, rows, experiment=name, config=view)


def test_no_test_is_a_family_of_its_own_where_the_table_asks_the_same_of_others(
    tmp_path: Path,
) -> None:
    runs = [
        run(tmp_path, "debate", a=12, b=6),
        run(tmp_path, "vote", a=4, c=7),
        run(tmp_path, "prompt", d=3),
    ]
    study = StudyResults("courtroom", {one.experiment: one for one in runs}, no_scores(), {}, None)
    frame = paired_tests(study).frame
    sizes = frame.groupby("family")["tests in family"].agg(["count", "max", "min"])
    assert sizes.loc["do models differ?"].tolist() == [2, 2, 2]
    # debate and vote by a, and each of the two with the prompt by any models
    assert sizes.loc["do experiments differ?"].tolist() == [5, 5, 5]
    for _, family in frame.groupby("family"):
        assert family["p (Holm)"].tolist() == pytest.approx(holm(family["p"].tolist()))
    alone = frame[(frame["first model"] == "c") & (frame["second model"] == "d")].iloc[0]
    assert alone["p (Holm)"] > alone["p"]


def test_error_rates_of_recorded_runs_are_one_family_and_the_table_says_so(tmp_path: Path) -> None:
    models = {"small": "gpt-4.1-mini", "mini": "gpt-4o-mini"}
    dataset = {"loader": "agenticsimlaw", "source": "shipped"}
    content = groups(recorded_study(tmp_path, dataset, {"talk": "debate"}, models))
    frame = content.frame
    raw, adjusted = ([*frame[f"FPR p{end}"], *frame[f"FNR p{end}"]] for end in ("", ", Holm"))
    assert adjusted == pytest.approx(holm(raw), nan_ok=True) and frame["model"].nunique() == 2
    assert f"Holm: over the {pd.notna(raw).sum()} tests of this table" in content.notes[1]


def test_two_models_that_answer_alike_disagree_no_more_than_each_does_with_itself(
    tmp_path: Path,
) -> None:
    """All answer YES with a probability of 0.7, but for one who does with 0.2: 0.5 squared of its
    answers are its own.
    """
    random, likely = np.random.default_rng(2), {"a": 0.7, "b": 0.7, "other": 0.2}
    cases = [case(f"c{number}", "yes") for number in range(300)]

    def compared(repeats: int) -> pd.DataFrame:
        rows = {
            model: [
                prediction(
                    one.case_id, "yes", "yes" if random.random() < share else "no", repeat=repeat
                )
                for one in cases
                for repeat in range(repeats)
            ]
            for model, share in likely.items()
        }
        view = experiment_view("zero_shot", models=tuple(rows))
        found = write_results(
            tmp_path / str(repeats), cases, rows, experiment="prompt", config=view
        )
        return paired_tests(
            StudyResults("courtroom", {"prompt": found}, no_scores(), {}, None)
        ).frame

    frame = compared(4).set_index(["first model", "second model"])
    alike, apart = frame.loc[("a", "b")], frame.loc[("a", "other")]
    assert (
        alike["same answer"] == pytest.approx(0.58, abs=0.04)
        and abs(alike[EXCESS_DIFFERENCE]) < 0.03
    )
    assert apart[EXCESS_DIFFERENCE] == pytest.approx(0.25, abs=0.05) and apart["differ low"] > 0
    assert frame["same if asked twice"].tolist() == pytest.approx([0.58, 0.63, 0.63], abs=0.04)
    once = compared(1)
    assert once["same if asked twice"].isna().all()
    assert once[EXCESS_DIFFERENCE].isna().all() and once["same answer"].notna().all()
