"""Predicates for the data that a table or figure needs, from the plan of one study.

A table that is registered with several predicates is built if one of them holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from moot.datasets import DatasetOptions
from moot.protocols.experiment import Experiment
from moot.scores.contrasts import Contrast


@dataclass(frozen=True)
class StudyPlan:
    """What a run plans for the tables of one study.

    Attributes:
        experiments: those that the table shows, by its protocols and loaders.
        controls: experiments that each change one thing in another experiment.
        trials: experiments with too few debates for conclusions.
        contrasts: planned comparisons with a side in this run.
        trained_
        datasets: the data sets that baselines are trained on. datasets: the options of all data
            sets, by name.
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
