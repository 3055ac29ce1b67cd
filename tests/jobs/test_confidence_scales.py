"""Confidences from 0 to 100 and from 0 to 1, by two models, through server, transcripts,
predictions and scores.
"""

import json
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from answers_by_model import debated
from courtroom_runs import EXPERIMENT
from fault_server import FaultServer
from moot.protocols.confidence_scales import scales_in
from moot.scores import score_experiment
from moot.studies.appellate.panel_statements import share_stated
from moot.studies.feedback.scores import judged_debates

SHARES, PERCENT = "by-shares", "by-percent"


def said(prediction: str, confidence: object) -> str:
    return json.dumps({"prediction": prediction, "confidence": confidence})


def test_each_models_scale_is_decided_over_all_its_replies(
    server: FaultServer, tmp_path: Path
) -> None:
    replies = {SHARES: [said("YES", 1), said("NO", 0.8)], PERCENT: [said("YES", 1), said("NO", 80)]}
    results, predictions = debated(server, tmp_path, replies)
    by_answer = {model: frame.groupby("prediction").first() for model, frame in predictions.items()}
    assert by_answer[SHARES]["confidence"].to_dict() == {"yes": 100.0, "no": 80.0}
    assert by_answer[SHARES]["score"].to_dict() == pytest.approx({"yes": 1.0, "no": 0.1})
    assert by_answer[PERCENT]["confidence"].to_dict() == {"yes": 1.0, "no": 80.0}
    assert by_answer[PERCENT]["score"].to_dict() == pytest.approx({"yes": 0.505, "no": 0.1})
    (shares,), (percent,) = (
        scales_in(results.results / "predictions" / EXPERIMENT / f"{name}.parquet")
        for name in replies
    )
    ones = len(predictions[PERCENT].query("prediction == 'yes'"))
    assert (shares.share, shares.replies, shares.ambiguous) == (True, 12, 12)
    assert (percent.share, percent.replies, percent.ambiguous) == (False, 12, ones)
    assert any(f"{SHARES} in its replies of kind prediction are read as shares of 1; 12 of 12" in note
               for note in results.notes_on_confidences)  # fmt: skip
    # The transcripts keep what was written; whoever reads them through the results has the scale.
    raw = pq.read_table(
        tmp_path / "results" / "transcripts" / EXPERIMENT / SHARES / "1.parquet"
    ).to_pandas()
    answers = raw[raw["kind"] == "prediction"]
    assert answers["confidence"].isna().all()
    assert {json.loads(parsed)["confidence_share"] for parsed in answers["parsed"]} == {0.8}
    for frame in (
        results.transcripts,
        pd.concat(results.parts(["kind", "prediction", "confidence", "probability"])),
    ):
        stated = (
            frame[frame["kind"] == "prediction"]
            .groupby(["model", "prediction"])["confidence"]
            .first()
            .to_dict()
        )
        assert stated == {
            (PERCENT, "no"): 80,
            (PERCENT, "yes"): 1,
            (SHARES, "no"): 80,
            (SHARES, "yes"): 100,
        }
    assert "confidence_share" not in frame.columns and "parsed" not in frame.columns
    scores = (
        score_experiment(results)
        .query("group == 'overall'")
        .set_index(["model", "metric"])["value"]
    )
    assert scores[SHARES, "confidence_missing"] == 0
    assert (
        scores[SHARES, "confidences_ambiguous"] == 12
        and scores[SHARES, "confidences_as_shares"] == 1
    )
    assert (
        scores[PERCENT, "confidences_ambiguous"] == ones
        and scores[PERCENT, "confidences_as_shares"] == 0
    )


def test_a_fraction_beside_percentages_is_no_confidence(
    server: FaultServer, tmp_path: Path
) -> None:
    replies = {PERCENT: [said("YES", 0.9), said("NO", 80)]}
    _, predictions = debated(server, tmp_path, replies)
    by_answer = predictions[PERCENT].groupby("prediction")["confidence"]
    assert by_answer.count().to_dict() == {"no": len(by_answer.get_group("no")), "yes": 0}


@pytest.mark.parametrize(
    ("stated", "confidence"),
    [("1%", 1.0), ("1/100", 1.0), ("1 out of 100", 1.0), ("0.8", 80.0), ("1.0", 100.0)],
)
def test_what_names_its_scale_is_not_ambiguous(
    server: FaultServer, tmp_path: Path, stated: str, confidence: float
) -> None:
    _, predictions = debated(server, tmp_path, {SHARES: [said("YES", stated)] * 2})
    assert set(predictions[SHARES]["confidence"]) == {confidence}


def test_smoothed_probabilities_follow_the_scale_without_a_new_call(
    server: FaultServer, tmp_path: Path
) -> None:
    replies = {SHARES: [said("NO", 1), said("YES", 0.6)], PERCENT: [said("NO", 1), said("YES", 60)]}
    results, predictions = debated(
        server, tmp_path, replies, "feedback", debaters=1, rounds=1, answer="generation"
    )
    by_answer = {model: frame.groupby("prediction").first() for model, frame in predictions.items()}
    assert by_answer[SHARES]["score"].to_dict() == pytest.approx({"no": 0.0, "yes": 0.8})
    assert by_answer[SHARES]["confidence"].to_dict() == pytest.approx({"no": 100.0, "yes": 80.0})
    assert by_answer[PERCENT]["score"].to_dict() == pytest.approx({"no": 0.495, "yes": 0.8})
    firsts = {
        model: sorted({d.first.probabilities["yes"] for d in judged_debates(results, model)})
        for model in replies
    }
    assert firsts[SHARES] == pytest.approx([0.0, 0.8]) and firsts[PERCENT] == pytest.approx(
        [0.495, 0.8]
    )
    assert not any(debate.label_alone for debate in judged_debates(results, SHARES))


def test_shares_in_a_judges_statement() -> None:
    assert share_stated("I affirm. Confidence: 0.8") == {"confidence_share": 0.8}
    assert share_stated("I affirm. Confidence: 1") == {"confidence_share": 1.0}
    assert (
        share_stated("Confidence: 1/100")
        is share_stated("Confidence: 85")
        is share_stated("I affirm.")
        is None
    )
