"""Holm's correction: a family is all tests of a table that answer one question."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.overview.tables_paired import EXCESS_DIFFERENCE, paired_tests
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.scores.results import ExperimentResults
from moot.stats.paired import holm
from moot.studies.recorded.tables import groups
from recorded_runs import recorded_study
from results_on_disk import case, experiment_view, prediction, write_results

CASES = [case(f"c{number}", "yes") for number in range(12)]


def write_run(folder: Path, name: str, **correct: int) -> ExperimentResults:
    """Write a run in which each model answers its first `correct[model]` cases correctly."""
    rows = {}
    for model, count in correct.items():
        answers = ["yes"] * count + ["no"] * (len(CASES) - count)
        rows[model] = [
            prediction(item.case_id, "yes", answer)
            for item, answer in zip(CASES, answers, strict=True)
        ]
    view = experiment_view("zero_shot", models=tuple(correct))
    return write_results(folder / name, CASES, rows, experiment=name, config=view)


def test_tests_of_the_same_question_form_one_family(
    tmp_path: Path,
) -> None:
    runs = [
        write_run(tmp_path, "debate", a=12, b=6),
        write_run(tmp_path, "vote", a=4, c=7),
        write_run(tmp_path, "prompt", d=3),
    ]
    study = StudyResults("courtroom", {run.experiment: run for run in runs}, no_scores(), {}, None)
    frame = paired_tests(study).frame
    sizes = frame.groupby("family")["tests in family"].agg(["count", "max", "min"])
    assert sizes.loc["do models differ?"].tolist() == [2, 2, 2]
    # debate and vote by a, and each of the two with the prompt by any models
    assert sizes.loc["do experiments differ?"].tolist() == [5, 5, 5]
    for _, family in frame.groupby("family"):
        assert family["p (Holm)"].tolist() == pytest.approx(holm(family["p"].tolist()))
    lone_test = frame[(frame["first model"] == "c") & (frame["second model"] == "d")].iloc[0]
    assert lone_test["p (Holm)"] > lone_test["p"]


def test_error_rates_of_recorded_runs_form_one_family(tmp_path: Path) -> None:
    models = {"small": "gpt-4.1-mini", "mini": "gpt-4o-mini"}
    dataset = {"loader": "agenticsimlaw", "source": "shipped"}
    content = groups(recorded_study(tmp_path, dataset, {"talk": "debate"}, models))
    frame = content.frame
    raw, adjusted = ([*frame[f"FPR p{end}"], *frame[f"FNR p{end}"]] for end in ("", ", Holm"))
    assert adjusted == pytest.approx(holm(raw), nan_ok=True) and frame["model"].nunique() == 2
    assert f"Holm: over the {pd.notna(raw).sum()} tests of this table" in content.notes[1]


def test_excess_disagreement_subtracts_the_disagreement_of_repeats(
    tmp_path: Path,
) -> None:
    """Two models answer YES with a probability of 0.7 and one with 0.2.

    The excess disagreement with the third is the square of the difference, 0.25.
    """
    random = np.random.default_rng(2)
    yes_shares = {"a": 0.7, "b": 0.7, "other": 0.2}
    cases = [case(f"c{number}", "yes") for number in range(300)]

    def compare_models(repeats: int) -> pd.DataFrame:
        rows: dict[str, list[dict[str, Any]]] = {model: [] for model in yes_shares}
        for model, share in yes_shares.items():
            for item, repeat in product(cases, range(repeats)):
                answer = "yes" if random.random() < share else "no"
                rows[model].append(prediction(item.case_id, "yes", answer, repeat=repeat))
        view = experiment_view("zero_shot", models=tuple(rows))
        folder = tmp_path / str(repeats)
        experiment = write_results(folder, cases, rows, experiment="prompt", config=view)
        study = StudyResults("courtroom", {"prompt": experiment}, no_scores(), {}, None)
        return paired_tests(study).frame

    frame = compare_models(4).set_index(["first model", "second model"])
    equal_models, unequal_models = frame.loc[("a", "b")], frame.loc[("a", "other")]
    assert (
        equal_models["same answer"] == pytest.approx(0.58, abs=0.04)
        and abs(equal_models[EXCESS_DIFFERENCE]) < 0.03
    )
    assert (
        unequal_models[EXCESS_DIFFERENCE] == pytest.approx(0.25, abs=0.05)
        and unequal_models["differ low"] > 0
    )
    assert frame["same if asked twice"].tolist() == pytest.approx([0.58, 0.63, 0.63], abs=0.04)
    unrepeated = compare_models(1)
    assert unrepeated["same if asked twice"].isna().all()
    assert unrepeated[EXCESS_DIFFERENCE].isna().all() and unrepeated["same answer"].notna().all()
