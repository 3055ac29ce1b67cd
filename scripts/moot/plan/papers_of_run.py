"""The papers to which a run belongs, the experiments that repeat theirs, and the user's own."""

from functools import cache
from pathlib import Path

from moot.core.config_errors import Faults
from moot.core.experiment_config import ExperimentConfig
from moot.core.read_config import default_config, merge_over_defaults, read_config
from moot.core.sections import display_only_keys
from moot.core.shipped_files import paper_files
from moot.core.types import JsonObject
from moot.papers.as_published import ExperimentSetting, compare_run
from moot.papers.items import EXAMPLE, items_file, read_papers
from moot.papers.selection import PREFIX as PAPER_PREFIX
from moot.papers.wording import Wordings
from moot.plan.grid_expansion import expand_grid, find_rubric, templates_used
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from moot.protocols.experiment import Experiment
from moot.report.study_results import PaperMatch, PaperMatches

REAL_SOURCES = ("local", "download")


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
    designs = designs_of(plan)
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


def compare_with_papers(plan: Plan) -> PaperMatches:
    """Compare the runs and data sets of a plan with the papers' designs.

    A control is never as published.

    The plan stores the result, so that its jobs do not compute it again.
    """
    if plan.paper_matches is None:
        plan.paper_matches = _match_papers(plan)
    return plan.paper_matches


def _match_papers(plan: Plan) -> PaperMatches:
    if plan.config.rehearsal:
        return PaperMatches()  # no published value is shown next to a rehearsal
    paper = designs_of(plan)
    our_settings, settings_of_paper = _SettingsOfPlan(plan), _SettingsOfPlan(paper)
    examples = experiments_of_examples(plan.shipped)
    paper_settings = {
        name: settings_of_paper[name] for name in paper.experiments if name not in examples
    }
    runs: dict[tuple[str, str], PaperMatch] = {}
    for name, experiment in plan.experiments.items():
        if experiment.config.control:
            continue
        for model in experiment.config.models:
            runs[name, model] = compare_run(
                our_settings[name], model, plan.config.models, paper_settings, paper.config.models
            )
    paper_datasets = {name: _dataset_values(paper, name) for name in paper.datasets_used}
    datasets: dict[str, PaperMatch] = {}
    for name in plan.datasets_used:
        values = _dataset_values(plan, name)
        equal_names = [
            f"baselines/{paper_name}"
            for paper_name, paper_values in paper_datasets.items()
            if paper_values == values
        ]
        datasets[name] = PaperMatch(tuple(equal_names))
    return PaperMatches(runs, datasets)


def experiments_of_examples(shipped: Path) -> set[str]:
    """Return the experiments of single cases, which repeat no published value."""
    names: set[str] = set()
    for paper in read_papers(items_file(shipped)).values():
        for item in paper.items:
            names.update(item.experiments if item.kind == EXAMPLE else ())
    return names


def designs_of(plan: Plan) -> Plan:
    """Return the plan of the papers' designs, which the plan of a run stores for its jobs."""
    designs = plan.designs or paper_plan(plan.shipped)
    if designs is not plan:
        plan.designs = designs
    return designs


@cache
def paper_plan(shipped: Path) -> Plan:
    """Return the plan of the papers' designs with the shipped catalogue of models.

    `shipped` is the project's folder.
    """
    files = [shipped / "config" / "models.yaml", *paper_files(shipped)]
    raw = merge_over_defaults({"seed": 0}, files)
    return Plan(read_config(raw, files, Faults()), shipped)


_wordings = cache(Wordings)


class _SettingsOfPlan:
    """The settings of a plan's experiments, each computed once."""

    def __init__(self, plan: Plan) -> None:
        self._configs: dict[str, ExperimentConfig] = {}
        for entry, config in plan.config.experiments.items():
            self._configs |= expand_grid(entry, config)
        self._plan = plan
        self._settings: dict[str, ExperimentSetting] = {}

    def __getitem__(self, name: str) -> ExperimentSetting:
        if name not in self._settings:
            self._settings[name] = self._setting(self._configs[name])
        return self._settings[name]

    def _setting(self, config: ExperimentConfig) -> ExperimentSetting:
        protocol = PROTOCOLS[config.protocol]
        params = protocol.params.model_validate(dict(config.params))
        resolved: JsonObject = params.model_dump(mode="json")
        for name in protocol.params.experiment_fields:
            if (source := resolved.get(name)) in self._configs:
                resolved[name] = _dump_setting(self[source])
        dataset = _dataset_values(self._plan, config.dataset)
        wording_key = (config.protocol, str(dataset["loader"]))
        prompts = self._plan.templates(
            config.prompts, *templates_used(config, find_rubric(config, self._plan.config.rubrics))
        )
        wordings = _wordings(self._plan.shipped)
        wording = wordings.classify(prompts, *wording_key, *protocol.prompts)
        has_our_texts = self._plan.datasets[config.dataset].is_paraphrase
        return ExperimentSetting(config, resolved, dataset, wording, has_our_texts)


def _dump_setting(setting: ExperimentSetting) -> JsonObject:
    """Return the values of an experiment whose debates another one reads, without its name."""
    fields = {"protocol", "split", "cases", "repeats", "calibration_cases"}
    values = setting.config.model_dump(mode="json", include=fields)
    return {**values, "params": dict(setting.params), "dataset": dict(setting.dataset)}


def _dataset_values(plan: Plan, name: str) -> JsonObject:
    options = plan.datasets[name]
    # No paper says whether it rebalances: values of both ways stand beside its own.
    other_keys = {"baselines", "rebalance", *display_only_keys("dataset")}
    values = options.model_dump(mode="json", exclude=other_keys)
    source = "published" if options.source in REAL_SOURCES else options.source
    return {**values, "loader": options.loader or name, "source": source}
