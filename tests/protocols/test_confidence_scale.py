"""A model's `confidence_scale`: confidences from 0 to 100 and from 0 to 1.

They are followed through server, transcripts and predictions.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from answers_by_model import hold_debates
from fault_server import FaultServer

SHARES, PERCENT = "by-shares", "by-percent"
SCALES = {SHARES: 1}


def reply(prediction: str, confidence: object) -> str:
    return json.dumps({"prediction": prediction, "confidence": confidence})


def confidences(predictions: pd.DataFrame) -> dict[str, float]:
    return predictions.groupby("prediction")["confidence"].first().to_dict()


def test_each_model_is_read_on_its_scale(server: FaultServer, tmp_path: Path) -> None:
    replies = {
        SHARES: [reply("YES", 1), reply("NO", 0.8)],
        PERCENT: [reply("YES", 1), reply("NO", 80)],
    }
    results, predictions = hold_debates(server, tmp_path, replies, scales=SCALES)
    assert confidences(predictions[SHARES]) == {"yes": 100.0, "no": 80.0}
    assert confidences(predictions[PERCENT]) == {"yes": 1.0, "no": 80.0}
    scores = predictions[SHARES].groupby("prediction")["score"].first().to_dict()
    assert scores == pytest.approx({"yes": 1.0, "no": 0.1})
    scores = predictions[PERCENT].groupby("prediction")["score"].first().to_dict()
    assert scores == pytest.approx({"yes": 0.505, "no": 0.1})
    transcripts = results.transcripts[results.transcripts["kind"] == "prediction"]
    assert set(transcripts.loc[transcripts["model"] == SHARES, "missing_fields"]) == {""}


@pytest.mark.parametrize(
    ("model", "confidence", "problem"),
    [
        (PERCENT, 0.9, "`confidence_scale: 1` in the model's entry reads it so"),
        (SHARES, 80, "80 contradicts `confidence_scale: 1` in the model's entry"),
    ],
)
def test_a_confidence_that_contradicts_the_scale_is_missing_and_the_key_is_named(
    model: str, confidence: float, problem: str, server: FaultServer, tmp_path: Path
) -> None:
    replies = {model: [reply("YES", confidence)] * 2}
    results, predictions = hold_debates(server, tmp_path, replies, scales=SCALES)
    assert predictions[model]["confidence"].isna().all()
    assert set(predictions[model]["prediction"]) == {"yes"}
    transcripts = results.transcripts[results.transcripts["kind"] == "prediction"]
    assert set(transcripts["missing_fields"]) == {"confidence"}
    assert transcripts["parse_problem"].str.contains(problem, regex=False).all()
