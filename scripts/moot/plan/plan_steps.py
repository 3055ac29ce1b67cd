"""The steps from a configuration to a plan: each checks one part, or derives it from earlier ones.

A step notes faults and leaves the faulty part out, so that one run reports all mistakes.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.config_errors import Faults, describe_location, validation_message
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig
from moot.core.extensions import load_extensions
from moot.core.registry import REGISTRIES
from moot.core.rubric import RUBRICS
from moot.core.shipped_files import prompt_folders
from moot.datasets import LOADERS, DatasetOptions
from moot.hooks import analyses
from moot.llm.prompts import Prompts
from moot.protocols.experiment import Experiment
from moot.training.baselines import select

Files = Sequence[Path]
"""The configuration's files, for messages."""


def add_experiments_of_analyses(config: Config, faults: Faults) -> Config:
    """Return the configuration with the experiments that analyses add to it."""
    experiments: dict[str, ExperimentConfig] = {}
    for analysis in analyses():
        experiments |= analysis.add_experiments(config, faults)
    return config.model_copy(update={"experiments": {**config.experiments, **experiments}})


# Prompts and rubrics


class PromptOverlays:
    """The prompt templates of a run, and variants with some templates replaced by a folder's."""

    def __init__(self, prompts: Prompts) -> None:
        self._variants: dict[tuple[str, ...], Prompts] = {(): prompts}

    def select(self, folder: str, *names: str) -> Prompts:
        """Return the templates, some of them replaced by templates of a folder.

        Args:
            folder: the folder; "" for the unchanged templates.
            names: prefixes of the templates used.
        """
        key = (folder, *names) if folder else ()
        if key not in self._variants:
            self._variants[key] = self._variants[()].overlaid(Path(folder), *names)
        return self._variants[key]


def load_prompts(config: Config, shipped: Path, files: Files, faults: Faults) -> Prompts:
    """Load the prompt templates: of the user's folder, of extensions, and of moot.

    Raises:
        UserError: an extension cannot be imported. All faults so far are reported, since the
            entries of the extension are unknown.
    """
    extension_folders: list[Path] = []
    try:
        extension_folders += load_extensions(config.extensions)
        _import_entries_beside_extensions()
    except UserError as error:
        faults.add(f"{describe_location(files, ('extensions',))}: {error}")
        faults.check()
    folders = [folder / "prompts" for folder in extension_folders]
    return Prompts(Path("config/prompts"), *folders, *prompt_folders(shipped))


def _import_entries_beside_extensions() -> None:
    """Import the registries that extensions add to, in order to find duplicate names."""
    for registry in REGISTRIES:
        if registry.extensions:
            list(registry)


def check_analyses(config: Config, files: Files, faults: Faults) -> None:
    """Note names in `leave_out` that are no analysis."""
    folders = (Path(__file__).parents[1] / "analyses").glob("*/__init__.py")
    names = sorted(file.parent.name for file in folders)
    for name in config.leave_out:
        if name not in names:
            place = describe_location(files, ("leave_out",))
            faults.add(str(unknown_name("analysis", name, names, place)))


def check_rubrics(config: Config, files: Files, faults: Faults) -> None:
    """Note the faults in the rubrics of the configuration and of extensions."""
    for name, rubric in config.rubrics.items():
        if name in RUBRICS:
            place = describe_location(files, ("rubrics", name))
            faults.add(f"{place}: this rubric exists already. Give yours another name.")
        for key, problem in rubric.problems():
            faults.add(f"{describe_location(files, ('rubrics', name, *key))}: {problem}")
    for name, module in RUBRICS.extensions.items():
        for key, problem in RUBRICS[name].problems():
            faults.add(f"{module}: rubric {name}: {'.'.join(key)}: {problem}")


# Data sets


def read_datasets(config: Config, files: Files, faults: Faults) -> dict[str, DatasetOptions]:
    """Return the checked options of each data set by name."""
    datasets: dict[str, DatasetOptions] = {}
    for name in config.datasets:
        with faults.noting():
            datasets[name] = read_dataset_options(config, name, files)
        if name not in datasets:
            faults.broken.add(name)
    return datasets


def read_dataset_options(config: Config, name: str, files: Files) -> DatasetOptions:
    """Return the checked options of a data set.

    Raises:
        UserError: the loader, an option or a baseline is unknown, or an option is invalid.
    """
    raw = dict(config.datasets[name])
    loader = str(raw.get("loader") or name)
    if loader not in LOADERS:
        place = describe_location(files, ("datasets", name))
        raise unknown_name("data set loader", loader, LOADERS, place)
    model = LOADERS[loader].options
    try:
        options = model.model_validate(raw)
    except ValidationError as error:
        raise UserError(validation_message(error, ("datasets", name), files, model)) from None
    select(options.baselines, lambda: describe_location(files, ("datasets", name, "baselines")))
    return options


def artifacts_of_dataset(datasets: Mapping[str, DatasetOptions], name: str) -> dict[str, str]:
    """Return the artifacts below `results/` that a data set is made from, by option."""
    options = datasets[name]
    return dict(LOADERS[options.loader or name].needs(options))


def check_dataset_source(
    name: str,
    datasets: Mapping[str, DatasetOptions],
    experiments: Mapping[str, Experiment],
    files: Files,
    derived_names: tuple[str, ...] = (),
) -> None:
    """Check the experiments whose debates a data set is made from.

    Args:
        name: the data set. If its options are faulty, it is skipped, since that is noted elsewhere.
        datasets: options of each data set by name.
        experiments: of this run, by name.
        files: of the configuration.
        derived_names: data sets that are made from this one.

    Raises:
        UserError: such an experiment is not part of this run, or argues over the data set itself.
    """
    if name not in datasets:
        return
    for option in artifacts_of_dataset(datasets, name):
        experiment, _, model = getattr(datasets[name], option).partition("/")
        place = describe_location(files, ("datasets", name, option))
        source_dataset = find_source(experiment, model, experiments, place, place).dataset
        if source_dataset in (*derived_names, name):
            raise UserError(
                f"{place}: experiment '{experiment}' argues over '{source_dataset}', which is "
                "made from its debates."
            )
        check_dataset_source(source_dataset, datasets, experiments, files, (*derived_names, name))


def find_source(
    name: str,
    model: str,
    experiments: Mapping[str, Experiment],
    experiment_place: str,
    model_place: str,
) -> ExperimentConfig:
    """Return the entry of an experiment whose debates something else reads.

    Raises:
        UserError: the experiment is not part of this run, or not with this model.
    """
    if name not in experiments:
        raise unknown_name("experiment of this run", name, experiments, experiment_place)
    config = experiments[name].config
    if model not in config.models:
        raise unknown_name(f"model of experiment '{name}'", model, config.models, model_place)
    return config


# Experiments that read debates of other experiments

_FOLDERS_OF_SOURCES = ("transcripts/", "assistants/")
"""Folders of `results/` whose files each belong to the debates of one experiment and model."""


def check_sources(experiments: Mapping[str, Experiment], files: Files, faults: Faults) -> None:
    """Note experiments whose source experiments are missing, have other data, or form a circle."""
    sources: dict[str, set[str]] = {}
    for experiment in experiments.values():
        pairs = _source_pairs(experiment)
        sources[experiment.name] = {name for name, _ in pairs}
        with faults.noting():
            _check_source_pairs(experiment, pairs, experiments, files)
    circle = _find_circle(sources)
    if circle:
        key = "control_of" if experiments[circle[0]].config.control_of else "params"
        place = describe_location(files, ("experiments", circle[0], key))
        faults.add(f"{place}: {_describe_circle(circle)}. Remove one of the references.")


def _describe_circle(names: list[str]) -> str:
    quoted_names = [f"'{name}'" for name in names]
    if len(names) == 1:
        return f"{quoted_names[0]} depends on its own debates"
    return f"circular dependency between {' and '.join(quoted_names)}"


def _source_pairs(experiment: Experiment) -> set[tuple[str, str]]:
    """Return the experiments and models whose debates an experiment depends on."""
    config = experiment.config
    pairs: set[tuple[str, str]] = set()
    for model in config.models:
        if config.control_of:
            pairs.add((config.control_of, model))
        for path in experiment.needed_by(model).values():
            if path.startswith(_FOLDERS_OF_SOURCES):
                _, source_name, source_model = path.split("/")[:3]
                pairs.add((source_name, source_model))
    return pairs


def _check_source_pairs(
    experiment: Experiment,
    pairs: set[tuple[str, str]],
    experiments: Mapping[str, Experiment],
    files: Files,
) -> None:
    """Raise `UserError` for a source that is not in this run, or has another data set."""
    for name, model in sorted(pairs):
        source_place, model_place = (
            describe_location(files, ("experiments", experiment.name, *key))
            for key in _source_keys(experiment, name)
        )
        dataset = find_source(name, model, experiments, source_place, model_place).dataset
        if dataset != experiment.config.dataset:
            raise UserError(
                f"{source_place}: experiment '{name}' is about data set '{dataset}', "
                f"'{experiment.name}' about '{experiment.config.dataset}'; expected the same."
            )


def _source_keys(experiment: Experiment, source: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the keys of an experiment that name a source experiment and its model."""
    if experiment.config.control_of:
        return ("control_of",), ("models",)
    params = dict(experiment.params)
    key = next((key for key, value in params.items() if value == source), "source_experiment")
    return ("params", key), ("params", "source_model") if "source_model" in params else ("models",)


def _find_circle(sources: Mapping[str, set[str]]) -> list[str]:
    """Return the names that depend on each other in a circle, sorted."""
    remaining = dict(sources)
    while free := [name for name in remaining if not remaining[name] & remaining.keys()]:
        for name in free:
            del remaining[name]
    return sorted(set(chain.from_iterable(remaining.values())) & remaining.keys())
