"""The comparison of methods on all data: rows, names, labels and costs, and trial runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.overview.tables_comparison import COST_SCORES, each_label, methods
from moot.overview.tables_trial_runs import trial_runs
from moot.scores import score_experiment
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.cost import AMOUNT_COLUMNS
from recorded_runs import recorded_study, study_of_answers
from results_on_disk import case, experiment_view, prediction, study_of, utterance, write_results

CASES = [case(f"c{number}", ("no", "yes", "yes")[number % 3]) for number in range(6)]


def test_costs_of_recorded_debates_are_unknown_and_not_zero(tmp_path: Path) -> None:
    lines = [f"c{number},m,YES,{'YES' if number % 2 else 'NO'},male,r" for number in range(12)]
    study = study_of_answers(tmp_path, lines)
    [results] = study.experiments.values()
    assert results.predictions[list(AMOUNT_COLUMNS)].isna().all(axis=None)
    scores = score_experiment(results)
    assert "accuracy" in set(scores["metric"])
    assert not scores["metric"].str.contains("calls|tokens|usd|seconds").any()
    study = replace(study, scores=scores)
    rows = {row["method"]: row for row in methods(study).frame.to_dict("records")}
    [recorded] = [name for name, row in rows.items() if row["model"] == "mine"]
    baseline = rows["majority class"]
    columns = [name for name in baseline if "a case" in name]
    assert np.isnan([rows[recorded][name] for name in columns]).all() and len(columns) == 3
    assert [baseline[name] for name in columns] == [0, 0, 0], "a baseline costs nothing"
    for metric in ("tokens", "calls"):
        message = "the calls and tokens of the recorded debates of answers are not known"
        with pytest.raises(UserError, match=message):
            CASE_METRICS[metric](results, "mine")


def test_own_data_of_three_labels_get_f1_of_each_label(tmp_path: Path) -> None:
    stances = ("con", "neutral", "pro")
    rows = [
        {"case": f"c{number}", "stance": stances[number % 3], "answer": stances[number % 2 * 2]}
        for number in range(30)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "t.csv"),
        "columns": {"debate": "", "case": "case", "answer": "answer", "truth": "stance"},
    }
    study = recorded_study(tmp_path, dataset, {"answers": "answer"}, {"mine": "judges"})
    study = replace(study, scores=score_experiment(study.experiments["answers"]))
    by_label = {row["label"]: row for row in each_label(study).frame.to_dict("records")}
    assert list(by_label) == list(stances)
    assert by_label["neutral"]["F1"] == 0 and by_label["neutral"]["predicted share"] == 0
    assert by_label["con"]["true share"] == pytest.approx(1 / 3)
    assert by_label["con"]["F1"] == pytest.approx(0.4)


def test_each_method_has_one_row_a_model_and_trained_models_follow(tmp_path: Path) -> None:
    entries = {
        "small": experiment_view("debate"),
        "large": experiment_view("debate"),
        "helped": experiment_view("feedback", params={"assistant": "lr"}),
        "often": experiment_view("zero_shot", params={"k": "matched", "answer": "likelihood"}),
        "longer": experiment_view("zero_shot", params={"k": "matched_tokens"}),
        "drafts": experiment_view("cot", split="train"),
    }
    runs, talk = [], [utterance(f"{item.case_id}#0", 1, "pro") for item in CASES]
    for name, view in entries.items():
        cases = CASES[:3] if name == "small" else CASES
        rows = [prediction(item.case_id, item.target, "yes") for item in cases]
        rows[0] |= {"prediction": "", "status": "invalid"}
        by_model = {"tiny": rows}, {"tiny": talk[: len(cases)]}
        runs.append(write_results(tmp_path, CASES, *by_model, experiment=name, config=view))
    scores = pd.concat([score_experiment(run) for run in runs])
    tested = {"evaluation": "test", "title": "forest", "accuracy": 0.75, "f1_macro": 0.7, "n": 4}
    board = pd.DataFrame([tested, {**tested, "evaluation": "cv", "accuracy": 0.5}])
    frame = methods(study_of(*runs, scores=scores, baselines={"toy": board})).frame
    costs, free = [1.0, 90.0, 10.0], [0.0, 0.0, 0.0]
    answers = ["tiny", pytest.approx(2 / 3), pytest.approx(5 / 6), 0.8, *costs, 5, 5, 1]
    columns = ["method", "experiment", "model", "accuracy, invalid = wrong", "valid answers"]
    columns += ["accuracy of valid answers", *COST_SCORES, "cases", "n", "n invalid"]
    assert frame[columns].to_numpy().tolist() == [
        ["debate", "large", *answers],
        ["debate-feedback, assistant", "helped", *answers],
        ["zero shot, calls matched, likelihood", "often", *answers],
        ["zero shot, tokens matched", "longer", *answers],
        ["trained: forest", "baselines of toy", "–", 0.75, 1, 0.75, *free, 4, 4, 0],
        ["majority class", "large", "–", *[pytest.approx(2 / 3), 1, 2 / 3], *free, 6, 6, 0],
    ]
    assert frame["F1, macro"].tolist() == pytest.approx([4 / 9] * 4 + [0.7, 0.4])


def test_trial_runs_are_listed_with_outcomes_and_totals(tmp_path: Path) -> None:
    runs = {}
    for name, protocol in (("b", "zero_shot"), ("a", "zero_shot"), ("c", "courtroom")):
        rows = [prediction(item.case_id, item.target, "yes") for item in CASES[:2]]
        rows += [{**rows[0], "repeat": 1, "status": "failed"}]
        view = experiment_view(protocol)
        runs[name] = write_results(tmp_path, CASES, {"tiny": rows}, experiment=name, config=view)
    content = trial_runs(study_of(trials=runs))
    common = ["tiny", 3, 2, 0, 1, 3, 270, 30, 6.0]
    assert content.frame.drop(columns="data").to_numpy().tolist() == [
        ["courtroom", "c", *common],
        ["zero shot", "a", *common],
        ["zero shot", "b", *common],
    ]
    assert "left out of the tables" in content.notes[0]
