"""What a run's protocols and contrasts need of models and labels, before any paid call."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from moot.commands.doctor_cases import load_table
from moot.core.artifacts import read_cases
from moot.core.cases import Task
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS

LIKELIHOOD = "likelihood"
CASES = Path("results/cases")


class Requirement(NamedTuple):
    """One thing that an experiment needs and a run may lack.

    Attributes:
        experiment: its name.
        details: the requirement, or why the run does not meet it, with the remedy.
        ends_run: whether the experiment ends the run without it.
    """

    experiment: str
    details: str
    ends_run: bool = False


def list_requirements(plan: Plan) -> Iterator[Requirement]:
    """List what each experiment and contrast of a run needs and may lack."""
    for experiment in plan.experiments.values():
        name, params = experiment.name, experiment.params
        task = find_task(plan, experiment.config.dataset)
        if task:
            misfit = PROTOCOLS[experiment.config.protocol].misfit
            if fault := misfit(params, task.labels, task.multilabel):
                yield Requirement(name, fault, ends_run=True)
        for key, value in sorted(params.model_dump().items()):
            if value == LIKELIHOOD:
                for model in _list_servers(plan, name):
                    details = (
                        f"`{key}: {LIKELIHOOD}` needs log-probabilities of {model}; without them it"
                        " uses stated answers"
                    )
                    yield Requirement(name, details)
    yield from _list_faults_of_contrasts(plan)


def find_task(plan: Plan, dataset: str) -> Task | None:
    """Return the task of a data set by its cases or its table; None if it is not loaded yet."""
    path = CASES / f"{dataset}.parquet"
    try:
        if path.exists():
            return read_cases(path)[1]
        loaded = load_table(plan, dataset)
    except UserError:  # the data's own check reports it
        return None
    return loaded.task if loaded else None


def _list_servers(plan: Plan, experiment: str) -> list[str]:
    """Return the models of an experiment that answer on a server."""
    names: set[str] = set()
    for model in plan.experiments[experiment].config.models:
        names.update(plan.models_in_job(experiment, model))
    models = plan.config.models
    return sorted(name for name in names if endpoint_traits(models[name].endpoint).has_server)


def _list_faults_of_contrasts(plan: Plan) -> Iterator[Requirement]:
    for contrast in plan.contrasts:
        for side in contrast.sides:
            if side.metric != "f1" or side.experiment not in plan.experiments:
                continue
            task = find_task(plan, plan.experiments[side.experiment].config.dataset)
            if task and not (len(task.labels) == 2 and task.positive):
                details = (
                    f"contrast {contrast.name}: the metric f1 needs two labels, one of them"
                    f" `positive`; found {len(task.labels)} labels. Use macro_f1."
                )
                yield Requirement(side.experiment, details)
