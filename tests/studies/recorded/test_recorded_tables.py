"""Tables of recorded results, over invented records and over the shipped ones."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.overview.tables_comparison import each_label
from moot.overview.tables_comparison import methods as methods_of_all_data
from moot.report.reader_debates import CHANGED, Packing, pack_debates
from moot.scores import score_experiment
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.dynamics import stated_predictions
from moot.studies.recorded.runs import judged_runs, read_outcomes
from recorded_runs import recorded_study, study_of_answers


def test_costs_of_recorded_debates_are_unknown_and_not_zero(tmp_path: Path) -> None:
    lines = [f"c{number},m,YES,{'YES' if number % 2 else 'NO'},male,r" for number in range(12)]
    study = study_of_answers(tmp_path, lines)
    [results] = study.experiments.values()
    cost_columns = [
        "calls",
        "retries",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "seconds",
        "cost_usd",
    ]
    assert results.predictions[cost_columns].isna().all(axis=None)
    scores = score_experiment(results)
    assert "accuracy" in set(scores["metric"])
    assert not scores["metric"].str.contains("calls|tokens|usd|seconds").any()
    study = replace(study, scores=scores)
    rows = {row["method"]: row for row in methods_of_all_data(study).frame.to_dict("records")}
    [recorded] = [name for name, row in rows.items() if row["model"] == "mine"]
    baseline = rows["majority class"]
    columns = [name for name in baseline if "a case" in name]
    assert np.isnan([rows[recorded][name] for name in columns]).all() and len(columns) == 3
    assert [baseline[name] for name in columns] == [0, 0, 0], "a baseline costs nothing"
    for metric in ("tokens", "calls"):
        message = "the calls and tokens of the recorded debates of answers are not known"
        with pytest.raises(UserError, match=message):
            CASE_METRICS[metric](results, "mine")


def test_flips_of_a_recorded_judge_need_no_words(tmp_path: Path) -> None:
    study = recorded_study(
        tmp_path,
        {"loader": "nyu_debates", "source": "shipped"},
        {"people": "people debate"},
        {"human": "human judge"},
    )
    [run] = judged_runs(study)
    flips = read_outcomes(run)["flips"].dropna()
    assert len(flips) > 50 and flips.sum() > 0
    opinions = stated_predictions(run.results)
    moved = opinions[
        opinions["previous"].notna() & (opinions["previous"] != opinions["prediction"])
    ]
    assert len(moved) == flips.sum(), "the study counts the same flips as the scores do"
    assert (moved["heard"] > 0).all() and moved["shift"].notna().all()
    beliefs = run.results.transcripts.query("kind == 'belief'")
    shares = [json.loads(parsed)["distribution"]["a"] for parsed in beliefs["parsed"]]
    assert not any(0 < abs(share - 0.5) < 1e-6 for share in shares), "one half is exact"
    packing = Packing(1_000_000, {}.__setitem__)
    pack_debates(packing, run.results)
    change = packing.index()["debates"]["change"]
    assert sum(1 for flags in change if flags & CHANGED) == (flips > 0).sum(), (
        "the reader marks the same debates"
    )


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
