"""Debates that really happened: what a reader of published records gives, and how their numbers
ship without texts.

A loader whose data set holds records registers a second function that reads them (`dataset(...,
records=...)`). Its cases, labels and attributes are those of any data set; an experiment with
`source: recorded` takes its transcripts from the records instead of asking models.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from moot.core.artifacts import read_cases, read_table, write_cases, write_rows
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.input_files import quoted
from moot.core.kinds import CONCLUSION, PUBLIC
from moot.core.log import LOG
from moot.core.schemas import JUDGED
from moot.core.types import JsonObject
from moot.datasets import LOADERS, DatasetOptions, LoadContext, Loaded

SHIPPED = Path("data") / "records"
WITHOUT_TEXT = (
    "(The text of this case does not ship with moot; choose source 'download' to fetch it.)"
)
PERCENT = 100
_SAID_AT_ONCE = 20
JUDGES = "judges"
"""What records call the model of answers that name nobody but their judges."""
NO_BELIEF = "no belief was recorded"
FaultyShare = Annotated[
    float,
    Field(
        ge=0,
        le=1,
        description=(
            "share of debates that are left out, counted, where something is wrong with them"
        ),
    ),
]


@dataclass(frozen=True, slots=True)
class RecordedUtterance:
    """One thing said in a recorded debate.

    Attributes:
        kind: opening, speech, belief, ...
        text: what was said; "" where only numbers are known.
        round: from 1; 0 before the first.
        confidence: stated in the prediction, 0 to 100.
        parsed: further facts (the stated distribution, words quoted).
        private: whether only this seat could read it then.
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

    Further answers to the same debate, of other judges or asked for again, have its identity, with
    a judge, persona or `judge_repeat` of their own, and the utterances that are theirs alone.

    Attributes:
        method: which of the records' conditions it belongs to ("debate", "single prompt", ...).
        model: whose prediction it is, by the records' own name.
        prediction: one of the labels; None where no usable answer was recorded.
        confidence: stated in the prediction, 0 to 100; None where there is none.
        score: the stated probability of the positive label, where probabilities were stated.
        problem: why there is no usable answer, in words.
        judge, persona, judge_repeat: whose answer it is, where the records name the judges of a
            debate: who, as which persona, and which time the same was asked, from 0.
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
_SAID = ("speaker", "kind", "text", "round", "prediction", "confidence", "source")


def record_rows(debates: Iterable[RecordedDebate]) -> Iterator[JsonObject]:
    """Recorded debates as rows of the records schema: the utterances in order, then the conclusion."""
    for debate in debates:
        identity = {name: getattr(debate, name) for name in _IDENTITY}
        for turn, said in enumerate(debate.utterances, start=1):
            yield {
                **identity,
                **{name: getattr(said, name) for name in _SAID},
                "turn": turn,
                "visibility": said.speaker if said.private else PUBLIC,
                "parsed": (
                    None
                    if said.parsed is None
                    else json.dumps(said.parsed, ensure_ascii=False, sort_keys=True)
                ),
            }
        status = "invalid" if debate.prediction is None else "valid"
        outcome: JsonObject = {"status": status, "score": debate.score, "logprobs": None}
        if debate.problem:
            outcome["reason"] = debate.problem
        judged = {name: getattr(debate, name) for name in JUDGED}
        if any(judged.values()):
            outcome |= {name: value for name, value in judged.items() if value != ""}
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
    """Raise `UserError` for an unknown case or label, a confidence out of range, or a repeat that
    occurs twice.
    """
    known = {case.case_id for case in cases}
    seen = set()
    for debate in debates:
        place = (
            f"records of data set '{dataset}': {debate.method}, {debate.model}, case"
            f" {debate.case_id}"
        )
        if debate.case_id not in known:
            raise UserError(
                f"{place}: there is no such case; expected one of the {len(known)} cases of the"
                " data set."
            )
        if debate.prediction is not None and debate.prediction not in task.labels:
            raise UserError(
                f"{place}: prediction {debate.prediction!r}; expected one of"
                f" {', '.join(task.labels)}."
            )
        if debate.confidence is not None and not 0 <= debate.confidence <= PERCENT:
            raise UserError(
                f"{place}: confidence {debate.confidence:g}; expected a number from 0 to 100."
            )
        identity = tuple(getattr(debate, name) for name in (*_IDENTITY, *JUDGED))
        if identity in seen:
            judged = "".join(
                f", {name} {quoted(value)}" for name in JUDGED if (value := getattr(debate, name))
            )
            raise UserError(
                f"{place}: repeat {debate.repeat}{judged} occurs twice; expected each repeat of a"
                " case once, by each judge, persona and repeat of the judge."
            )
        seen.add(identity)


def leave_out(
    faults: Sequence[str], left: int, of: int, share: float, remedy: str, noun: str = "debates"
) -> None:
    """Warn of what is wrong with the debates that are left out;
    `UserError` with the first for more than a share.
    """
    if left > share * of:
        counted = (
            f"{left} of {of} {noun} cannot be read; expected {share:.0%} of them at most"
            " (`faulty`). "
        )
        more = [f"... and {len(faults) - _SAID_AT_ONCE} more."] * (len(faults) > _SAID_AT_ONCE)
        raise UserError("\n".join([*faults[:_SAID_AT_ONCE], *more, counted + remedy]))
    for fault in faults:
        LOG.warning("left out: %s", fault)


def read_confidence(place: str, found: str) -> float | None:
    """The confidence at a place, 0 to 100;
    None where it is blank; `UserError` for anything else.
    """
    if not found.strip():
        return None
    try:
        value = float(found)
    except ValueError:
        value = -1.0
    if not 0 <= value <= PERCENT:
        raise UserError(f"{place}: found {quoted(found)}; expected a number from 0 to 100.")
    return value


def shipped_paths(name: str, shipped: Path) -> tuple[Path, Path]:
    """Where the cases and the records of a study's numbers ship."""
    folder = shipped / SHIPPED
    return folder / f"{name}_cases.parquet", folder / f"{name}_records.parquet"


def shipped_cases(name: str, context: LoadContext) -> Loaded:
    """The cases of records that ship with moot, their texts replaced by a note."""
    path, records = shipped_paths(name, context.shipped)
    cases, task = read_cases(path)
    renamed = [replace(case, dataset=context.name) for case in cases]
    return Loaded(renamed, task, cleaning={"cases shipped": len(cases)}, sources=(path, records))


def shipped_debates(name: str, context: LoadContext) -> Iterator[RecordedDebate]:
    """The recorded debates that ship with moot, without what was said."""
    rows = read_table(shipped_paths(name, context.shipped)[1]).to_pylist()
    utterances: list[RecordedUtterance] = []
    for row in rows:
        parsed: JsonObject = json.loads(row["parsed"] or "null")
        if row["kind"] != CONCLUSION:
            told = {name: row[name] for name in _SAID}
            utterances.append(
                RecordedUtterance(**told, parsed=parsed, private=row["visibility"] != PUBLIC)
            )
            continue
        fields = {name: row[name] for name in (*_IDENTITY, "prediction", "confidence")}
        fields |= {name: parsed[name] for name in ("score", *JUDGED) if name in parsed}
        yield RecordedDebate(**fields, problem=parsed.get("reason", ""), utterances=utterances)
        utterances = []


def ship(
    name: str,
    loaded: Loaded,
    debates: Iterable[RecordedDebate],
    shipped: Path,
    licence: str,
    source: str,
) -> tuple[Path, Path]:
    """Write the numbers of some records for shipping: who, case, turn, belief, prediction, truth,
    and no sentence.

        Args:
            name: of the two files below `data/records`.
            licence: of the records.
            source: where they were published, pinned.
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
    """Read the debates that were published over a data set's cases, and write
    `records/{dataset}.parquet`.

        Raises:
            UserError: nothing is recorded over the data set, or a record cannot be read; names
                file, row and column.
    """
    read = LOADERS[options.loader or context.name].records
    if read is None:
        known = [name for name in LOADERS if LOADERS[name].records]
        raise UserError(
            f"data set '{context.name}': no debates are recorded over it, but an experiment has"
            f" `source: recorded`. Expected a data set of one of these loaders: {', '.join(known)}."
        )
    debates = list(read(options, context))
    check_records(context.name, debates, cases, task)
    write_rows(output, "records", record_rows(debates), metadata)
