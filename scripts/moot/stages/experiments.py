"""From entries of a configuration to experiments: grids expanded, control arms added, everything named looked up."""

import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config, ExperimentConfig, validation_message, where
from moot.core.errors import UserError, unknown_name
from moot.datasets import LOADERS
from moot.labels import HUMAN, JUDGE, LABELERS
from moot.llm.prompts import Prompts
from moot.protocols import PROTOCOLS, ProtocolParams
from moot.protocols.arms import arm_name
from moot.protocols.people import check_seats, is_person
from moot.stages.arms import arm_configs, check_arms, full_experiment, with_arm
from moot.stages.entries import expand_grid, templates_used


@dataclass(frozen=True)
class Experiment:
    """One experiment of a run, grids expanded, everything named looked up."""

    name: str
    config: ExperimentConfig
    params: ProtocolParams
    study: str
    needs: Mapping[str, str]
    prompts: Prompts

    def needed_by(self, model: str) -> dict[str, str]:
        """The artifacts below `results/` that the debates of one of its models need first, by name."""
        return {name: path.format(model=model, dataset=self.config.dataset) for name, path in self.needs.items()}

    @property
    def seats(self) -> set[str]:
        """The models that speak in it beside the experiment's own."""
        return {voice for voice in self.params.seats.values() if not is_person(voice)}

    @property
    def people(self) -> set[str]:
        """The people who sit in it: `person`, or `person:NAME`."""
        return set(self.params.seats.values()) - self.seats


def artifact_files(path: str, shards: int) -> list[str]:
    """The files below `results/` of an artifact that something needs; transcripts are one file a shard."""
    numbers = range(shards) if path.startswith("transcripts/") else ()
    return [f"{path}/{shard}.parquet" for shard in numbers] or [path]


class ExperimentReader:
    """Reads the experiments of a configuration.

    Args:
        config: the configuration.
        files: the files that it was merged from, for messages.
        prompts: the prompt templates.
    """

    def __init__(self, config: Config, files: Iterable[Path], prompts: Prompts) -> None:
        self._config = config
        self._files = tuple(files)
        self._prompts = prompts
        self.templates = cache(self._templates)

    @cached_property
    def expanded(self) -> dict[str, tuple[str, ExperimentConfig]]:
        """Every experiment, also those outside of this run, grids expanded, with the name of its entry."""
        expanded: dict[str, tuple[str, ExperimentConfig]] = {}
        for name, config in self._config.experiments.items():
            for grid_name, grid_config in expand_grid(name, config):
                if grid_name in expanded:
                    place = self._where("experiments", name, "grid")
                    raise UserError(f"{place}: two experiments called '{grid_name}'. Rename one of the values.")
                expanded[grid_name] = (name, grid_config)
        return expanded

    def read(self) -> Iterator[Experiment]:
        """Those of this run."""
        expanded = self.expanded
        arms = {arm_name(name, arm): name for name, (_, config) in expanded.items() for arm in config.arms}
        wanted = self._wanted([*expanded, *self._config.experiments, *arms])
        for name, (entry, config) in expanded.items():
            everything = not self._config.run or bool({name, entry} & wanted)
            if not everything and not any(full == name and arm in wanted for arm, full in arms.items()):
                continue
            found = self._read_one(name, entry, config)
            if everything:
                yield found
            for arm, arm_config in arm_configs(full_experiment(name, config, found.params), config):
                if everything or arm in wanted:
                    yield self._read_one(arm, entry, arm_config)

    def _wanted(self, known: Sequence[str]) -> set[str]:
        """The names that `run` means."""
        wanted = set[str]()
        for pattern in self._config.run:
            named = fnmatch.filter(known, pattern)
            if not named:
                raise unknown_name("experiment", pattern, known, where=self._where("run"))
            wanted.update(named)
        return wanted

    def _read_one(self, name: str, entry: str, config: ExperimentConfig) -> Experiment:
        if config.protocol not in PROTOCOLS:
            raise unknown_name("protocol", config.protocol, PROTOCOLS, self._where("experiments", entry, "protocol"))
        if config.dataset not in self._config.datasets:
            place = self._where("experiments", entry, "dataset")
            raise unknown_name("data set", config.dataset, self._config.datasets, place)
        found = PROTOCOLS[config.protocol]
        try:
            params = found.params.model_validate(dict(config.params))
        except ValidationError as error:
            prefix = ("experiments", entry, "params")
            message = validation_message(error, prefix, self._files, list(found.params.model_fields))
            raise UserError(message) from None
        labelers = {JUDGE, HUMAN, "rules", *LABELERS.extensions}
        for labeler in config.labelers:
            if labeler.partition(":")[0] not in labelers:
                raise unknown_name("labeler", labeler, labelers, self._where("experiments", entry, "labelers"))
        judges = [judge for judge in (labeler.partition(":")[2] for labeler in config.labelers) if judge]
        place = self._where("experiments", entry, "params", "seats")
        check_seats(params.seats, found.seats(params), self._config.models, place)
        for key, models in (("models", config.models), ("labelers", judges)):
            for model in models:
                if model not in self._config.models:
                    raise unknown_name("model", model, self._config.models, self._where("experiments", entry, key))
        try:
            prompts = self.templates(config.prompts, *templates_used(config))
        except UserError as error:
            raise UserError(f"{self._where('experiments', entry, 'prompts')}: {error}") from None
        full = full_experiment(config.of or name, config, params)
        loader = self._config.datasets[config.dataset].get("loader") or config.dataset
        labels = LOADERS[loader].labels if loader in LOADERS else ()
        check_arms(full, config, labels, self._where("experiments", entry))
        params, held = with_arm(full, config.arm)
        needs = {
            f"{key}_{number}" if number else key: file
            for key, path in {**found.needs(params), **held}.items()
            for number, file in enumerate(artifact_files(path, self._config.shards))
        }
        return Experiment(name, config, params, config.study or found.study, needs, prompts)

    def _templates(self, folder: str, *names: str) -> Prompts:
        """The prompt templates, single ones replaced by those of a folder; `names` are prefixes of those used."""
        return self._prompts.overlaid(Path(folder), *names) if folder else self._prompts

    def _where(self, *location: str) -> str:
        return where(self._files, location)
