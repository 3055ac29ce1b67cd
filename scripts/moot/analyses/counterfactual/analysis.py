"""The hooks of counterfactual people: experiments about them are controls."""

from moot.core.experiment_config import ExperimentConfig
from moot.datasets import DatasetOptions
from moot.datasets.people.people_cases import PeopleOptions
from moot.hooks import ANALYSES, Analysis
from moot.report.content import StudyPlan


class CounterfactualPeople(Analysis):
    """The same person told with another sex or race."""

    def is_control(self, _config: ExperimentConfig, dataset: DatasetOptions) -> bool:
        """Return whether an experiment argues over counterfactual people."""
        return is_counterfactual(dataset)


def is_counterfactual(dataset: DatasetOptions) -> bool:
    """Return whether a feature of the people of a data set is exchanged."""
    return isinstance(dataset, PeopleOptions) and bool(dataset.exchange)


def has_counterfactual_people(plan: StudyPlan) -> bool:
    """Return whether an experiment argues over counterfactual people."""
    return any(is_counterfactual(plan.options_of(control)) for control in plan.controls)


ANALYSES.register("counterfactual")(CounterfactualPeople())
