"""The parts of an item that a study computes: rows of a table, points of a figure, a diagram,
texts.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from moot.core.types import Fields
from moot.papers.items import PaperItem
from moot.report.figures import count_phrase
from moot.report.notes import data_label
from moot.report.published import Published, repeated_values
from moot.report.study_results import NOT_A_NUMBER, NOT_MEASURED, Measurement, Run, StudyResults
from moot.scores import INVALID_WRONG

MAX_INVALID_SHARE = 0.1
NO_ANSWER = "no valid answer"


@dataclass(frozen=True, slots=True)
class Design:
    """An experiment's configuration, whether or not it was run.

    Attributes:
        experiment: Its name.
        protocol: Its protocol.
        params: The parameters of the protocol, defaults filled in.
        models: Its models.
        dataset: Its data set.
        is_of_run: Whether it belongs to this run; otherwise it is the paper's design.
        templates: The texts of its protocol's prompt templates, by name.
    """

    experiment: str
    protocol: str
    params: Fields
    models: tuple[str, ...]
    dataset: str
    is_of_run: bool
    templates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemRun:
    """The data that a function may read to fill an item.

    Attributes:
        item: The item's description.
        results: The results of the study, with its trial runs among the experiments.
        designs: The experiments of the paper's design, then the experiments of this run that have
            one of their protocols.
        models: The configuration of each model, in words.
    """

    item: PaperItem
    results: StudyResults
    designs: tuple[Design, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)

    def draw_designs(self, draw: "Callable[[Design], Diagram]") -> "list[Part]":
        """Return diagrams of the paper's design and of this run's; one diagram if both are
        equal.
        """
        diagrams: list[Part] = []
        drawn_steps: set[tuple[object, ...]] = set()
        for is_of_run in (False, True):
            for protocol in dict.fromkeys(design.protocol for design in self.designs):
                designs = [
                    design
                    for design in self.designs
                    if (design.protocol, design.is_of_run) == (protocol, is_of_run)
                ]
                if not designs:
                    continue
                diagram = draw(designs[0])
                if (diagram.seats, diagram.steps) not in drawn_steps:
                    drawn_steps.add((diagram.seats, diagram.steps))
                    diagrams.append(replace(diagram, title=_design_title(designs[0])))
        return diagrams


def _design_title(design: Design) -> str:
    if design.is_of_run:
        return f"As configured: {design.experiment}"
    return f"The paper's design as moot runs it: {design.experiment}"


@dataclass(frozen=True, slots=True)
class AnswerCounts:
    """How many answers a row asked for, and how many of them are invalid or missing.

    Attributes:
        n: All answers.
        n_invalid: Answers that could not be read.
        n_missing: Answers that a failed call or an open debate left out.
        noun: What is counted.
    """

    n: int = 0
    n_invalid: int = 0
    n_missing: int = 0
    noun: str = "answer"

    @property
    def description(self) -> str:
        """The invalid and missing ones in words; "" if there are none."""
        of_all = f"of {count_phrase(self.n, self.noun)}"
        texts = []
        for count, word in ((self.n_invalid, "invalid"), (self.n_missing, "missing")):
            if count:
                texts.append(f"{count:,} {of_all} {word}")
        return ", ".join(texts)


@dataclass(frozen=True, slots=True)
class OwnRow:
    """Values of this run in one row of a table, or in a block of rows.

    Attributes:
        heads: The texts of the head cells.
        source: The experiments, or the trained model.
        data: The display name of the data set.
        cases: The number of cases; NaN if unknown.
        cells: The values by part and score.
        answers: The counts of its answers.
        wording: Whose words its prompts have; "" if no model was asked.
        strict_cells: Values that count invalid answers as wrong, where more than
            `MAX_INVALID_SHARE` of the answers are invalid.
        published: The published values that the cells repeat, by row and metric of the paper.
        row: The key of the paper's row that it repeats; "" if it repeats none.
        has_no_answer: Whether no reply held a valid answer, so that there is nothing to score.
    """

    heads: tuple[str, ...]
    source: str
    data: str
    cases: float
    cells: Mapping[tuple[str, str], Measurement]
    published: Mapping[tuple[str, str], Published] = field(default_factory=dict)
    row: str = ""
    has_no_answer: bool = False
    answers: AnswerCounts = AnswerCounts()
    wording: str = ""
    strict_cells: Mapping[tuple[str, str], Measurement] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """Its data, cases, answers, invalid and missing ones and wording, in a few words."""
        cases = "" if math.isnan(self.cases) else count_phrase(int(self.cases), "case")
        if self.answers.n > self.cases and self.answers.noun == "answer":
            cases += f", {count_phrase(self.answers.n, 'answer')}"
        no_answer = NO_ANSWER if self.has_no_answer else ""
        parts = (self.data, cases, no_answer, self.answers.description, self.wording)
        return ", ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a figure; `y` has an interval, and `second` is the value that goes with it."""

    x: float | str
    y: Measurement
    second: Measurement = field(default_factory=Measurement)


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one model or case.

    Attributes:
        name: The name in the legend: the model, with its prompt or case.
        source: The experiment; `published` for the paper's values.
        points: Its points.
        panel: The panel that shows it.
        group: The prompt or the kind of data, which determines its marker.
        data: The display name of the data set.
        cases: The number of cases.
        is_apart: Whether it is of another study, and stands apart from the others.
    """

    name: str
    source: str
    points: tuple[Point, ...]
    panel: str = ""
    group: str = ""
    data: str = ""
    cases: float = NOT_A_NUMBER
    is_apart: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a diagram.

    Attributes:
        seat: The acting seat.
        text: Its action.
        reads: The positions of the steps that it reads.
        is_private: Whether no other seat reads it.
        stage: The round or stage; steps of a stage stand between two lines.
        is_simultaneous: Whether it acts at the same time as the step before.
    """

    seat: str
    text: str
    reads: tuple[int, ...] = ()
    is_private: bool = False
    stage: str = ""
    is_simultaneous: bool = False


@dataclass(frozen=True, slots=True)
class Diagram:
    """A configured protocol: seats as columns, steps from above."""

    title: str
    seats: tuple[str, ...]
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clauses:
    """A prompt template by clause: the name and the text of each."""

    title: str
    clauses: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """A configured value, for a row of a table that states facts."""

    row: str
    text: str


@dataclass(frozen=True, slots=True)
class ExampleRow:
    """A row of a table that shows an example.

    Attributes:
        step: The heading of its step.
        cells: The texts by seat; a text of a seat that has no column spans all columns.
    """

    step: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Example:
    """An example of this run: a debate by step, with a column for each debater.

    `source` is its experiment.
    """

    title: str
    rows: tuple[ExampleRow, ...]
    source: str = ""


Part = OwnRow | Series | Diagram | Clauses | Fact | Example


def measure(run: Run, score: str) -> Measurement:
    """Return a score of a run that is written as `metric/average@group`."""
    name, _, group = score.partition("@")
    metric, _, average = name.partition("/")
    return run.measurement(metric, average, group) if group else run.measurement(metric, average)


def measure_strictly(run: Run, score: str) -> Measurement:
    """Return a score that counts invalid answers as wrong, if enough answers are invalid."""
    value = measure(run, score)
    if not value.n_invalid > MAX_INVALID_SHARE * (value.n + value.n_invalid):
        return NOT_MEASURED
    name, slash, rest = score.partition("/")
    metric, at, group = name.partition("@")
    return measure(run, f"{metric}{INVALID_WRONG}{at}{group}{slash}{rest}")


def count_cases(runs: Iterable[Run]) -> float:
    """Return the largest number of cases of some runs."""
    return max((run.predictions["case_id"].nunique() for run in runs), default=0)


def count_answers(runs: Iterable[Run]) -> AnswerCounts:
    """Count the answers of some runs."""
    statuses = pd.concat([run.predictions["status"] for run in runs])
    invalid, valid = (statuses == "invalid").sum(), (statuses == "valid").sum()
    return AnswerCounts(len(statuses), int(invalid), int(len(statuses) - invalid - valid))


def rows_of_runs(
    item: PaperItem, placed_runs: Sequence[tuple[str, tuple[str, ...], Run]]
) -> list[OwnRow]:
    """Return the own rows of runs.

    Runs with the same heads and in different parts (such as the prompts of a model) share a row.

    Args:
        item: The table.
        placed_runs: The part and the head cells of each run, with the run.
    """
    groups: dict[tuple[tuple[str, ...], bool, int], dict[str, Run]] = {}
    for part, heads, run in placed_runs:
        is_repeat = bool(_published_of(item, run))
        position = 0
        while part in groups.get((heads, is_repeat, position), {}):
            position += 1
        groups.setdefault((heads, is_repeat, position), {})[part] = run
    rows = [_row_of_runs(item, heads, runs) for (heads, _, _), runs in groups.items()]
    return [row for row in rows if row.cells or row.has_no_answer]


def _published_of(item: PaperItem, run: Run) -> Mapping[tuple[str, str], Published]:
    return repeated_values(run, item.published.partition("/")[2]) if item.published else {}


def _row_of_runs(item: PaperItem, heads: tuple[str, ...], runs: Mapping[str, Run]) -> OwnRow:
    cells: dict[tuple[str, str], Measurement] = {}
    strict_cells: dict[tuple[str, str], Measurement] = {}
    published: dict[tuple[str, str], Published] = {}
    for part, score in scores_of(item):
        if part in runs:
            value = measure(runs[part], score)
            is_average = score.endswith("/macro")  # of one case it is that of one label
            if value.value == value.value and not (is_average and value.n == 1):
                cells[part, score] = value
                strict_cells[part, score] = measure_strictly(runs[part], score)
    for run in runs.values():
        published.update(_published_of(item, run))
    published_rows = {row for row, _ in published}
    repeated_rows = [row.key for row in item.rows if row.key in published_rows]
    return OwnRow(
        heads=heads,
        source=", ".join(dict.fromkeys(run.experiment for run in runs.values())),
        data=", ".join(dict.fromkeys(data_label(run.results) for run in runs.values())),
        cases=count_cases(runs.values()),
        cells=cells,
        published=published,
        row=repeated_rows[0] if repeated_rows else "",
        has_no_answer=not cells and all(_has_no_answer(run) for run in runs.values()),
        answers=count_answers(runs.values()),
        wording=wording_of(runs.values()),
        strict_cells=strict_cells,
    )


def wording_of(runs: Iterable[Run]) -> str:
    """Return whose words the prompts of some runs have, and which settings are not the paper's."""
    notes: dict[str, None] = {}
    for run in runs:
        match = run.paper_match
        notes |= dict.fromkeys(filter(None, [match.wording, *match.settings]))
    return ", ".join(notes)


def _has_no_answer(run: Run) -> bool:
    """Return whether a model replied and none of its replies held a valid answer."""
    return len(run.predictions) > 0 and run.valid.empty


def scores_of(item: PaperItem) -> list[tuple[str, str]]:
    """Return the part and score of all cells of a table, each once."""
    pairs: dict[tuple[str, str], None] = {}
    for row in item.rows:
        for column in item.columns:
            spec = item.cell(row, column)
            pairs |= {(spec.part, score): None for score in spec.scores if score}
    return list(pairs)
