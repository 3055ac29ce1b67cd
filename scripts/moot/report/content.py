"""Tables and figures: their content before it is written, and the form in which they register.

A table or figure is built for any number of experiments. Without experiments, a table shows
published values alone, and a figure states that there is nothing to draw.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

import pandas as pd

from moot.datasets import DatasetOptions
from moot.protocols.experiment import Experiment
from moot.report.study_results import StudyResults
from moot.scores.contrasts import Contrast

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure


@dataclass(frozen=True)
class StudyPlan:
    """What a run plans for the tables of one study.

    Attributes:
        experiments: those that the table shows, by its protocols and loaders.
        controls: experiments that each change one thing in another experiment.
        trials: experiments with too few debates for conclusions.
        contrasts: planned comparisons with a side in this run.
        trained_datasets: the data sets that baselines are trained on.
        datasets: the options of all data sets, by name.
        is_in_run: whether the run has an experiment of the study.
    """

    experiments: Sequence[Experiment]
    controls: Sequence[Experiment]
    trials: Sequence[Experiment]
    contrasts: Sequence[Contrast]
    trained_datasets: Sequence[str]
    datasets: Mapping[str, DatasetOptions]
    is_in_run: bool

    def options_of(self, experiment: Experiment) -> DatasetOptions:
        """Return the options of the data set that an experiment is about."""
        return self.datasets[experiment.config.dataset]


Need = Callable[[StudyPlan], bool]


def has_debates(plan: StudyPlan) -> bool:
    """Return whether the run holds debates that the table shows."""
    return bool(plan.experiments)


def has_baselines(plan: StudyPlan) -> bool:
    """Return whether baselines are trained on data of the study."""
    return bool(plan.trained_datasets)


def has_trials(plan: StudyPlan) -> bool:
    """Return whether an experiment is a trial run."""
    return bool(plan.trials)


def has_contrasts(plan: StudyPlan) -> bool:
    """Return whether the run can test a planned comparison."""
    return bool(plan.contrasts)


def has_labels(plan: StudyPlan) -> bool:
    """Return whether statements of an experiment are labelled."""
    return any(experiment.config.labelers for experiment in plan.experiments)


@dataclass(frozen=True, slots=True)
class Column:
    """A column as readers see it.

    Attributes:
        name: its heading.
        role: `key` (repeated values are shown once), `ours`, `published`, `difference` or "".
        digits: a format specification; "" for the usual one, "d" for whole numbers.
        ends: the two columns of the frame that it shows as one interval; () for a column of its
            own.
    """

    name: str
    role: str = ""
    digits: str = ""
    ends: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Its columns in the frame and the CSV."""
        return self.ends or (self.name,)


@dataclass(frozen=True)
class TableContent:
    """A table before it is written, as made by `moot.report.columns.Columns.table`.

    Attributes:
        frame: the rows. Cells may be text, numbers or missing.
        columns: The columns that readers see, from left to right.
        notes: Sentences under the table. The writer adds those on the data sets.
        exploratory: Whether it holds tests that were not planned. The writer adds a note and a
            column that say so.
    """

    frame: pd.DataFrame
    columns: Sequence[Column]
    notes: Sequence[str] = ()
    exploratory: bool = False

    def names(self, role: str) -> list[str]:
        """Return the frame's columns of a role."""
        names: list[str] = []
        for column in self.columns:
            if column.role == role:
                names += column.names
        return names


Content = TypeVar("Content")


@dataclass(frozen=True)
class ReportItem(Generic[Content]):
    """A registered table or figure.

    Attributes:
        study, name, title, caption: its file is `{study}/{name}`.
        build: makes it of a study's results.
        needs: predicates of which one must hold for a run to show something in it.
        protocols, loaders: it shows debates of these protocols and data sets; () for all.
        category: the heading under which reports list a figure.
    """

    study: str
    name: str
    title: str
    caption: str
    build: Callable[[StudyResults], Content]
    needs: tuple[Need, ...] = (has_debates,)
    protocols: tuple[str, ...] = ()
    loaders: tuple[str, ...] = ()
    category: str = ""


Table: TypeAlias = ReportItem[TableContent]
Figure: TypeAlias = ReportItem["MatplotlibFigure"]
