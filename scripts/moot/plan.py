"""From configuration to work: every experiment with its parameters checked, its models, shards, files and digests."""

import ast
import fnmatch
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from moot.baselines import select
from moot.config import Config, ExperimentConfig, ModelConfig, parse_config, validation_message, where
from moot.datasets import LOADERS, DatasetOptions, LoadContext
from moot.errors import UserError, unknown_name
from moot.llm.identity import served_as
from moot.prompts import Prompts
from moot.protocols import PROTOCOLS, ProtocolParams

COMPARISON = "comparison"
"""The study whose tables show the experiments of all studies side by side."""


@dataclass(frozen=True)
class Experiment:
    """One experiment of a run, grids expanded, everything named looked up."""

    name: str
    config: ExperimentConfig
    params: ProtocolParams
    study: str
    needs: Mapping[str, str]

    @property
    def seats(self) -> set[str]:
        """The models that speak in it beside the experiment's own."""
        return set(self.params.seats.values())


@dataclass(frozen=True, slots=True)
class ExperimentView:
    """What an experiment's results need to know of its configuration; `params` with all defaults filled in."""

    protocol: str
    dataset: str
    models: tuple[str, ...]
    split: str
    params: Mapping[str, Any]


class Plan:
    """A checked configuration.

    Args:
        config: the configuration.
        shipped: the project's folder, beside the Snakefile.
        files: the files that the configuration was merged from, for messages.

    Raises:
        UserError: one line for each mistake: file, key, what was found, what is known.
    """

    def __init__(self, config: Config, shipped: Path, files: Iterable[Path] = ()) -> None:
        self.config = config
        self.shipped = shipped
        self.files = tuple(files)
        self.prompts = Prompts(Path("config/prompts"), shipped / "config" / "prompts")
        self.experiments = {experiment.name: experiment for experiment in self._experiments()}
        self.datasets = {name: self.dataset_options(name) for name in self._used_datasets()}

    @classmethod
    def from_yaml(cls, raw: Mapping[str, Any], shipped: Path, files: Iterable[Path] = ()) -> "Plan":
        """The plan of a merged configuration, as Snakemake hands it over."""
        files = tuple(files)
        return cls(parse_config(raw, files), shipped, files)

    # Checking

    def _where(self, *location: str) -> str:
        return where(self.files, location)

    def _experiments(self) -> Iterable[Experiment]:
        expanded: dict[str, tuple[str, ExperimentConfig]] = {}
        for name, config in self.config.experiments.items():
            for grid_name, grid_config in expand_grid(name, config):
                expanded[grid_name] = (name, grid_config)
        known, wanted = [*expanded, *self.config.experiments], set[str]()
        for pattern in self.config.run:
            named = fnmatch.filter(known, pattern)
            if not named:
                raise unknown_name("experiment", pattern, known, where=self._where("run"))
            wanted.update(named)
        for name, (entry, config) in expanded.items():
            if not self.config.run or {name, entry} & wanted:
                yield self._experiment(name, entry, config)

    def _experiment(self, name: str, entry: str, config: ExperimentConfig) -> Experiment:
        if config.protocol not in PROTOCOLS:
            raise unknown_name("protocol", config.protocol, PROTOCOLS, self._where("experiments", entry, "protocol"))
        if config.dataset not in self.config.datasets:
            place = self._where("experiments", entry, "dataset")
            raise unknown_name("data set", config.dataset, self.config.datasets, place)
        found = PROTOCOLS[config.protocol]
        try:
            params = found.params.model_validate(dict(config.params))
        except ValidationError as error:
            prefix = ("experiments", entry, "params")
            message = validation_message(error, prefix, self.files, list(found.params.model_fields))
            raise UserError(message) from None
        for model in (*config.models, *params.seats.values()):
            if model not in self.config.models:
                place = self._where("experiments", entry, "models")
                raise unknown_name("model", model, self.config.models, place)
        return Experiment(name, config, params, config.study or found.study, found.needs(params))

    def _used_datasets(self) -> list[str]:
        return sorted({experiment.config.dataset for experiment in self.experiments.values()})

    def dataset_options(self, name: str) -> DatasetOptions:
        """The checked options of a data set."""
        raw = dict(self.config.datasets[name])
        loader = raw.get("loader") or name
        if loader not in LOADERS:
            raise unknown_name("data set loader", loader, LOADERS, self._where("datasets", name))
        options = LOADERS[loader].options
        try:
            checked = options.model_validate(raw)
        except ValidationError as error:
            message = validation_message(error, ("datasets", name), self.files, list(options.model_fields))
            raise UserError(message) from None
        select(checked.baselines, self._where("datasets", name, "baselines"))
        return checked

    def load_context(self, dataset: str) -> LoadContext:
        """What a loader may use."""
        return LoadContext(dataset, Path(self.config.data_root), self.shipped, self.config.seed)

    def local_files(self, dataset: str) -> list[Path]:
        """The user's own files that a data set may be read from; none where it is shipped, generated or downloaded."""
        options = self.datasets[dataset]
        if options.source in ("sample", "synthetic", "shipped", "download"):
            return []
        folder = Path(self.config.data_root) / LOADERS[options.loader or dataset].folder
        below = (path for path in folder.rglob("*") if path.is_file())
        return sorted(path for path in (*below, *options.own_files) if path.is_file())

    # What follows from an experiment

    def models_of(self, experiment: str, model: str) -> dict[str, ModelConfig]:
        """The models that one job of an experiment speaks with, the experiment's own first."""
        names = [model, *sorted(self.experiments[experiment].seats - {model})]
        return {name: self.config.models[name] for name in names}

    def labelling_models(self, experiment: str, model: str) -> set[str]:
        """The models that label an experiment's statements: `judge` is the experiment's own, `judge:NAME` another."""
        labelers = self.experiments[experiment].config.labelers
        return {labeler.partition(":")[2] or model for labeler in labelers if labeler.partition(":")[0] == "judge"}

    def missing_keys(self, models: Iterable[str]) -> list[str]:
        """One message for each of some models whose key is not in the environment; a replay needs none."""
        found = {name: self.config.models[name] for name in sorted(models) if name in self.config.models}
        return [
            f"models.{name}: the environment variable {config.api_key_env} is empty. Set it to the server's API key "
            f"(export {config.api_key_env}=...) and run again; where every reply is in the ledger, `--config "
            "replay=true` needs no key."
            for name, config in found.items()
            if config.endpoint == "openai" and config.api_key_env and not self.config.replay
            if not os.environ.get(config.api_key_env, "").strip()
        ]

    def threads(self, experiment: str, model: str, cores: int) -> int:
        """Processor threads of one job: what the models inside its process are given; one where all are elsewhere."""
        models = self.models_of(experiment, model).values()
        return max(config.threads_within(cores) if config.endpoint == "embedded" else 1 for config in models)

    def jobs_at_once(self, model: str, cores: int) -> int:
        """How many jobs may speak with a model at once.

        One for a server, since a job's event loop uses the model's whole concurrency and so keeps to its limits; for a
        model inside each job's process as many as have the threads that it is given.
        """
        config = self.config.models[model]
        return cores // config.threads_within(cores) if config.endpoint == "embedded" else 1

    def of_study(self, study: str) -> list[Experiment]:
        """The experiments that a study's tables show; those of `comparison` show every experiment."""
        return [found for found in self.experiments.values() if study in (found.study, COMPARISON)]

    def dataset_digest(self, dataset: str) -> str:
        """A digest of all that a data set's artifacts depend on beside its files: options, seed, folder, code."""
        options = self.datasets[dataset]
        content = {
            "options": options.model_dump(mode="json", exclude={"baselines"}),
            "seed": self.config.seed,
            "data_root": self.config.data_root,
            "code": code_digest("moot.load", LOADERS[options.loader or dataset].load.__module__),
        }
        return _digest(content)

    def debate_digest(self, experiment: str, model: str) -> str:
        """A digest of all that a debate job's output depends on beside its files: parameters, prompts, seed, code."""
        found = self.experiments[experiment]
        protocol = PROTOCOLS[found.config.protocol]
        content = {
            "experiment": found.config.model_dump(mode="json", exclude={"study", "labelers", "models"}),
            "models": {
                name: config.model_dump(mode="json", include=_WHAT_REPLIES_DEPEND_ON) | {"server": served_as(config)}
                for name, config in self.models_of(experiment, model).items()
            },
            "seed": self.config.seed,
            "shards": self.config.shards,
            "prompts": self.prompts.digest(*protocol.prompts),
            "code": code_digest("moot.debates", protocol.run.__module__),
        }
        return _digest(content)

    def view(self, experiment: str) -> "ExperimentView":
        """What results need to know of an experiment."""
        found = self.experiments[experiment]
        config = found.config
        params = found.params.model_dump(mode="json")
        return ExperimentView(config.protocol, config.dataset, config.models, config.split, params)

    def score_digest(self, experiment: str) -> str:
        """A digest of what an experiment's scores depend on beside its files."""
        return _digest({"view": asdict(self.view(experiment)), "seed": self.config.seed})

    @cached_property
    def studies(self) -> list[str]:
        """The studies of this run, by name."""
        return sorted({COMPARISON, *(experiment.study for experiment in self.experiments.values())})

    @cached_property
    def with_baselines(self) -> list[str]:
        """The data sets of this run that baselines are trained on."""
        return [name for name, options in self.datasets.items() if options.baselines]

    def baselines_digest(self, dataset: str) -> str:
        """A digest of what a data set's leaderboard depends on beside its files."""
        names = self.datasets[dataset].baselines
        modules = sorted({entry.build.__module__ for entry in select(names)})
        code = code_digest("moot.training.evaluation", "moot.training.storage", *modules)
        return _digest({"baselines": names, "seed": self.config.seed, "code": code})


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


_WHAT_REPLIES_DEPEND_ON = {
    "endpoint",
    "model",
    "temperature",
    "max_tokens",
    "seed",
    "context",
    "structured",
    "reasoning",
    "parameters",
    "price",
}


def expand_grid(name: str, config: ExperimentConfig) -> list[tuple[str, ExperimentConfig]]:
    """An experiment with a grid as one experiment for each combination, named NAME-PARAMETER=VALUE.

    >>> config = ExperimentConfig(protocol="p", dataset="d", models=["m"], grid={"rounds": [1, 2]})
    >>> [grid_name for grid_name, _ in expand_grid("e", config)]
    ['e-rounds=1', 'e-rounds=2']
    """
    if not config.grid:
        return [(name, config)]
    expanded = []
    for values in itertools.product(*config.grid.values()):
        chosen = dict(zip(config.grid, values, strict=True))
        suffix = "-".join(f"{parameter}={str(value).lower()}" for parameter, value in chosen.items())
        params = {**config.params, **chosen}
        expanded.append((f"{name}-{suffix}", config.model_copy(update={"params": params, "grid": {}})))
    return expanded


def modules_of(package: str) -> list[str]:
    """The names of a package and of the modules in it."""
    found = importlib.import_module(package)
    return [package, *(module.name for module in pkgutil.iter_modules(found.__path__, f"{package}."))]


@cache
def _imports(module: str) -> tuple[str, tuple[str, ...]]:
    """A module's source and the modules of moot that it imports."""
    found = importlib.util.find_spec(module)
    if found is None or found.origin is None:
        return "", ()
    source = Path(found.origin).read_text(encoding="utf-8")
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    ours = (name for name in names if name.startswith("moot.") and _is_module(name))
    return source, tuple(sorted(ours))


@cache
def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


@cache
def code_digest(*modules: str) -> str:
    """A digest of modules and of every module of moot that they import, so that a rule reruns when its code changes."""
    seen: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in seen:
            source, imported = _imports(module)
            seen[module] = hashlib.sha256(source.encode()).hexdigest()
            waiting.extend(imported)
    return hashlib.sha256(repr(sorted(seen.items())).encode()).hexdigest()[:16]
