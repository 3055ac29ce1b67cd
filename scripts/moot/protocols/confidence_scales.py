"""The scale of stated confidences: from 0 to 100, as prompts ask, or from 0 to 1, as some models
answer all the same.

A value above 0 and up to 1 may be either, and one reply cannot say which. So the scale is decided
over all replies of a model to a prompt (a kind of utterance) in an experiment, after its debates:
such a value is a share of 1 only where no reply of that model and prompt is above 1. Where one is,
a whole 1 is 1 %, and a fraction or 1.0 is no confidence.

Transcripts keep what was written (`confidence_share` in `parsed`). While a debate goes on nothing
depends on the scale: no prompt shows a number that moot made of a confidence; seats read each
other's words. Debate-Feedback's O_i is the one thing that a debate works out from it, and it is
worked out again here, which needs no call.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pandas as pd

from moot.core.artifacts import read_metadata
from moot.core.cases import Task
from moot.core.confidence import CONFIDENCE_SHARE, number_of_choices, stated_probabilities
from moot.core.confidence import probability_of_stated_confidence as probability_of
from moot.core.kinds import CONCLUSION, SMOOTHED
from moot.core.types import Fields, Json, JsonObject
from moot.protocols.smoothing import STATED, answer_of, decided, next_outlook, recorded_outlook

METADATA = "confidence_scales"
CONFIDENCE = "confidence"
CHANGED = ("parsed", "prediction", CONFIDENCE, "probability", "missing_fields", "text")
NEEDED = ("kind", "speaker", "source", *CHANGED)


@dataclass(frozen=True, slots=True)
class Scale:
    """What a model's confidences in its replies to one prompt were read as.

    Attributes:
        voice, kind: the model that speaks, and the kind of utterance.
        share: whether values are shares of 1; else per cent.
        replies: replies with a confidence.
        ambiguous: those of them above 0 and up to 1, which might be either.
    """

    voice: str
    kind: str
    share: bool
    replies: int
    ambiguous: int


class Stated:
    """The confidences of a model's transcripts, gathered from one shard after the other.

    Args:
        seats: seat to model, where another than the experiment's takes it.
    """

    def __init__(self, seats: Mapping[str, str]) -> None:
        self._seats = seats
        self._found: dict[tuple[str, str], tuple[int, int, int]] = {}

    def add(self, said: pd.DataFrame) -> None:
        """Count the confidences of one shard."""
        parsed = said["parsed"].fillna("")
        written = parsed.str.contains(f'"{CONFIDENCE_SHARE}"', regex=False)
        stated = (
            (said["source"] == "model")
            & (written | said["confidence"].notna())
            & ~parsed.str.contains('"logprobs"')
        )
        spoken = zip(said["speaker"], said["model"], strict=True)
        voices = pd.Series(
            [self._seats.get(seat, model) for seat, model in spoken], said.index, dtype=object
        )
        counted = pd.DataFrame({"voice": voices, "kind": said["kind"], "ambiguous": written})
        counted["above"] = ~written & (said["confidence"] > 1)
        for (voice, kind), rows in counted[stated].groupby(["voice", "kind"]):
            replies, above, ambiguous = self._found.get((str(voice), str(kind)), (0, 0, 0))
            self._found[str(voice), str(kind)] = (
                replies + len(rows),
                above + int(rows["above"].sum()),
                ambiguous + int(rows["ambiguous"].sum()),
            )

    @property
    def scales(self) -> list[Scale]:
        """The scale of each model and prompt."""
        return [
            Scale(voice, kind, above == 0 and ambiguous > 0, replies, ambiguous)
            for (voice, kind), (replies, above, ambiguous) in sorted(self._found.items())
        ]


def as_metadata(scales: Iterable[Scale]) -> dict[str, str]:
    """The scales as predictions keep them."""
    return {METADATA: json.dumps([asdict(scale) for scale in scales])}


def scales_in(predictions: Path) -> list[Scale]:
    """The scales that a file of predictions was written with."""
    return [Scale(**scale) for scale in json.loads(read_metadata(predictions).get(METADATA, "[]"))]


def rescaled(
    said: pd.DataFrame, scales: Sequence[Scale], params: Fields, task: Task
) -> pd.DataFrame:
    """Transcripts of whole debates with every confidence from 0 to 100, and what follows from it.

    Args:
        said: rows of the transcripts schema in the order of turns; columns `NEEDED`, model and
            debate_id.
        scales: of all their models and prompts.
        params, task: of the experiment.
    """
    shares = {(scale.voice, scale.kind) for scale in scales if scale.share}
    written = said["parsed"].fillna("").str.contains(f'"{CONFIDENCE_SHARE}"', regex=False)
    if not shares or not written.any():
        return said
    debates = said["debate_id"].isin(said.loc[written, "debate_id"].unique())
    known = said[debates].astype(object)
    rows: Json = known.where(known.notna(), None).to_dict("records")
    for _, debate in groupby(rows, key=itemgetter("model", "debate_id")):
        _rescale_debate(list(debate), shares, params, task)
    result = said.copy()
    for name in {*CHANGED} & {*said.columns}:
        values = pd.Series([row[name] for row in rows], said.index[debates], dtype=said[name].dtype)
        result[name] = result[name].where(~debates, values)
    return result


def _rescale_debate(
    rows: list[JsonObject], shares: set[tuple[str, str]], params: Fields, task: Task
) -> None:
    """Change the rows of one debate, in the order of turns."""
    seats = params.get("seats", {})
    smoothed = False
    for row in rows:
        parsed = json.loads(row["parsed"]) if row["parsed"] else None
        if not isinstance(parsed, dict) or CONFIDENCE_SHARE not in parsed:
            continue
        speaker, kind = parsed.get("stated_by", (row["speaker"], row["kind"]))
        if (seats.get(speaker, row["model"]), kind) not in shares:
            continue
        confidence = 100 * float(parsed[CONFIDENCE_SHARE])
        if row["kind"] == SMOOTHED:
            latest = stated_probabilities(task, parsed["answer"].split(";"), confidence)
            parsed |= {"latest": latest, "probability": STATED}
            smoothed = True
        else:
            row["confidence"] = confidence
            if row["prediction"]:
                row["probability"] = probability_of(confidence, number_of_choices(task))
        if row["kind"] == CONCLUSION:
            parsed["score"] = stated_probabilities(
                task, row["prediction"].split(";"), confidence
            ).get(task.positive)
        missing = (row["missing_fields"] or "").split(",")
        row["missing_fields"] = ",".join(name for name in missing if name != CONFIDENCE)
        row["parsed"] = _written(parsed)
    if smoothed:
        _smooth_again(rows, params, task)


def _smooth_again(rows: Sequence[JsonObject], params: Fields, task: Task) -> None:
    """Work out O_i and the decision of one debate anew, from its rows' `latest`."""
    weight = params["weight"] if params["smoothing"] else 1.0
    steps: list[JsonObject] = []
    for row in rows:
        if row["kind"] == SMOOTHED:
            step = json.loads(row["parsed"])
            latest = recorded_outlook(step)
            if not steps:
                first = current = latest
            else:
                current = next_outlook(first, current, latest, step["threshold_met"], weight)
            steps.append(step)
            row["parsed"] = _written(step | {"smoothed": dict(current.probabilities)})
            row["text"] = ", ".join(
                f"{label} {share:.3f}" for label, share in current.probabilities.items()
            )
            row["prediction"] = decided(current, task)
        elif row["kind"] == CONCLUSION and row["prediction"]:
            row["prediction"], row["confidence"], score = answer_of(current, steps, task)
            row["parsed"] = _written(json.loads(row["parsed"]) | {"score": score})


def _written(parsed: Fields) -> str:
    return json.dumps(parsed, ensure_ascii=False, sort_keys=True)
