"""The turns and outcomes of debates of any protocol, as the reader and exports show them."""

import json
import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from tempfile import TemporaryFile
from typing import cast

import pandas as pd

from moot.core.cases import WITHOUT_TEXT, Case, Task
from moot.core.natural_order import natural_key
from moot.core.schemas import SCHEMAS
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import COMPUTED, CONCLUSION, PUBLIC, REFUSED
from moot.protocols import PROTOCOLS
from moot.report.escaping import capitalised
from moot.scores.results import ExperimentResults, ExperimentView

CODE_LENGTH = 12
# values of an empty field; 0 and False are not empty
EMPTY: tuple[object, ...] = (None, "", [], {})


NO_MAJORITY = "no majority"
"""The status of a debate whose judges are evenly split: all of their answers may be valid."""


@dataclass(frozen=True)
class Turn:
    """One turn of a debate.

    Attributes:
        number, speaker, kind: the turn's number, its speaker, and its kind in words.
        side: the label that the speaker was told to argue for; "" for none.
        round: the round that it belongs to, from 1; 0 without rounds.
        readers: the seats that may read it; "" for all.
        origin: the first characters of the call's id, or another origin (human, computed).
        call: the call's id in `calls/`; "" without a call.
        notice: a problem with the turn, a sentence without its full stop; "" without a problem.
        text: the words; "" if the fields contain all of them.
        fields: names and values of a structured reply.
        prediction: the prediction and whether it is right; "" without a prediction.
    """

    number: int
    speaker: str
    side: str
    kind: str
    round: int
    readers: str
    origin: str
    call: str
    notice: str
    text: str
    fields: tuple[tuple[str, list[str] | str], ...]
    prediction: "StatedPrediction | None"


@dataclass(frozen=True)
class StatedPrediction:
    """A stated prediction: label, confidence in percent, and verdict.

    The verdict is CORRECT or INCORRECT if the debate counts.
    """

    label: str
    confidence: float | None
    verdict: str

    @property
    def share(self) -> str:
        """The confidence in words."""
        return "" if self.confidence is None else f" with {self.confidence:.0f} %"


@dataclass(frozen=True)
class DebateOutcome:
    """How a debate ended: the prediction that counts, or a status with its reason."""

    prediction: StatedPrediction | None
    status: str
    reason: str


NO_FACTS = "(This run has no text of this case.)"


def case_facts(case: Case, view: ExperimentView) -> str:
    """Return the facts of a case, or a note that no source has its text."""
    if case.text == WITHOUT_TEXT and not view.download_adds_words:
        return NO_FACTS
    return case.text


@dataclass(frozen=True)
class DebateText:
    """One debate: its case, utterances and outcome."""

    name: str
    case_id: str
    repeat: int
    facts: str
    target: str
    meaning: str
    turns: list[Turn]
    outcome: DebateOutcome


_OUTCOME = ["case_id", "repeat", "status", "prediction", "confidence", "reason"]


def read_debates(results: ExperimentResults, model: str) -> Iterator[DebateText]:
    """Yield all debates of one experiment and model, in the order of their ids.

    Debates that wait for a person are included.
    """
    task, sides = results.task, _assigned_sides(results)
    rows = results.outcomes.loc[results.outcomes["model"] == model, _OUTCOME]
    outcomes: dict[tuple[str, int], list[Fields]] = {}
    for outcome in records(rows):
        outcomes.setdefault((outcome["case_id"], outcome["repeat"]), []).append(outcome)
    parts = results.transcript_parts(SCHEMAS["transcripts"].names, model, include_waiting=True)
    for utterances in _by_debate(parts):
        identity = (utterances[0]["case_id"], utterances[0]["repeat"])
        case = results.case_by_id[identity[0]]
        target = case.target
        rows_of_turns = (row for row in utterances if row["kind"] != CONCLUSION)
        turns = [_turn(row, task, target, sides) for row in rows_of_turns]
        meaning = task.meaning.get(target, "")
        debate_outcome = _outcome(outcomes[identity], target)
        yield DebateText(
            utterances[0]["debate_id"],
            *identity,
            case_facts(case, results.config),
            target,
            meaning,
            turns,
            debate_outcome,
        )


def _assigned_sides(results: ExperimentResults) -> Mapping[str, str]:
    """Return the label that each seat is told to argue for.

    Records and protocols without such seats have none.
    """
    if results.config.protocol not in PROTOCOLS:
        return {}
    entry = PROTOCOLS[results.config.protocol]
    if entry.debaters is None:
        return {}
    params = entry.params.model_validate(results.config.params)
    return entry.debaters.assigned_sides(params, results.task)


def _by_debate(parts: Iterable[pd.DataFrame]) -> Iterator[list[JsonObject]]:
    """Yield the utterances of each debate, in the order of ids.

    Debates of all shards are stored on disk until their turn comes.
    """
    offsets: list[tuple[str, int]] = []
    with TemporaryFile() as file:
        for part in parts:
            for name, rows in groupby(records(part), key=itemgetter("debate_id")):
                offsets.append((name, file.tell()))
                pickle.dump(list(rows), file)
        for _, offset in sorted(offsets, key=lambda entry: (natural_key(entry[0]), entry[1])):
            file.seek(offset)
            yield pickle.load(file)  # noqa: S301 - our own file


def records(frame: pd.DataFrame) -> list[JsonObject]:
    """Return all rows at once.

    pandas needs milliseconds to create a frame, and there are thousands of debates.
    """
    return cast("list[JsonObject]", frame.to_dict("records"))


def _turn(utterance: Fields, task: Task, target: str, sides: Mapping[str, str]) -> Turn:
    public = utterance["visibility"] == PUBLIC
    call = "".join(
        character
        for character in utterance["call_id"]
        if character.isalnum() or character in "-_:.#/"
    )
    notice, text, fields = _body(utterance)
    prediction = None
    if utterance["prediction"]:
        prediction = _predicted(
            utterance["prediction"], utterance["confidence"], target if public else ""
        )
    return Turn(
        number=utterance["turn"],
        speaker=capitalised(
            task.roles.get(utterance["speaker"], utterance["speaker"]).replace("_", " ")
        ),
        side=sides.get(utterance["speaker"], ""),
        kind=utterance["kind"].replace("_", " "),
        round=utterance["round"],
        readers="" if public else utterance["visibility"].replace(",", ", "),
        origin=call[:CODE_LENGTH] if call else utterance["source"],
        call=call,
        notice=notice,
        text=text,
        fields=fields,
        prediction=prediction,
    )


def _body(utterance: Fields) -> tuple[str, str, tuple[tuple[str, list[str] | str], ...]]:
    """Return a turn's notice, words and fields.

    An unusable reply is returned unchanged, and a form has no words.
    """
    parsed = json.loads(utterance["parsed"]) if utterance["parsed"] else None
    if utterance["parse_status"] == "failed":
        return f"The call failed; there is no reply{_why(parsed, 'error')}", "", ()
    if utterance["parse_status"] == REFUSED:
        return f"Refused{_why(parsed, 'problem')}; the raw reply", utterance["text"], ()
    if utterance["parse_status"] == "invalid":
        return (
            f"No usable answer{_why(parsed, 'problem')}; the raw reply",
            utterance["text"],
            (),
        )
    fields = (
        {name: value for name, value in parsed.items() if value not in EMPTY}
        if isinstance(parsed, dict)
        else {}
    )
    texts = tuple(
        (name.replace("_", " ").capitalize(), _flat_value(value))
        for name, value in fields.items()
        if name not in ("prediction", "confidence")
    )
    # in words of its own
    if not fields or (utterance["source"] != COMPUTED and not utterance["parse_status"]):
        return "", utterance["text"], texts
    return "" if texts else "No reasons given", "", texts


def _why(parsed: object, name: str) -> str:
    reason = parsed.get(name) if isinstance(parsed, Mapping) else None
    return f": {reason}".replace("\n", " ") if reason else ""


def _flat_value(value: object) -> list[str] | str:
    """Return a field's value as text, a list as the texts of its entries."""
    return [_flat(entry) for entry in value] if isinstance(value, list) else _flat(value)


def _flat(value: object) -> str:
    """Return a field's value as text: a mapping as its entries, numbers with three digits."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_flat(entry)}" for name, entry in value.items())
    if isinstance(value, float):
        return f"{value:.3f}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _predicted(label: str, confidence: float, target: str) -> StatedPrediction:
    verdict = "" if not target else "CORRECT" if label == target else "INCORRECT"
    return StatedPrediction(label, None if pd.isna(confidence) else confidence, verdict)


def _outcome(rows: Sequence[Fields], target: str) -> DebateOutcome:
    """Return the prediction that counts, or why there is none.

    It is the verdict, or its likelihoods after calibration. With several judges it is the answer of
    most of them.

    If judges are evenly split, their answers are valid but there is no majority.
    """
    if len(rows) > 1:
        votes = Counter(row["prediction"] for row in rows if row["status"] == "valid").most_common()
        summary = f"of {len(rows)} judges, " + (
            ", ".join(f"{count} say {label}" for label, count in votes) or "none says"
        )
        if not votes:
            return DebateOutcome(None, "invalid", summary)
        if len(votes) > 1 and votes[0][1] == votes[1][1]:
            return DebateOutcome(None, NO_MAJORITY, summary)
        return DebateOutcome(_predicted(votes[0][0], float("nan"), target), "valid", summary)
    [row] = rows
    if pd.isna(row["prediction"]) or not row["prediction"]:
        return DebateOutcome(
            None, row["status"], row["reason"] if isinstance(row["reason"], str) else ""
        )
    return DebateOutcome(
        _predicted(row["prediction"], row["confidence"], target), row["status"], ""
    )
