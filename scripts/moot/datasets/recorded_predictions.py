"""Results that someone already has: a table of answers, its columns named in the configuration.

One row an answer. The same file says what each case is: the truth and the attributes of a case must be the same in all
of its rows.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.input_files import cell, quoted
from moot.core.user_tables import numbered_rows, read_table
from moot.datasets import LoadContext, Loaded, OwnOptions, dataset
from moot.datasets.records import (
    WITHOUT_TEXT,
    FaultyShare,
    RecordedDebate,
    RecordedUtterance,
    leave_out,
    read_confidence,
)

METHOD, JUDGES = "answer", "judges"
LEFT_OUT = "rows left out, as something is wrong"


class Columns(BaseModel):
    """Which column of the file holds what; "" where the file has none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    case: str = Field("case_id", description="the case's id")
    prediction: str = Field("prediction", description="the answer")
    truth: str = Field("truth", description="the true label; none: it is not known, and answers are compared alone")
    model: str = Field("model", description=f"whose answer it is; none: all are of one model, `{JUDGES}`")
    repeat: str = Field("", description="which repeat of the case; none: rows are counted in their order")
    judge: str = Field("", description="who judged, where several judged the same debate (the same case and repeat)")
    persona: str = Field("", description="the persona that the judge was given")
    judge_repeat: str = Field(
        "", description="which time the judge was asked about the same debate; none: rows are counted in their order"
    )
    confidence: str = Field("", description="the stated confidence in the answer, 0 to 100")
    method: str = Field("", description="the condition (debate, single prompt, ...)")
    text: str = Field("", description="the case's text")
    attributes: tuple[str, ...] = Field((), description="columns to group scores by")

    @property
    def named(self) -> list[str]:
        """All columns that the file must have."""
        single = [getattr(self, name) for name in type(self).model_fields if name != "attributes"]
        return [name for name in (*single, *self.attributes) if name]


class AnswersOptions(OwnOptions):
    """What an entry of the configuration may say about answers in files of one's own, in any form."""

    labels: Mapping[str, str] = Field(
        description="each answer as the file writes it, and the label that it means (YES: yes); the negative one first"
    )
    no_answer: tuple[str, ...] = Field(
        ("", "UNKNOWN", "NO DECISION"), description="what the file writes where there is no usable answer"
    )

    @model_validator(mode="after")
    def _positive_is_a_label(self) -> "AnswersOptions":
        if self.positive and self.labels and self.positive not in self.labels.values():
            raise ValueError(f"'positive' is {self.positive!r}; expected one of {sorted(set(self.labels.values()))}")
        return self

    def task(self, files: str) -> Task:
        """What was predicted; `files` names where the answers come from."""
        return self.asked(tuple(dict.fromkeys(self.labels.values())), f"recorded answers of {files}")

    def label(self, place: str, found: str, *, answer: bool) -> str | None:
        """The label that the word at a place means; None for an answer that is none; `UserError` for others."""
        label = self.labels.get(found.strip())
        if label is None and not (answer and found.strip() in self.no_answer):
            known = [*self.labels, *(self.no_answer if answer else ())]
            raise UserError(
                f"{place}: found {quoted(found)}; expected one of {', '.join(name or 'blank' for name in known)}. "
                "Add it to `labels` or `no_answer`, or correct the file."
            )
        return label

    def debate(
        self,
        identity: tuple[str, str, str],
        repeat: int,
        place: str,
        found: str,
        confidence: float | None,
        problem: str = "",
        utterances: Sequence[RecordedUtterance] = (),
    ) -> RecordedDebate:
        """A recorded answer: of a method and model to a case, the word `found` at a place; or why there is none."""
        prediction = None if problem else self.label(place, found, answer=True)
        if prediction is None:
            problem, confidence = problem or f"the record says {found.strip() or 'nothing'}", None
        return RecordedDebate(*identity, repeat, prediction, confidence, problem=problem, utterances=utterances)


class DistinctCases:
    """The cases that answers speak of, each once, in the order in which they are first named."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Case, list[str]]] = {}

    @property
    def cases(self) -> list[Case]:
        """All that were added."""
        return [case for case, _ in self._known.values()]

    def add(self, case: Case, told: Mapping[str, str]) -> None:
        """Add a case, of which its source tells something at each place; `UserError` if it told otherwise before."""
        _, first = self._known.setdefault(case.case_id, (case, list(told.values())))
        for (place, found), earlier in zip(told.items(), first, strict=True):
            if found != earlier:
                raise UserError(
                    f"{place}: found {quoted(found)} for case {quoted(case.case_id)}, which another row gives "
                    f"{quoted(earlier)}; expected the same in all rows of a case. Correct one of them."
                )


class PredictionsOptions(AnswersOptions):
    """What an entry of the configuration may say about a table of answers."""

    path: Path = Field(description="the file (.csv, .tsv, .json, .jsonl, .parquet, .xlsx), from the working directory")
    columns: Columns = Field(default_factory=Columns, description="which column holds what")
    faulty: FaultyShare = 0.01

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # it may be anywhere
        """The table itself."""
        return (self.path,)


def read_answers(options: PredictionsOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The recorded answers in the order of the file; raises `UserError` for more faults than `faulty` allows."""
    counted: Counter[tuple[str, ...]] = Counter()
    rows, _, _ = _readable(options, context)
    return (_answer(options, row, cells, counted) for row, cells in rows)


def _readable(
    options: PredictionsOptions, context: LoadContext
) -> tuple[list[tuple[int, Mapping[str, str]]], list[Case], int]:
    """The rows in which nothing is wrong, by number; the cases that they speak of; and how many are left out."""
    rows: list[tuple[int, Mapping[str, str]]] = []
    faults, cases = list[str](), DistinctCases()
    for row, cells in numbered_rows(read_table(options.path, options.columns.named)):
        try:
            _answer(options, row, cells, Counter())
            _add_case(cases, options, row, cells, context.name)
        except UserError as fault:
            faults.append(str(fault))
        else:
            rows.append((row, cells))
    leave_out(faults, len(faults), len(rows) + len(faults), options.faulty, "Correct them, or allow more.", "rows")
    return rows, cases.cases, len(faults)


def _answer(
    options: PredictionsOptions, row: int, cells: Mapping[str, str], counted: Counter[tuple[str, ...]]
) -> RecordedDebate:
    """The answer of a row; `counted` are those before it of the same identity."""
    names = options.columns
    method = cells[names.method] if names.method else METHOD
    identity = (method, cells[names.model] if names.model else JUDGES, cells[names.case])
    judge, persona = (cells.get(column, "") for column in (names.judge, names.persona))
    asked = (*identity, judge, persona, cells.get(names.repeat, ""))
    nth, counted[asked] = counted[asked], counted[asked] + 1
    judged = bool(names.judge or names.persona)
    repeat = _whole(options.path, row, names.repeat, cells, otherwise=0 if judged else nth)
    again = _whole(options.path, row, names.judge_repeat, cells, otherwise=nth if judged else 0)
    place, found = cell(options.path, row, names.prediction), cells[names.prediction]
    stated = cells[names.confidence] if names.confidence else ""
    confidence = read_confidence(cell(options.path, row, names.confidence), stated)
    answer = options.debate(identity, repeat, place, found, confidence)
    return replace(answer, judge=judge, persona=persona, judge_repeat=again)


@dataset("recorded_predictions", PredictionsOptions, records=read_answers)
def load(options: PredictionsOptions, context: LoadContext) -> Loaded:
    """The cases that the answers speak of, all of them test cases."""
    rows, cases, left_out = _readable(options, context)
    cleaning = {"rows read": len(rows) + left_out, **({LEFT_OUT: left_out} if left_out else {})}
    return Loaded(cases, options.task(options.path.name), cleaning=cleaning, sources=(options.path,))


def _add_case(
    cases: DistinctCases, options: PredictionsOptions, row: int, cells: Mapping[str, str], dataset_name: str
) -> None:
    names = options.columns
    told = [name for name in (names.truth, names.text, *names.attributes) if name]
    case = Case(
        case_id=cells[names.case],
        dataset=dataset_name,
        split="test",
        text=cells[names.text] if names.text else WITHOUT_TEXT,
        target=_truth(options, row, cells),
        labels=tuple(dict.fromkeys(options.labels.values())),
        attributes={name: cells[name] for name in names.attributes},
        source_row=row,
    )
    cases.add(case, {cell(options.path, row, name): cells[name] for name in told})


def _truth(options: PredictionsOptions, row: int, cells: Mapping[str, str]) -> str:
    column = options.columns.truth
    return str(options.label(cell(options.path, row, column), cells[column], answer=False)) if column else ""


def _whole(path: Path, row: int, column: str, cells: Mapping[str, str], otherwise: int) -> int:
    """The whole number in a row's column; `otherwise` where the file has no such column."""
    found = cells[column].strip() if column else str(otherwise)
    if not found.isdecimal():
        raise UserError(f"{cell(path, row, column)}: found {quoted(found)}; expected a whole number.")
    return int(found)
