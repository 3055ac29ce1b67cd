"""The parts of an item that a study computes: rows, points, a diagram and texts."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from moot.core.model_config import ModelConfig
from moot.llm.prompts import Prompts
from moot.papers.as_published import ExperimentSetting
from moot.papers.items import PaperItem
from moot.report.figures import count_phrase
from moot.report.published import Published
from moot.report.study_results import NOT_A_NUMBER, Measurement, StudyResults
from moot.scores.results import NOTHING_MADE_UP, ExperimentView, MadeUpInputs

NO_ANSWER = "no valid answer"


@dataclass(frozen=True, slots=True)
class Design:
    """An experiment's configuration, whether or not it was run.

    Attributes:
        experiment: Its name.
        study: Its study.
        view: What its results need, with the parameters of its protocol, defaults filled in.
        setting: What its values depend on.
        prompts: Its prompt templates.
        models: The entries of its models, and of those that take seats beside them.
        is_of_run: Whether it belongs to this run; otherwise it is the paper's design.
    """

    experiment: str
    study: str
    view: ExperimentView
    setting: ExperimentSetting
    prompts: Prompts
    models: Mapping[str, ModelConfig]
    is_of_run: bool


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
        made_up: The remarks on its data and models that are made up.
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
    made_up: MadeUpInputs = NOTHING_MADE_UP

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
        made_up: The remarks on its data and models that are made up.
    """

    name: str
    source: str
    points: tuple[Point, ...]
    panel: str = ""
    group: str = ""
    data: str = ""
    cases: float = NOT_A_NUMBER
    is_apart: bool = False
    made_up: MadeUpInputs = NOTHING_MADE_UP


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

    `made_up` has the remarks on its data and models that are made up.
    """

    title: str
    rows: tuple[ExampleRow, ...]
    made_up: MadeUpInputs = NOTHING_MADE_UP


Part = OwnRow | Series | Diagram | Clauses | Fact | Example
