"""The papers to which a run belongs, the experiments that repeat theirs, and the user's own."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from moot.core.config_errors import Faults
from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.read_config import default_config, merge_over_defaults, read_config
from moot.core.sections import display_only_keys
from moot.core.shipped_files import paper_files
from moot.core.types import JsonObject
from moot.papers.as_published import ExperimentSetting, compare_run
from moot.papers.items import EXAMPLE, Paper, items_file, read_papers
from moot.papers.parts import Design
from moot.papers.selection import PREFIX as PAPER_PREFIX
from moot.papers.wording import Wordings
from moot.plan.grid_expansion import expand_grid, find_rubric, templates_used
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from moot.protocols.experiment import Experiment
from moot.report.study_results import PaperMatch, PaperMatches

REAL_SOURCES = ("local", "download")
SAMPLE = "sample"


def own_experiments(plan: Plan) -> frozenset[str]:
    """Return the experiments of a run that are neither shipped nor derived from shipped ones.

    Shipped ones are in the default configuration or in a paper's. Grids and controls derive
    experiments from an entry.
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
    designs = designs_of(plan).values()
    papers: set[str] = set()
    for paper in read_papers(items_file(plan.shipped)).values():
        loaders = {design.view.loader for design in designs if design.study in paper.studies}
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
    designs, our_settings = designs_of(plan), _SettingsOfPlan(plan)
    examples = experiments_of_examples(plan.shipped)
    paper_settings = {
        name: design.setting for name, design in designs.items() if name not in examples
    }
    paper_models: dict[str, ModelConfig] = {}
    for design in designs.values():
        paper_models |= design.models
    runs: dict[tuple[str, str], PaperMatch] = {}
    for name, experiment in plan.experiments.items():
        if experiment.config.control:
            continue
        for model in experiment.config.models:
            runs[name, model] = compare_run(
                our_settings[name], model, plan.config.models, paper_settings, paper_models
            )
    paper_datasets = {design.view.dataset: design.setting.dataset for design in designs.values()}
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


@dataclass(frozen=True)
class PaperRun:
    """What the page of a paper needs of a run.

    Attributes:
        designs: The experiments of all papers, by name.
        experiments: The run's experiments of the paper's studies, trial runs last, by name.
        models: The run's entries of models.
    """

    paper: Paper
    designs: Mapping[str, Design]
    experiments: Mapping[str, Design]
    models: Mapping[str, ModelConfig]
    matches: PaperMatches
    seed: int
    shipped: Path
    is_rehearsal: bool


def view_paper(plan: Plan, paper: Paper) -> PaperRun:
    """Return what the page of a paper needs of a plan."""
    designs = designs_of(plan)
    datasets = [design.setting.dataset for design in designs.values()]
    samples = {values["loader"] for values in datasets if values["source"] == SAMPLE}
    settings = _SettingsOfPlan(plan)
    experiments: dict[str, Design] = {}
    for study in paper.studies:
        for entry in (*plan.experiments_of(study), *plan.trials_of(study)):
            design = _design(plan, entry, settings[entry.name], is_of_run=True)
            if design.setting.dataset["source"] == SAMPLE and design.view.loader in samples:
                # A sample that is the paper's own data is not made up.
                made_up = replace(design.view.made_up, data=())
                design = replace(design, view=replace(design.view, made_up=made_up))
            experiments[entry.name] = design
    config, matches = plan.config, compare_with_papers(plan)
    return PaperRun(
        *(paper, designs, experiments, config.models, matches),
        *(config.seed, plan.shipped, config.rehearsal),
    )


def designs_of(plan: Plan) -> Mapping[str, Design]:
    """Return the papers' designs, which the plan of a run stores for its jobs."""
    if plan.designs is None:
        plan.designs = read_designs(plan.shipped)
    return plan.designs


@cache
def read_designs(shipped: Path) -> Mapping[str, Design]:
    """Return the papers' experiments by name; `shipped` is the project's folder."""
    plan = paper_plan(shipped)
    settings = _SettingsOfPlan(plan)
    return {
        name: _design(plan, entry, settings[name], is_of_run=False)
        for name, entry in plan.experiments.items()
    }


def _design(
    plan: Plan, experiment: Experiment, setting: ExperimentSetting, is_of_run: bool
) -> Design:
    name, entries = experiment.name, plan.config.models
    voices = dict.fromkeys((*experiment.config.models, *sorted(experiment.seats)))
    models = {voice: entries[voice] for voice in voices if voice in entries}
    view, prompts = plan.view(name), experiment.prompts
    return Design(name, experiment.study, view, setting, prompts, models, is_of_run)


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
        for name, experiment in plan.experiments.items():
            self._configs.setdefault(name, experiment.config)  # an analysis derived it
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
