"""The models and data that a run's protocols need: log-probabilities, labels, a rubric.

`doctor` and `preview` print it before any paid call.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.artifacts import read_cases
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from moot.protocols.experiment import Experiment
from moot.scores.contrasts import Contrast

LIKELIHOOD = "likelihood"
CASES = Path("results/cases")
_MANY_LABELS = 6


@dataclass(frozen=True, slots=True)
class DatasetLabels:
    """The labels of a data set.

    Attributes:
        names: the labels; empty if they are unknown before the data are loaded.
        positive: the label that binary scores call positive; "" for none.
        multilabel: whether a case has several.
    """

    names: tuple[str, ...]
    positive: str = ""
    multilabel: bool = False

    def __str__(self) -> str:
        names = ", ".join(self.names[:_MANY_LABELS])
        if len(self.names) <= _MANY_LABELS:
            return names
        return f"{names} and {len(self.names) - _MANY_LABELS} more"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that an experiment needs.

    Attributes:
        experiment: its name.
        text: the requirement in words.
        fault: why the run does not meet it, and the remedy; "" if the run meets it or may meet it.
        ends_run: whether the experiment ends the run without it.
        is_unknown: whether only a call shows whether the run has it.
    """

    experiment: str
    text: str
    fault: str = ""
    ends_run: bool = False
    is_unknown: bool = False


def list_requirements(plan: Plan) -> list[Requirement]:
    """List the requirements of each experiment of a run on models and data."""
    requirements: list[Requirement] = []
    for experiment in plan.experiments.values():
        labels = find_labels(plan, experiment.config.dataset)
        requirements += _experiment_requirements(plan, experiment, labels)
    requirements += _contrast_requirements(plan)
    return requirements


def describe_requirements(plan: Plan) -> str:
    """Return the requirements in lines; equal ones of several experiments share a line."""
    names_by_text: dict[str, list[str]] = {}
    for requirement in list_requirements(plan):
        text = f"missing: {requirement.fault}" if requirement.fault else requirement.text
        names_by_text.setdefault(text, []).append(requirement.experiment)
    lines = [f"{', '.join(names)}: {text}\n" for text, names in names_by_text.items()]
    return "".join(["\nWhat protocols need:\n", *lines]) if lines else ""


def find_labels(plan: Plan, dataset: str) -> DatasetLabels:
    """Return the labels of a data set from its cases, its table or its options, as far as known."""
    path = CASES / f"{dataset}.parquet"
    options = plan.datasets[dataset]
    try:
        if path.exists():
            task = read_cases(path)[1]
            return DatasetLabels(task.labels, task.positive, task.multilabel)
        loader = LOADERS[options.loader or dataset]
        if options.loader == "table":
            task = loader.load(options, LoadContext(dataset, Path(), Path(), 0)).task
            return DatasetLabels(task.labels, task.positive, task.multilabel)
    except UserError:  # the data's own check reports it
        return DatasetLabels(())
    return DatasetLabels(loader.labels)


def _experiment_requirements(
    plan: Plan, experiment: Experiment, labels: DatasetLabels
) -> list[Requirement]:
    config, name = experiment.config, experiment.name
    protocol = PROTOCOLS[config.protocol]
    requirements: list[Requirement] = []
    for key, value in sorted(experiment.params.model_dump().items()):
        if value == LIKELIHOOD:
            requirements += [
                Requirement(
                    name,
                    f"log-probabilities of {model} (`{key}: {LIKELIHOOD}`)",
                    is_unknown=endpoint_traits(plan.config.models[model].endpoint).has_server,
                )
                for model in _asked_models(plan, experiment)
            ]
    if labels.names:
        fault = protocol.misfit(experiment.params, labels.names, labels.multilabel)
        fixed_labels = protocol.options.fixed_labels
        if fault:
            requirements.append(Requirement(name, "other labels", fault, ends_run=True))
        elif fixed_labels and set(labels.names) != fixed_labels:
            expected = " and ".join(sorted(fixed_labels))
            text = (
                f"two labels, {expected}, for positions by the rubric; on the labels {labels} each"
                " judge votes instead"
            )
            requirements.append(Requirement(name, text))
    if config.labelers:
        rubric = config.rubric or protocol.rubric
        text = f"labels of statements by the rubric {rubric}: {', '.join(config.labelers)}"
        requirements.append(Requirement(name, text))
    return requirements


def _asked_models(plan: Plan, experiment: Experiment) -> Sequence[str]:
    """Return the models of an experiment that are called, not recorded or simulated."""
    names: set[str] = set()
    for model in experiment.config.models:
        names.update(plan.models_in_job(experiment.name, model))
    return sorted(
        name for name in names if not endpoint_traits(plan.config.models[name].endpoint).is_recorded
    )


def _contrast_requirements(plan: Plan) -> list[Requirement]:
    requirements: list[Requirement] = []
    for contrast in plan.contrasts:
        for side in contrast.sides:
            if side.metric != "f1" or side.experiment not in plan.experiments:
                continue
            labels = find_labels(plan, plan.experiments[side.experiment].config.dataset)
            if labels.names and not (len(labels.names) == 2 and labels.positive):
                requirements.append(_missing_positive(contrast, side.experiment, labels))
    return requirements


def _missing_positive(contrast: Contrast, experiment: str, labels: DatasetLabels) -> Requirement:
    fault = (
        f"contrast {contrast.name}: the metric f1 needs two labels, one of them `positive`; the"
        f" labels are {labels}. Use macro_f1."
    )
    return Requirement(experiment, "two labels", fault)
