"""Debates in a table of the user with a row per turn or answer, described in the configuration.

Words and answers become transcripts. The last answer of each judge is a prediction; if no column
names judges, so is the last answer of each speaker. The first answers of a group without a judge
form a separate method.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

import pandas as pd

from moot.core.cases import Case
from moot.core.types import Json, JsonObject
from moot.core.utterance_kinds import ANSWER, BELIEF, NO_LABEL, SPEECH, name_of_judge
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.debate_records import JUDGES, RecordedDebate, RecordedUtterance
from moot.datasets.turn_columns import TranscriptsOptions
from moot.datasets.turns import PUBLIC_MARKS, Turns, read_turns

METHOD, FIRST, SINGLE = "debate", "first answers", "answer"
"""The names of methods if no column states them.

They are for debates, for answers before the talk, and for single answers.
"""
RECORDED_AS = "recorded"
"""The name of the model in the records of all these debates."""
WITHOUT_FACTS = "(The table has no text of the case; what was said is in the debate.)"
UNDECIDED = "undecided: equal beliefs in several labels"
"""Why an answer names no label although it states beliefs."""
_ROWS_PER_CHUNK = 20_000
_BRACKETED_COLUMNS = ("debate", "case", "method", "round", "repeat", "judge_repeat")
_TEXT_COLUMNS = (
    "speaker",
    "text",
    "side",
    "model",
    "visibility",
    "answer",
    "judge",
    "persona",
)


class _Judge(NamedTuple):
    """The author of an answer, as in `RecordedDebate`."""

    judge: str
    persona: str = ""
    judge_repeat: int = 0


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer.

    Attributes:
        prediction: the label; None if it is not usable, or where several labels are equally
            likely.
        confidence: the stated confidence, 0 to 100.
        distribution: the stated probabilities of the labels.
        word: the answer as the file writes it.
    """

    prediction: str | None
    confidence: float | None = None
    distribution: Mapping[str, float] = field(default_factory=dict)
    word: str = ""

    @property
    def problem(self) -> str:
        """Why the answer names no label; "" if it names one."""
        if self.prediction:
            return ""
        is_undecided = self.distribution and not self.word
        return UNDECIDED if is_undecided else f"the record says {self.word or 'nothing'}"


@dataclass(slots=True)
class _DebateContent:
    """The utterances of a debate, and the answers of each author, both in order.

    Attributes:
        first_rounds: the round of each author's first answer; without rounds, which of the
            author's turns states it.
    """

    utterances: list[RecordedUtterance] = field(default_factory=list)
    answers: dict[_Judge, list[_Answer]] = field(default_factory=dict)
    first_rounds: dict[_Judge, int] = field(default_factory=dict)

    def first_answers(self) -> dict[_Judge, _Answer]:
        """Return the answer of each author in the first round in which any of them answers.

        An author who answers in later rounds alone has none of the first.
        """
        first_round = min(self.first_rounds.values(), default=0)
        return {
            judge: answers[0] if self.first_rounds[judge] == first_round else _Answer(None)
            for judge, answers in self.answers.items()
        }

    def last_answers(self) -> dict[_Judge, _Answer]:
        """Return the last answer of each author."""
        return {judge: answers[-1] for judge, answers in self.answers.items()}


def read_debates(options: TranscriptsOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """Yield the debates in the order in which the files first name them.

    In a table of answers each row is one debate.

    Raises:
        UserError: as `read_turns`.
    """
    del context
    turns = read_turns(options)
    table, names = _standard_columns(options, turns), options.columns
    has_authors = bool(names.judge) or _has_several_answerers(table)
    counts = Counter[tuple[str, str, str]]()
    for _, group in groupby(_iterate_rows(table), attrgetter("debate")):
        rows: list[Json] = list(group)
        first_row = rows[0]
        identity = _identity(first_row, options)
        repeat = first_row.repeat if _states_repeats(options) else counts[identity]
        content = _read_debate(rows, turns, has_judges=bool(names.judge))
        utterances = content.utterances if names.debate or first_row.text.strip() else ()
        answers = content.last_answers()
        yield from _conclusions(
            identity, repeat, utterances, answers, turns, has_authors=has_authors
        )
        if has_authors and not names.judge and answers:
            method = f"{first_row.method}, {FIRST}" if first_row.method else FIRST
            yield from _conclusions(
                (method, *identity[1:]),
                repeat,
                (),
                content.first_answers(),
                turns,
                has_authors=True,
            )
        counts[identity] += 1


def _identity(row: Json, options: TranscriptsOptions) -> tuple[str, str, str]:
    """Return the method, model and case of the debate of a row."""
    if options.columns.debate:
        return row.method or METHOD, RECORDED_AS, row.case
    return row.method or SINGLE, row.model or JUDGES, row.case


def _states_repeats(options: TranscriptsOptions) -> bool:
    """Return whether the table gives the number of the repeat; otherwise repeats are counted."""
    names = options.columns
    return bool(names.repeat or (names.judge and not names.debate))


@dataset("transcripts", TranscriptsOptions, records=read_debates)
def load(options: TranscriptsOptions, context: LoadContext) -> Loaded:
    """Load the cases that were debated, all of them test cases."""
    turns, names = read_turns(options), options.columns
    files = (options.path.parent if "*" in options.path.name else options.path).name
    task = options.make_task(turns.words.labels, f"recorded answers of {files}")
    group_columns = [
        name for name in options.case_columns if name not in (names.truth, names.facts)
    ]
    first_rows = turns.rows.drop_duplicates("(case)")
    cases = []
    for index, cells in zip(first_rows.index, first_rows.to_dict("records"), strict=True):
        facts = cells[names.facts].strip() if names.facts else ""
        truth = turns.words.label_of_truth[cells[names.truth]] if names.truth else options.truth
        cases.append(
            Case(
                case_id=cells["(case)"],
                dataset=context.name,
                split="test",
                text=facts or WITHOUT_FACTS,
                target=truth or "",
                labels=task.labels,
                attributes={name: cells[name].strip() for name in group_columns},
                source_row=int(index[1]),
            )
        )
    cleaning = {**turns.account, "cases": len(cases)}
    task = replace(task, positive=turns.positive)
    return Loaded(cases, task, None, cleaning, options.files, turns.faults)


def _standard_columns(options: TranscriptsOptions, turns: Turns) -> pd.DataFrame:
    """Return the turns under the names of `TurnColumns`, "" if the table lacks a column.

    The column `distribution` is added.
    """
    names, rows = options.columns, turns.rows
    table = pd.DataFrame({name: rows[f"({name})"] for name in _BRACKETED_COLUMNS})
    for name in _TEXT_COLUMNS:
        column = getattr(names, name)
        table[name] = rows[column] if column else ""
        if column and name != "text":
            table[name] = table[name].str.strip()
    table["confidence"] = rows[names.confidence] if names.confidence else float("nan")
    table["distribution"] = pd.Series(_distributions(options, turns), table.index, dtype="object")
    return table


def _iterate_rows(table: pd.DataFrame) -> Iterator[Json]:
    """Yield the rows as named tuples, converted in chunks.

    Strings of Arrow are slow one by one, and the whole table is large as objects.
    """
    for start in range(0, len(table), _ROWS_PER_CHUNK):
        chunk = table.iloc[start : start + _ROWS_PER_CHUNK]
        yield from chunk.astype("object").itertuples(index=False)


def _distributions(options: TranscriptsOptions, turns: Turns) -> list[dict[str, float]]:
    """Return the stated probabilities of the labels after each turn.

    They are empty for a turn that states none.
    """
    column, labels = options.columns.belief, turns.words.labels
    if not column:
        return [{}] * len(turns.rows)
    shares = [{} if pd.isna(share) else {turns.positive: share} for share in turns.rows[column]]
    if len(labels) == 2:
        [complement] = set(labels) - {turns.positive}
        for share in filter(None, shares):
            share[complement] = 1 - share[turns.positive]
    return shares


def _has_several_answerers(table: pd.DataFrame) -> bool:
    """Return whether several speakers of one debate state an answer."""
    answers = table[(table["answer"] != "") | table["distribution"].map(bool)]
    return bool((answers.groupby("debate")["speaker"].nunique() > 1).any())


def _read_debate(rows: Sequence[Json], turns: Turns, *, has_judges: bool) -> _DebateContent:
    """Return the utterances and answers of the rows of one debate.

    If a column names judges, the answers of others are no verdicts.
    """
    content, turns_of = _DebateContent(), Counter[_Judge]()
    has_rounds = any(row.round for row in rows)
    for row in rows:
        judge = _Judge(row.judge or row.speaker, row.persona, row.judge_repeat)
        turns_of[judge] += 1
        answer = _read_answer(row, turns) if row.judge or row.answer or row.distribution else None
        if answer and (row.judge or not has_judges):
            content.answers.setdefault(judge, []).append(answer)
            moment = row.round if has_rounds else turns_of[judge]
            content.first_rounds.setdefault(judge, moment)
        content.utterances += _utterances_of_row(row, judge, answer)
    return content


def _utterances_of_row(
    row: Json, judge: _Judge, answer: _Answer | None
) -> Iterator[RecordedUtterance]:
    """Yield the utterance of a row; two if a judge answers after the words of a speaker."""
    if _has_words_before_judge(row):
        speech = row._replace(judge="")
        verdict = row._replace(text="", side="")
        yield _utterance(speech, judge, _Answer(None))
        yield _utterance(verdict, judge, answer or _Answer(None))
    elif row.text.strip() or answer:
        yield _utterance(row, judge, answer or _Answer(None))


def _has_words_before_judge(row: Json) -> bool:
    """Return whether a row has the words of a speaker and the answer of a judge who hears them."""
    return bool(row.judge and row.speaker and row.text.strip() and row.speaker != row.judge)


def _read_answer(row: Json, turns: Turns) -> _Answer:
    """Return the answer after a turn; equal beliefs in several labels give no prediction."""
    prediction = turns.words.label_of_word.get(row.answer)
    if not row.answer and row.distribution:
        highest = max(row.distribution.values())
        likeliest = [label for label, share in row.distribution.items() if share == highest]
        prediction = likeliest[0] if len(likeliest) == 1 else None
    return _Answer(
        prediction,
        None if pd.isna(row.confidence) else row.confidence,
        row.distribution,
        row.answer,
    )


def _read_facts(row: Json, answer: _Answer) -> JsonObject:
    """Return the row's statements about its speaker, and its answer if that is not a label."""
    facts: JsonObject = {}
    for name in ("side", "model"):
        value = getattr(row, name)
        if value:
            facts[name] = value
    if answer.distribution:
        facts["distribution"] = dict(answer.distribution)
    elif answer.word and answer.prediction is None:
        facts[NO_LABEL] = answer.word
    return facts


def _kind_of(row: Json) -> str:
    if row.judge:
        return BELIEF
    return SPEECH if row.text.strip() else ANSWER


def _utterance(row: Json, judge: _Judge, answer: _Answer) -> RecordedUtterance:
    return RecordedUtterance(
        name_of_judge(*judge) if row.judge else row.speaker or row.model or SINGLE,
        _kind_of(row),
        row.text,
        row.round,
        answer.prediction,
        None if pd.isna(row.confidence) else row.confidence,
        _read_facts(row, answer) or None,
        "model" if row.model else "human",
        private=bool(row.judge) or row.visibility.casefold() not in PUBLIC_MARKS,
    )


def _conclusions(
    identity: tuple[str, str, str],
    repeat: int,
    utterances: Sequence[RecordedUtterance],
    answers: Mapping[_Judge, _Answer],
    turns: Turns,
    *,
    has_authors: bool,
) -> Iterator[RecordedDebate]:
    """Yield a recorded debate for each answer; the utterances belong to the first."""
    if not answers:
        yield RecordedDebate(
            *identity, repeat, None, problem="no answer was recorded", utterances=utterances
        )
    for position, (judge, answer) in enumerate(answers.items()):
        has_label = bool(answer.prediction)
        yield RecordedDebate(
            *identity,
            repeat,
            answer.prediction,
            answer.confidence if has_label else None,
            answer.distribution.get(turns.positive),
            answer.problem,
            utterances if position == 0 else (),
            **(judge._asdict() if has_authors else {}),
        )
