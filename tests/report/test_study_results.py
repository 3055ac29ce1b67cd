"""The results of a study: its experiments, runs, scores, notes and pairs of runs."""

from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np
import pytest

from moot.report.content import (
    Need,
    StudyPlan,
    has_baselines,
    has_contrasts,
    has_debates,
    has_trials,
)
from moot.report.notes import REHEARSAL_NOTE
from moot.report.paired_cells import add_holm_correction, paired_cells, same_answers
from moot.report.study_results import (
    KEY_SEPARATOR,
    NOT_MEASURED,
    PaperMatch,
    Run,
    StudyResults,
    rows_of_runs,
)
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from moot.stats.paired import compare, holm
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results

CASES = [case("c1", "yes"), case("c2", "no")]


def write_run(
    folder: Path,
    experiment: str,
    answers: dict[str, str],
    judge: str = "",
    dataset: str = "toy",
    **params: int,
) -> ExperimentResults:
    """Write a run of a model `m`, with the answers of each case in its repeats, by their letter."""
    rows = []
    for item in CASES:
        for repeat, letter in enumerate(answers.get(item.case_id, "")):
            answer = {"y": "yes", "n": "no", "-": ""}[letter]
            columns = {"judge": judge} if judge else {}
            rows.append(prediction(item.case_id, item.target, answer, repeat=repeat, **columns))
    view = experiment_view("zero_shot" if params else "courtroom", dataset, ("m",), params=params)
    talk = [utterance("c1#0", 1, "judge"), utterance("c1#0", 2, "moot", kind="conclusion")]
    return write_results(
        folder, CASES, {"m": rows}, {"m": talk}, experiment=experiment, config=view
    )


@pytest.fixture
def study(tmp_path: Path) -> StudyResults:
    plain = write_run(tmp_path, "plain", {"c1": "y"})
    twice = write_run(tmp_path, "twice", {"c1": "yn", "c2": "n-"}, debaters=2)
    trial = write_run(tmp_path, "trial", {"c1": "y"}, dataset="tried", debaters=2)
    scores = score_experiment(twice)
    return study_of(
        plain, twice, scores=scores, trials={"trial": trial}, controls={"control": trial}
    )


def test_experiments_are_found_by_protocol_and_parameters(study: StudyResults) -> None:
    def find(*protocols: str, **params: int) -> list[str]:
        return [results.experiment for results in study.find_experiments(*protocols, **params)]

    assert find() == ["plain", "twice"]
    assert find("courtroom") == ["plain"] and find("zero_shot", "panel") == ["twice"]
    assert find(debaters=2) == ["twice"]
    assert find(debaters=3) == find("courtroom", debaters=2) == find(rounds=2) == []
    assert list(study.experiments_and_controls) == ["plain", "twice", "control"]
    names = {name: of.experiment for name, of in study.experiment_by_dataset.items()}
    assert names == {"tried": "trial", "toy": "twice"}
    assert study.data_label("toy") == "toy (synthetic)"


def test_a_run_has_its_predictions_answers_and_scores(study: StudyResults) -> None:
    _, run = study.runs(study.experiments.values(), Run)
    assert (run.experiment, run.model_name, run.data) == ("twice", "m", "toy (synthetic)")
    assert run.params == {"debaters": 2} and run.paper_match == PaperMatch()
    assert (len(run.predictions), len(run.valid)) == (4, 3)
    answers = {}
    for case_id, repeat, answer in (("c1", 0, "yes"), ("c1", 1, "no"), ("c2", 0, "no")):
        key = f"{case_id}{KEY_SEPARATOR}{KEY_SEPARATOR}"
        answers[key, f"{repeat}{KEY_SEPARATOR}0"] = answer
    assert run.answers.to_dict() == answers
    accuracy = run.measurement("accuracy")
    assert (accuracy.value, accuracy.n, accuracy.n_invalid) == (pytest.approx(2 / 3), 3, 1)
    assert run.measurement("accuracy", group="sex=f") is NOT_MEASURED
    assert [value for _, _, value in run.scores(["accuracy"])] == [accuracy]
    assert run.resample(["c1", "c2", "c1"]).clusters == 2
    assert run.utterances("statement")["turn"].tolist() == [1]
    rows = rows_of_runs(study, lambda run: [{"rows": len(run.predictions)}])
    assert [(row["answers of"], row["rows"]) for row in rows] == [("twice", 4), ("plain", 1)]
    assert rows[0]["data"] == "toy (synthetic)" and rows[0]["model"] == "m"


def test_notes_are_about_the_experiments_that_a_table_names(study: StudyResults) -> None:
    note = "Data set toy: synthetic records, not people"
    assert study.notes == study.notes_about({"plain, m"}) == (note,)
    assert replace(study, is_rehearsal=True).notes == (REHEARSAL_NOTE, note)
    without_trial = replace(study, trials={}, baselines={"tried": study.scores})
    assert without_trial.notes_about({"twice"}) == (note,)
    with_trained = replace(study, baselines={"tried": study.scores})
    assert with_trained.notes_about({"tried"}) == (note.replace("toy", "tried"),)


def test_pairs_of_a_family_are_corrected_together() -> None:
    rows = [{"family": "ab"[number % 2], "p": number / 100} for number in range(1, 6)]
    corrected = add_holm_correction(iter(rows))
    assert [row["tests in family"] for row in corrected] == [3, 2, 3, 2, 3]
    of_b = [row["p (Holm)"] for row in corrected if row["family"] == "a"]
    assert of_b == pytest.approx(holm([0.02, 0.04]))


def test_answers_of_two_runs_are_compared_beyond_repeats(tmp_path: Path) -> None:
    """With a judge in common answers are paired by judge, without one by case."""
    answers = ({"c1": "yy", "c2": "nn"}, {"c1": "yn", "c2": "nn"})
    expected = {"Ann": (3 / 4, 3 / 4, -0.0), "Bo": (3 / 4, nan, nan)}
    for judge, (same, if_asked_twice, excess) in expected.items():
        runs = [
            write_run(tmp_path, name, of_run, judge=who)
            for name, of_run, who in zip(("one", "two"), answers, ("Ann", judge), strict=True)
        ]
        first, second = (Run(results, "m", study_of(*runs)) for results in runs)
        cells = same_answers(first, second, "beyond")
        assert cells["same answer"] == pytest.approx(same)
        assert cells["same if asked twice"] == pytest.approx(if_asked_twice, nan_ok=True)
        assert cells["beyond"][0] == pytest.approx(excess, nan_ok=True)


def test_the_cells_of_a_comparison() -> None:
    comparison = compare(np.array([1.0, 1, 0, 1]), np.array([0.0, 0, 1, 1]), list("abcd"))
    cells = paired_cells(comparison)
    assert cells["difference"] == (0.25, comparison.low, comparison.high)
    assert (cells["first better"], cells["second better"]) == (2, 1)
    assert (cells["cases"], cells["clusters"], cells["p"]) == (4, 4, comparison.p)


@pytest.mark.parametrize(
    ("need", "name"),
    [
        (has_debates, "experiments"),
        (has_baselines, "trained_datasets"),
        (has_trials, "trials"),
        (has_contrasts, "contrasts"),
    ],
)
def test_a_table_needs_what_it_shows(need: Need, name: str) -> None:
    nothing = StudyPlan((), (), (), (), (), {}, is_in_run=True)
    assert need(nothing) is False and need(replace(nothing, **{name: ("one",)})) is True
