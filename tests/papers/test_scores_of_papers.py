"""`scores.csv` of a paper: each metric of each run in a row, with interval and counts."""

from pathlib import Path

import pandas as pd

from moot.jobs.papers import set_aside
from moot.papers.score_table import scores_frame
from moot.report.study_results import StudyResults
from moot.scores import score_experiment
from results_on_disk import case, experiment_view, prediction, utterance, write_results

ANSWERS = {"a": ("yes", "yes"), "b": ("yes", "no"), "c": ("no", "no"), "d": ("no", "")}
BOARD = {
    "baseline": "rf",
    "evaluation": "test",
    "status": "ok",
    "n": 4,
    "accuracy": 0.75,
    "accuracy_low": 0.2,
    "accuracy_high": 0.9,
    "f1_macro": 0.7,
    "fit_seconds": 2.5,
}


def answered_study(folder: Path) -> StudyResults:
    """Return a study with one experiment of single prompts and one trained model."""
    cases = [case(name, truth) for name, (truth, _) in ANSWERS.items()]
    answers = [prediction(name, *pair) for name, pair in ANSWERS.items()]
    view = experiment_view("zero_shot", "nlsy97", ("tiny",))
    talk = {"tiny": [utterance(f"{name}#0", 1, "judge", kind="answer") for name in ANSWERS]}
    run = write_results(folder, cases, {"tiny": answers}, talk, experiment="trial", config=view)
    boards = {"nlsy97": pd.DataFrame([BOARD])}
    published = pd.DataFrame(columns=["study"])
    return StudyResults("courtroom", {"trial": run}, score_experiment(run), boards, published)


def test_each_metric_of_a_run_and_of_a_trained_model_is_a_row(tmp_path: Path) -> None:
    study = answered_study(tmp_path)
    frame = scores_frame([study]).set_index(["experiment", "model", "group", "metric", "average"])
    frame = frame.sort_index()
    accuracy = frame.loc[("trial", "tiny", "overall", "accuracy", "")]
    assert (accuracy["value"], accuracy["n"], accuracy["n_invalid"]) == (round(2 / 3, 10), 3, 1)
    strict = frame.loc[("trial", "tiny", "overall", "accuracy_invalid_wrong", "")]
    assert (strict["value"], strict["n"]) == (0.5, 4)
    trained = frame.loc[("baselines of nlsy97", "rf", "evaluation=test")]
    assert trained.index.tolist() == [("accuracy", ""), ("f1", "macro")]
    assert tuple(trained.iloc[0][["value", "low", "high", "n"]]) == (0.75, 0.2, 0.9, 4)


def test_a_paper_without_a_run_has_no_rows() -> None:
    assert scores_frame([]).empty


def test_an_example_set_aside_still_describes_its_data(tmp_path: Path) -> None:
    study = set_aside(answered_study(tmp_path), {"trial"})
    assert not study.find_experiments("zero_shot")
    assert study.experiment_by_dataset["nlsy97"].experiment == "trial"
