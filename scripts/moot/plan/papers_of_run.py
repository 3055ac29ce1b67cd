"""The papers to which a run belongs, and the experiments that are the user's own."""

from functools import cache

from moot.core.read_config import default_config
from moot.papers.items import items_file, read_papers
from moot.papers.selection import PREFIX as PAPER_PREFIX
from moot.plan.as_published import paper_plan
from moot.plan.grid_expansion import expand_grid
from moot.plan.plan import Plan
from moot.protocols.experiment import Experiment


def own_experiments(plan: Plan) -> frozenset[str]:
    """Return the experiments of a run that are neither in the default configuration nor in a
    paper's, nor derived from one of them.

    Grids and controls derive experiments from an entry.
    """
    shipped = default_config(plan.shipped)["experiments"]
    entries = plan.config.experiments
    shipped_names: set[str] = set()
    for entry in shipped.keys() & entries.keys():
        shipped_names.update(dict(expand_grid(entry, entries[entry])))
    names: set[str] = set()
    for name, experiment in plan.experiments.items():
        base = name if name in entries else experiment.config.control_of or name
        if base not in shipped_names and not base.startswith(PAPER_PREFIX):
            names.add(name)
    return frozenset(names)


def has_own_experiments(plan: Plan) -> bool:
    """Return whether a run has an experiment of the user's own (`own_experiments`)."""
    return bool(own_experiments(plan))


def own_contrasts(plan: Plan) -> frozenset[str]:
    """Return the contrasts of a run that the default configuration does not plan."""
    shipped = default_config(plan.shipped)["contrasts"]
    return frozenset(plan.config.contrasts.keys() - shipped.keys())


@cache
def papers_of_run(plan: Plan) -> frozenset[str]:
    """Return the papers to which an experiment of a run belongs.

    An experiment belongs to the paper of its study if its data set has a loader that the paper's
    experiments use or, for a shipped experiment, a loader of a shipped data set.
    """
    own_names = own_experiments(plan)
    shipped_datasets = default_config(plan.shipped)["datasets"]
    shipped_loaders = {entry.get("loader") or name for name, entry in shipped_datasets.items()}
    designs = paper_plan(plan.shipped)
    papers: set[str] = set()
    for paper in read_papers(items_file(plan.shipped)).values():
        loaders = {
            _loader_of(designs, experiment)
            for experiment in designs.experiments.values()
            if experiment.study in paper.studies
        }
        for name, experiment in plan.experiments.items():
            possible_loaders = loaders if name in own_names else loaders | shipped_loaders
            is_of_paper = _loader_of(plan, experiment) in possible_loaders
            if experiment.study in paper.studies and is_of_paper:
                papers.add(paper.name)
    return frozenset(papers)


def _loader_of(plan: Plan, experiment: Experiment) -> str:
    dataset = experiment.config.dataset
    return plan.datasets[dataset].loader or dataset
