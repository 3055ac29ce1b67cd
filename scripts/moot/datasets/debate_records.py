"""Recorded debates: their types, their checks, and numbers that ship without texts.

A loader whose data set holds records registers a second function that reads them (`dataset(...,
records=...)`). Its cases, labels and attributes are like those in any data set; an experiment with
`source: recorded` takes its transcripts from the records instead of asking models.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from moot.core.artifacts import read_cases, read_table, write_cases, write_rows
from moot.core.cases import WITHOUT_TEXT, Case, Task
from moot.core.errors import UserError
from moot.core.schemas import JUDGED
from moot.core.text_files import quote_value
from moot.core.types import JsonObject
from moot.core.utterance_kinds import CONCLUSION, PUBLIC
from moot.datasets import LOADERS, DatasetOptions, LoadContext, Loaded

SHIPPED = Path("data") / "records"
PERCENT = 100
JUDGES = "judges"
"""The name of the model in records of answers that name only their judges."""
NO_BELIEF = "no belief was recorded"


@dataclass(frozen=True, slots=True)
class RecordedUtterance:
    """An utterance in a recorded debate.

    Attributes:
        kind: opening, speech, belief, ...
        text: its words; "" if only numbers are available.
        round: the round from 1; 0 before the first round.
        confidence: the stated confidence in the prediction, 0 to 100.
        parsed: further facts (the stated distribution, quotations).
        private: whether only this seat could read it during the debate.
    """

    speaker: str
    kind: str
    text: str = ""
    round: int = 0
    prediction: str | None = None
    confidence: float | None = None
    parsed: JsonObject | None = None
    source: Literal["human", "model"] = "model"
    private: bool = False


@dataclass(frozen=True, slots=True)
class RecordedDebate:
    """One recorded debate, or one recorded answer.

    Further answers to the same debate, by other judges or in repeats, have the same identity with
    another judge, persona or `judge_repeat`, and only their additional utterances.

    Attributes:
        method: the condition in the records ("debate", "single prompt", ...).
        model: the model that predicts, under its name in the records.
        prediction: one of the labels; None if no usable answer was recorded.
        confidence: the stated confidence in the prediction, 0 to 100; None if not stated.
        score: the stated probability of the positive label, where probabilities were stated.
        problem: the reason why there is no usable answer.
        judge, persona, judge_repeat: the author of the answer, if the records name the judges of a
            debate: the judge, the persona, and the number of the repeat from 0.
    """

    method: str
    model: str
    case_id: str
    repeat: int
    prediction: str | None
    confidence: float | None = None
    score: float | None = None
    problem: str = ""
    utterances: Sequence[RecordedUtterance] = field(default_factory=tuple)
    judge: str = ""
    persona: str = ""
    judge_repeat: int = 0


_IDENTITY = ("method", "model", "case_id", "repeat")
_UTTERANCE_FIELDS = ("speaker", "kind", "text", "round", "prediction", "confidence", "source")


def record_rows(debates: Iterable[RecordedDebate]) -> Iterator[JsonObject]:
    """Yield recorded debates as rows of the records schema: utterances, then the conclusion."""
    for debate in debates:
        identity = {name: getattr(debate, name) for name in _IDENTITY}
        for turn, utterance in enumerate(debate.utterances, start=1):
            yield {
                **identity,
                **{name: getattr(utterance, name) for name in _UTTERANCE_FIELDS},
                "turn": turn,
                "visibility": utterance.speaker if utterance.private else PUBLIC,
                "parsed": (
                    None
                    if utterance.parsed is None
                    else json.dumps(utterance.parsed, ensure_ascii=False, sort_keys=True)
                ),
            }
        status = "invalid" if debate.prediction is None else "valid"
        outcome: JsonObject = {"status": status, "score": debate.score, "logprobs": None}
        if debate.problem:
            outcome["reason"] = debate.problem
        judge_fields = {name: getattr(debate, name) for name in JUDGED}
        if any(judge_fields.values()):
            outcome |= {name: value for name, value in judge_fields.items() if value != ""}
        yield {
            **identity,
            "turn": len(debate.utterances) + 1,
            "round": 0,
            "speaker": "moot",
            "visibility": PUBLIC,
            "kind": CONCLUSION,
            "text": "",
            "parsed": json.dumps(outcome, sort_keys=True),
            "prediction": debate.prediction,
            "confidence": debate.confidence,
            "source": "computed",
        }


def check_records(
    dataset: str, debates: Sequence[RecordedDebate], cases: Sequence[Case], task: Task
) -> None:
    """Check recorded debates against the cases and labels of their data set.

    Raises:
        UserError: an unknown case or label, or a repeat that occurs twice.
    """
    case_ids = {case.case_id for case in cases}
    identities = set()
    for debate in debates:
        fields = {name: getattr(debate, name) for name in (*_IDENTITY, *JUDGED)}
        identity = tuple(fields.values())
        problem = ""
        if debate.case_id not in case_ids:
            problem = f"expected one of the {len(case_ids)} cases of the data set"
        elif debate.prediction not in (None, *task.labels):
            problem = f"found {debate.prediction!r}, expected one of {', '.join(task.labels)}"
        elif identity in identities:
            problem = "occurs twice; expected each repeat of a case and judge once"
        if problem:
            place = ", ".join(f"{name} {value}" for name, value in fields.items() if value != "")
            raise UserError(f"records of data set '{dataset}': {place}: {problem}.")
        identities.add(identity)


def read_confidence(place: str, text: str) -> float | None:
    """Read a confidence of 0 to 100; None if the text is blank.

    Raises:
        UserError: the text is no such number; the message starts with `place`.
    """
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= PERCENT:
        raise UserError(f"{place}: found {quote_value(text)}; expected a number from 0 to 100.")
    return value


def shipped_paths(name: str, shipped: Path) -> tuple[Path, Path]:
    """Return the files of the shipped cases and of the shipped records of a study."""
    folder = shipped / SHIPPED
    return folder / f"{name}_cases.parquet", folder / f"{name}_records.parquet"


def load_shipped_cases(name: str, context: LoadContext) -> Loaded:
    """Return the cases of records that ship with moot; a note replaces their texts."""
    path, records = shipped_paths(name, context.shipped)
    cases, task = read_cases(path)
    renamed = [replace(case, dataset=context.name) for case in cases]
    return Loaded(renamed, task, cleaning={"cases shipped": len(cases)}, sources=(path, records))


def load_shipped_debates(name: str, context: LoadContext) -> Iterator[RecordedDebate]:
    """Yield the recorded debates that ship with moot, without the words of the utterances."""
    rows = read_table(shipped_paths(name, context.shipped)[1]).to_pylist()
    utterances: list[RecordedUtterance] = []
    for row in rows:
        parsed: JsonObject = json.loads(row["parsed"] or "null")
        if row["kind"] != CONCLUSION:
            fields_of_row = {name: row[name] for name in _UTTERANCE_FIELDS}
            utterances.append(
                RecordedUtterance(
                    **fields_of_row, parsed=parsed, private=row["visibility"] != PUBLIC
                )
            )
            continue
        fields = {name: row[name] for name in (*_IDENTITY, "prediction", "confidence")}
        fields |= {name: parsed[name] for name in ("score", *JUDGED) if name in parsed}
        yield RecordedDebate(**fields, problem=parsed.get("reason", ""), utterances=utterances)
        utterances = []


def write_shipped_records(
    name: str,
    loaded: Loaded,
    debates: Iterable[RecordedDebate],
    shipped: Path,
    licence: str,
    source: str,
) -> tuple[Path, Path]:
    """Write records for shipping, with all numbers and labels but without any text.

    Args:
        name: the stem of the two files below `data/records`.
        loaded: the cases of the records.
        debates: the records.
        shipped: the folder of the project.
        licence: the licence of the records.
        source: the pinned address where they were published.

    Returns:
        The files of the cases and of the records.
    """
    paths = shipped_paths(name, shipped)
    metadata = {"licence": licence, "source": source}
    blank = (replace(case, dataset=name, text=WITHOUT_TEXT) for case in loaded.cases)
    write_cases(paths[0], blank, loaded.task, metadata)
    write_rows(paths[1], "records", ({**row, "text": ""} for row in record_rows(debates)), metadata)
    return paths


def write_records(
    options: DatasetOptions,
    context: LoadContext,
    cases: Sequence[Case],
    task: Task,
    output: Path,
    metadata: Mapping[str, str],
) -> None:
    """Read the published debates over the cases of a data set, and write them as Parquet.

    Raises:
        UserError: the loader has no records, or a record cannot be read; the message names file,
            row and column.
    """
    read_debates = LOADERS[options.loader or context.name].records
    if read_debates is None:
        loaders = [name for name in LOADERS if LOADERS[name].records]
        raise UserError(
            f"data set '{context.name}': no debates are recorded over it, but an experiment has"
            " `source: recorded`. Expected a data set of one of these loaders:"
            f" {', '.join(loaders)}."
        )
    debates = list(read_debates(options, context))
    check_records(context.name, debates, cases, task)
    write_rows(output, "records", record_rows(debates), metadata)
