"""Tables of recorded results, over records that people invented for the test and over those that
ship.
"""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from moot.core.errors import UserError
from moot.overview.tables_comparison import methods_by_data, methods_long
from moot.report import FIGURES
from moot.report.reader_debates import CHANGED, Packing, pack_debates
from moot.scores import score_experiment
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.dynamics import stated_predictions
from moot.stats.paired import holm
from moot.studies.recorded.opinion_changes import find_occasions
from moot.studies.recorded.runs import judged_runs, read_beliefs, read_outcomes
from moot.studies.recorded.tables import groups, nyu_feedback, read_grades
from recorded_runs import recorded_study

COLUMNS = {
    "debate": "",
    "case": "id",
    "model": "who",
    "answer": "said",
    "truth": "gold",
    "attributes": ["sex", "race"],
}


def test_a_group_that_is_wronged_is_told_from_the_rest_after_correction(tmp_path: Path) -> None:
    """Men are called YES in 18 of 20 cases that are NO, women in 2 of 20; race says nothing."""
    lines = ["id,who,said,gold,sex,race"]
    for number in range(80):
        man, guilty = number % 2 == 0, number >= 40
        rank = number // 2 % 20
        said = (rank < 18 if man else rank < 2) if not guilty else rank < 10
        lines.append(
            f"c{number},m,{'YES' if said else 'NO'},{'YES' if guilty else 'NO'},{'male' if man else 'female'},r{number % 3}"
        )
    (tmp_path / "answers.csv").write_text("\n".join(lines))
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "answers.csv"),
        "columns": COLUMNS,
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    }
    frame = groups(
        recorded_study(tmp_path, dataset, {"answers": "answer"}, {"mine": "m"})
    ).frame.set_index("group")
    assert frame.loc["sex: male", "false positive rate"] == pytest.approx(0.9)
    assert frame.loc["sex: female", "false positive rate"] == pytest.approx(0.1)
    assert frame.loc["sex: female", "FPR p"] < 1e-6
    assert np.isnan(frame.loc["sex: male", "FPR p"]), (
        "the largest group is what the others are compared with"
    )
    raw = [*frame["FPR p"], *frame["FNR p"]]
    assert frame["FPR p, Holm"].tolist() + frame["FNR p, Holm"].tolist() == pytest.approx(
        holm(raw), nan_ok=True
    )
    tested = frame[["FPR p", "FNR p"]].notna().sum().sum()
    assert tested == 6, "one group of sex and two of race, both rates"
    assert frame.loc["sex: female", "FPR p, Holm"] == pytest.approx(
        6 * frame.loc["sex: female", "FPR p"]
    )
    assert (frame.filter(like="race", axis=0)[["FPR p, Holm", "FNR p, Holm"]].dropna() > 0.5).all(
        axis=None
    )


def test_what_recorded_debates_took_is_unknown_not_nothing(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_text(
        "id,who,said,gold,sex,race\n"
        + "".join(
            f"c{number},m,YES,{'YES' if number % 2 else 'NO'},male,r\n" for number in range(12)
        )
    )
    dataset = {
        "loader": "transcripts",
        "path": str(tmp_path / "answers.csv"),
        "columns": COLUMNS,
        "labels": {"NO": "no", "YES": "yes"},
        "positive": "yes",
    }
    study = recorded_study(tmp_path, dataset, {"answers": "answer"}, {"mine": "m"})
    [results] = study.experiments.values()
    taken = [
        "calls",
        "retries",
        "prompt_tokens",
        "completion_tokens",
        "cached_tokens",
        "seconds",
        "cost_usd",
    ]
    assert results.predictions[taken].isna().all(axis=None)
    scores = score_experiment(results)
    assert (
        "accuracy" in set(scores["metric"])
        and not scores["metric"].str.contains("calls|tokens|usd|seconds").any()
    )
    study = replace(study, scores=scores)
    rows = {row["method"]: row for row in methods_long(study).frame.to_dict("records")}
    [recorded] = [name for name, row in rows.items() if row["model"] == "mine"]
    takes = [name for name in rows["majority class"] if "a case" in name]
    assert np.isnan([rows[recorded][name] for name in takes]).all() and len(takes) == 3
    assert [rows["majority class"][name] for name in takes] == [0, 0, 0], "known, and nothing"
    assert not methods_by_data(study).frame.astype(str).stack().str.contains("calls|nan").any()
    for metric in ("tokens", "calls"):
        with pytest.raises(
            UserError, match="what the recorded debates of answers took is not known"
        ):
            CASE_METRICS[metric](results, "mine")


def test_forms_of_the_nyu_debates_are_counted_as_grades_alone(tmp_path: Path) -> None:
    study = recorded_study(
        tmp_path,
        {"loader": "nyu_debates", "source": "shipped"},
        {"people": "people debate", "consult": "people consult"},
        {"human": "human judge"},
    )
    table = nyu_feedback(study).frame.set_index(["arm", "asked", "question"])
    [run, _] = judged_runs(study)
    grades = read_grades(run)
    assert grades["grade"].between(0, 4).all() and {"judge", "debater"} <= set(grades["asked"])
    clarity = grades[(grades["asked"] == "judge") & (grades["question"] == "clarity")]
    row = table.loc[("people debate", "judge", "clarity")]
    by_side = clarity.groupby("side")["grade"].mean()
    assert row["mean grade"] == pytest.approx(clarity["grade"].mean())
    assert row["right less wrong"] == pytest.approx(by_side["right side"] - by_side["wrong side"])
    assert row["difference low"] < row["right less wrong"] < row["difference high"]
    assert row["forms"] == len(clarity) / 2
    assert set(study.experiments["people"].transcripts["text"]) == {""}
    assert table.loc[("people consult", "judge", "clarity (single)"), "forms"] > 30


def test_a_judge_who_is_60_percent_sure_is_drawn_with_those_up_to_70(tmp_path: Path) -> None:
    dataset = {"loader": "nyu_debates", "source": "shipped"}
    study = recorded_study(tmp_path, dataset, {"people": "people debate"}, {"human": "human judge"})
    ends = read_beliefs(judged_runs(study)[0]).groupby("debate_id")["in_right"].last()
    sure = np.maximum(ends, 1 - ends).round(9)
    texts = FIGURES["recorded/nyu_calibration"].build(study).axes[0].texts
    assert [int(one.get_text()) for one in texts] == [
        ((low <= sure) & ((sure < high) | (high == 1))).sum()
        for low, high in pairwise((0.5, 0.6, 0.7, 0.8, 0.9, 1))
    ]


def test_a_speech_of_quotations_alone_was_heard(tmp_path: Path) -> None:
    dataset = {"loader": "nyu_debates", "source": "shipped"}
    study = recorded_study(
        tmp_path, dataset, {"people": "people consult"}, {"human": "human judge"}
    )
    [run] = judged_runs(study)
    said = run.results.transcripts
    spoken = said["kind"].eq("speech").groupby(said["debate_id"]).cumsum()
    beliefs = said[said["kind"] == "belief"]
    heard = spoken[beliefs.index].groupby(beliefs["debate_id"]).diff() > 0
    assert len(list(find_occasions(run))) == heard.sum()


def test_a_recorded_judge_moves_though_the_words_of_the_debate_do_not_ship(tmp_path: Path) -> None:
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
    assert len(moved) == flips.sum(), (
        "the study's flips are those that every protocol's scores count"
    )
    assert (moved["after"] != "").all() and moved["shift"].notna().all()
    beliefs = run.results.transcripts.query("kind == 'belief'")
    stated = [json.loads(parsed)["distribution"]["a"] for parsed in beliefs["parsed"]]
    assert not any(0 < abs(share - 0.5) < 1e-6 for share in stated), (
        "one half favours neither answer"
    )
    packing = Packing(1_000_000, {}.__setitem__)
    pack_debates(packing, run.results)
    change = packing.index()["debates"]["change"]
    assert sum(1 for one in change if one & CHANGED) == (flips > 0).sum(), "the reader finds them"
