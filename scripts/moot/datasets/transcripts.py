"""Debates in a table of the user's own, a row a turn or an answer, described in the configuration
alone.

Words and answers go to transcripts; the last answers go to predictions: those of judges, where a
column names them, of the one seat that answers, or of everybody in a group that talks (whose first
answers are a method of their own).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from moot.core.cases import Case
from moot.core.kinds import ANSWER, BELIEF, SPEECH, name_of_judge
from moot.core.types import Json, JsonObject
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.records import JUDGES, RecordedDebate, RecordedUtterance
from moot.datasets.turn_columns import TranscriptsOptions
from moot.datasets.turns import EVERYBODY, Turns, read_turns

METHOD, FIRST, SINGLE = "debate", "first answers", "answer"
"""What methods are called where no column says it: of debates, of what was answered before the
talk, of answers.
"""
RECORDED_AS = "recorded"
"""What the records call the model of all these debates."""
WITHOUT_FACTS = "(The table has no text of the case; what was said is in the debate.)"
_ROWS_AT_ONCE = 20_000
_NUMBERED = ("debate", "case", "method", "round", "repeat", "judge_repeat")
_TOLD = (
    "speaker",
    "text",
    "kind",
    "role",
    "side",
    "model",
    "visibility",
    "answer",
    "answers",
    "judge",
    "persona",
)


class _Judge(NamedTuple):
    """Whose answer it is, as in `RecordedDebate`."""

    judge: str
    persona: str = ""
    judge_repeat: int = 0


@dataclass(frozen=True, slots=True)
class _Stated:
    """What was answered: a label, None where it is none; the confidence in it, 0 to 100; and
    labels' probabilities.

        `word` is the answer as the file writes it.
    """

    prediction: str | None
    confidence: float | None = None
    distribution: Mapping[str, float] = field(default_factory=dict)
    word: str = ""


def read_debates(options: TranscriptsOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The debates in the order in which the files first name them; raises `UserError` as
    `read_turns`.
    """
    del context
    return debates_of(options, read_turns(options))


def debates_of(options: TranscriptsOptions, turns: Turns) -> Iterator[RecordedDebate]:
    """The debates of some turns; of a table of answers each row is one."""
    told, counted, names = _told(options, turns), Counter[tuple[str, str, str]](), options.columns
    named = bool(names.judge or names.answers) or _several_speakers_answer(told)
    for _, group in groupby(_rows(told), attrgetter("debate")):
        rows: list[Json] = list(group)
        first = rows[0]
        identity = (first.method or METHOD, RECORDED_AS, first.case)
        if not names.debate:
            identity = (first.method or SINGLE, first.model or JUDGES, first.case)
        number = counted[identity]
        if names.repeat or (names.judge and not names.debate):
            number = first.repeat
        said, answered = _debate(rows, turns)
        ended = {who: stated[-1] for who, stated in answered.items()}
        spoken = said if names.debate or first.text.strip() else ()
        yield from _conclusions(identity, number, spoken, ended, turns, named=named)
        if named and not names.judge and ended:
            before = {who: stated[0] for who, stated in answered.items()}
            method = f"{first.method}, {FIRST}" if first.method else FIRST
            yield from _conclusions((method, *identity[1:]), number, (), before, turns, named=True)
        counted[identity] += 1


@dataset("transcripts", TranscriptsOptions, records=read_debates)
def load(options: TranscriptsOptions, context: LoadContext) -> Loaded:
    """The cases that were debated, all of them test cases."""
    files = (options.path.parent if "*" in options.path.name else options.path).name
    return cases_of(options, read_turns(options), context, files, options.files)


def cases_of(
    options: TranscriptsOptions,
    turns: Turns,
    context: LoadContext,
    files: str,
    sources: Sequence[Path],
) -> Loaded:
    """The cases that some turns are about; `files` names where they come from."""
    names = options.columns
    task = replace(options.task(turns.labels, files), positive=turns.positive)
    grouped = [name for name in options.told_of_cases if name not in (names.truth, names.facts)]
    first = turns.rows.drop_duplicates("(case)")
    cases = [
        Case(
            case_id=cells["(case)"],
            dataset=context.name,
            split="test",
            text=(cells[names.facts].strip() if names.facts else "") or WITHOUT_FACTS,
            target=(turns.answers[cells[names.truth]] if names.truth else options.truth) or "",
            labels=task.labels,
            attributes={name: cells[name].strip() for name in grouped},
            source_row=int(index[1]),
        )
        for index, cells in zip(first.index, first.to_dict("records"), strict=True)
    ]
    return Loaded(
        cases, task, cleaning={**turns.account, "cases": len(cases)}, sources=tuple(sources)
    )


def _told(options: TranscriptsOptions, turns: Turns) -> pd.DataFrame:
    """The turns by the names of `TurnColumns`, "" where there is no such column; and
    `distribution`.
    """
    names, rows = options.columns, turns.rows
    found = pd.DataFrame({name: rows[f"({name})"] for name in _NUMBERED})
    for name in _TOLD:
        column = getattr(names, name)
        found[name] = rows[column] if column else ""
        if column and name not in ("text", "answers"):
            found[name] = found[name].str.strip()
    found["confidence"] = rows[names.confidence] if names.confidence else float("nan")
    found["distribution"] = pd.Series(_distributions(options, turns), found.index, dtype="object")
    return found


def _rows(told: pd.DataFrame) -> Iterator[Json]:
    """The rows as named tuples; strings of Arrow are slow one by one, and large as objects all at
    once.
    """
    for start in range(0, len(told), _ROWS_AT_ONCE):
        yield from told.iloc[start : start + _ROWS_AT_ONCE].astype("object").itertuples(index=False)


def _distributions(options: TranscriptsOptions, turns: Turns) -> list[dict[str, float]]:
    """The stated probabilities of labels after each turn; none where none are stated."""
    columns = options.columns.beliefs
    table = pd.DataFrame(
        {label or turns.positive: turns.rows[column] for label, column in columns.items()}
    )
    if len(columns) == 1 and len(turns.labels) == 2:
        [stated] = table
        [other] = set(turns.labels) - {stated}
        table[other] = 1 - table[stated]
    if table.empty:
        return [{}] * len(turns.rows)
    labels, known = list(map(str, table)), table.notna().all(axis="columns")
    shares = zip(*(table[label].tolist() for label in labels), strict=True)
    return [
        dict(zip(labels, row, strict=True)) if here else {}
        for row, here in zip(shares, known, strict=True)
    ]


def _several_speakers_answer(told: pd.DataFrame) -> bool:
    """Whether several speakers of one debate state answers: each has one of their own."""
    answering = told[(told["answer"] != "") | told["distribution"].map(bool)]
    return bool((answering.groupby("debate")["speaker"].nunique() > 1).any())


def _debate(
    rows: Sequence[Json], turns: Turns
) -> tuple[list[RecordedUtterance], dict[_Judge, list[_Stated]]]:
    """All that was said in a debate, and what everybody answered, in order."""
    said: list[RecordedUtterance] = []
    answered: dict[_Judge, list[_Stated]] = {}
    for row in rows:
        who = _Judge(row.judge or row.speaker, row.persona, row.judge_repeat)
        stated = _stated(row, turns) if row.judge or row.answer or row.distribution else None
        if stated:
            answered.setdefault(who, []).append(stated)
        if row.text.strip() or stated:
            said.append(_utterance(row, who, stated or _Stated(None)))
        for name, label in turns.stated.get(row.answers, {}).items():
            before = answered.setdefault(_Judge(name), [])
            if not before or before[-1].prediction != label:
                before.append(_Stated(label))
                said.append(
                    RecordedUtterance(
                        name, ANSWER, round=row.round, prediction=label, source="human"
                    )
                )
    return said, answered


def _stated(row: Json, turns: Turns) -> _Stated:
    """What was answered after a turn; a belief in several labels alike answers none."""
    prediction = turns.answers.get(row.answer)
    if not row.answer and row.distribution:
        most = max(row.distribution.values())
        likely = [label for label, share in row.distribution.items() if share == most]
        prediction = likely[0] if len(likely) == 1 else None
    return _Stated(
        prediction,
        None if pd.isna(row.confidence) else row.confidence,
        row.distribution,
        row.answer,
    )


def _utterance(row: Json, who: _Judge, stated: _Stated) -> RecordedUtterance:
    facts: JsonObject = {
        name: value for name in ("role", "side", "model") if (value := getattr(row, name))
    }
    if stated.distribution:
        facts["distribution"] = dict(stated.distribution)
    return RecordedUtterance(
        name_of_judge(*who) if row.judge else row.speaker or row.model or SINGLE,
        row.kind or (BELIEF if row.judge else SPEECH),
        row.text,
        row.round,
        stated.prediction,
        stated.confidence,
        facts or None,
        "model" if row.model else "human",
        private=bool(row.judge) or row.visibility.casefold() not in EVERYBODY,
    )


def _conclusions(
    identity: tuple[str, str, str],
    number: int,
    said: Sequence[RecordedUtterance],
    ended: Mapping[_Judge, _Stated],
    turns: Turns,
    *,
    named: bool,
) -> Iterator[RecordedDebate]:
    """A debate with the answer of each who answered; what was said is part of the first."""
    if not ended:
        yield RecordedDebate(
            *identity, number, None, problem="no answer was recorded", utterances=said
        )
    for first, (who, stated) in enumerate(ended.items()):
        yield RecordedDebate(
            *identity,
            number,
            stated.prediction,
            stated.confidence if stated.prediction else None,
            stated.distribution.get(turns.positive),
            "" if stated.prediction else f"the record says {stated.word or 'nothing'}",
            said if first == 0 else (),
            **(who._asdict() if named else {}),
        )
