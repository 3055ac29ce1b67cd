"""From entries of a configuration to experiments: grids expanded, derived ones added, everything
named looked up.
"""

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.errors import UnknownNameError, UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig
from moot.core.model_config import MAX_NAME_CHARS
from moot.core.places import Faults, describe_location, validation_message
from moot.core.rubric import RUBRICS, Rubric
from moot.datasets import LOADERS
from moot.hooks import analyses
from moot.labels import HUMAN, JUDGE, LABELERS, RULES
from moot.llm.prompts import Prompts
from moot.plan.entries import expand, labelling_templates, rubric_of, templates_used
from moot.protocols import PROTOCOLS
from moot.protocols.controls import CONTROLS, control_params
from moot.protocols.experiment import Experiment
from moot.protocols.people import check_seats


def artifact_files(path: str, shards: int) -> list[str]:
    """The files below `results/` of an artifact that something needs; transcripts are one file a
    shard.
    """
    numbers = range(shards) if path.startswith("transcripts/") else ()
    return [f"{path}/{shard}.parquet" for shard in numbers] or [path]


class ExperimentReader:
    """Reads the experiments of a configuration.

    Args:
        config: the configuration.
        files: the files that it was merged from, for messages.
        templates: the prompt templates that a folder (none: "") and prefixes of names mean.
        faults: what is found wrong with entries, which are left out.
    """

    def __init__(
        self,
        config: Config,
        files: Iterable[Path],
        templates: Callable[..., Prompts],
        faults: Faults,
    ) -> None:
        self._faults = faults
        self._config = config
        self._files = tuple(files)
        self._templates = templates

    @cached_property
    def expanded(self) -> dict[str, tuple[str, ExperimentConfig]]:
        """Every experiment, also those outside of this run, grids expanded, with the name of its
        entry.
        """
        expanded: dict[str, tuple[str, ExperimentConfig]] = {}
        for name, config in self._config.experiments.items():
            try:
                found = expand(name, config, self._where)
            except UserError as fault:
                self._faults.add(str(fault))
                continue
            for full_name, full_config in found:
                if full_name in expanded:
                    place = self._where("experiments", name, "grid")
                    self._faults.add(
                        f"{place}: two experiments called '{full_name}'. Rename one of the values."
                    )
                if len(full_name) > MAX_NAME_CHARS:  # of a folder; a derived one is longer
                    place = self._where("experiments", name)
                    self._faults.add(
                        f"{place}: the name '{full_name[:40]}...' has {len(full_name)} characters,"
                        f" too many for a folder; expected at most {MAX_NAME_CHARS}. Shorten the"
                        " experiment's name or the grid's values."
                    )
                expanded[full_name] = (name, full_config)
        return expanded

    def read(self) -> Iterator[Experiment]:
        """Those of this run."""
        expanded = self.expanded
        derived = self.derived_names
        wanted = self._wanted([*expanded, *self._config.experiments, *derived])
        for name, (entry, config) in expanded.items():
            unnamed = not self._config.run and not (
                config.trial_on_request and self._config.is_trial(config)
            )
            at_hand = (
                not config.needs_data or (Path(self._config.data_root) / config.needs_data).exists()
            )
            chosen = {name, entry} & (wanted if at_hand else set(self._config.run))
            everything = bool(chosen) or (unnamed and at_hand)
            if not everything and not any(
                base == name and control in wanted for control, base in derived.items()
            ):
                continue
            found = self._read_or_note(name, entry, config)
            if found is None:
                continue
            if everything:
                yield found
            for analysis in analyses():
                for control, control_config in analysis.derive_experiments(
                    name, config, found.params
                ):
                    if everything or control in wanted:
                        experiment = self._read_or_note(control, entry, control_config)
                        if experiment:
                            yield experiment

    @cached_property
    def derived_names(self) -> dict[str, str]:
        """The names of experiments that analyses derive, each with the name of its base."""
        names: dict[str, str] = {}
        for name, (_, config) in self.expanded.items():
            for analysis in analyses():
                names |= dict.fromkeys(analysis.derived_names(name, config), name)
        return names

    def _wanted(self, known: Sequence[str]) -> set[str]:
        """The names that `run` means."""
        wanted = set[str]()
        for pattern in self._config.run:
            named = fnmatch.filter(known, pattern)
            with self._faults.noting():
                if not named:
                    raise unknown_name("experiment", pattern, known, location=self._where("run"))
            wanted.update(named)
        return wanted

    def _read_or_note(self, name: str, entry: str, config: ExperimentConfig) -> Experiment | None:
        """An experiment; None where something is wrong with it, all of which is noted."""
        before = self._faults.count
        with self._faults.noting():
            self._check_names(entry, config)
            found = self._read_one(name, entry, config)
            if self._faults.count == before:
                return found
        self._faults.broken |= {name, entry}
        return None

    def _check_names(self, entry: str, config: ExperimentConfig) -> None:
        """Note data, models and labelers that nothing carries."""
        labelers = {RULES, JUDGE, HUMAN, *LABELERS}
        judges = [
            judge for judge in (labeler.partition(":")[2] for labeler in config.labelers) if judge
        ]
        named: list[tuple[str, str, str, Collection[str]]]
        named = [("data set", "dataset", config.dataset, self._config.datasets)]
        named += [("model", "models", model, self._config.models) for model in config.models]
        named += [("model", "labelers", judge, self._config.models) for judge in judges]
        named += [
            ("labeler", "labelers", labeler.partition(":")[0], labelers)
            for labeler in config.labelers
        ]
        for kind, key, name, known in named:
            with self._faults.noting():
                if name not in known:
                    raise unknown_name(kind, name, known, self._where("experiments", entry, key))

    def _read_one(self, name: str, entry: str, config: ExperimentConfig) -> Experiment:
        if config.protocol not in PROTOCOLS:
            raise unknown_name(
                "protocol",
                config.protocol,
                PROTOCOLS,
                self._where("experiments", entry, "protocol"),
            )
        found = PROTOCOLS[config.protocol]
        try:
            params = found.params.model_validate(dict(config.params))
        except ValidationError as error:
            prefix = ("experiments", entry, "params")
            message = validation_message(error, prefix, self._files, found.params)
            raise UserError(message) from None
        with self._faults.noting():
            place = self._where("experiments", entry, "params", "seats")
            check_seats(params.seats, found.seats(params), self._config.models, place)
        rubric = self._rubric(entry, config)
        try:
            prompts = self._templates(config.prompts, *templates_used(config, rubric))
        except UserError as error:
            raise UserError(f"{self._where('experiments', entry, 'prompts')}: {error}") from None
        with self._faults.noting():
            for template in labelling_templates(config, rubric):
                if f"{template}.jinja" not in prompts.sources(template):
                    asked = self._where("rubrics", config.rubric, "prompt")
                    raise UserError(
                        f"{asked}: no template {template}.jinja below config/prompts. Write it."
                    )
        loader = str(self._config.datasets.get(config.dataset, {}).get("loader") or config.dataset)
        labels = LOADERS[loader].labels if loader in LOADERS else ()
        for analysis in analyses():
            analysis.check_experiment(
                name, config, params, labels, lambda key: self._where("experiments", entry, key)
            )
        if config.arm and config.arm not in CONTROLS:
            place = self._where("experiments", entry, "arm")
            raise unknown_name("control arm", config.arm, CONTROLS, place)
        params, control_needs = control_params(config, params)
        needs = {
            f"{key}_{number}" if number else key: file
            for key, path in {**found.needs(params), **control_needs}.items()
            for number, file in enumerate(artifact_files(path, self._config.shards))
        }
        return Experiment(name, config, params, config.study or found.study, needs, prompts)

    def _rubric(self, entry: str, config: ExperimentConfig) -> Rubric | None:
        """By what an experiment's statements are labelled; what does not fit its labelers is noted."""
        place = self._where("experiments", entry, "rubric" if config.rubric else "labelers")
        with self._faults.noting():
            try:
                rubric = rubric_of(config, self._config.rubrics)
            except UnknownNameError as error:
                raise UnknownNameError(f"{place}: {error}", error.name) from None
            if config.labelers and rubric is None:
                raise UserError(
                    f"{place}: the protocol '{config.protocol}' has no rubric by which statements"
                    " are labelled. Name one with `rubric` (known:"
                    f" {', '.join([*self._config.rubrics, *RUBRICS])}), write one under `rubrics`,"
                    " or leave `labelers` out."
                )
            if config.rubric and not config.labelers:
                raise UserError(
                    f"{place}: no labeler uses it; name one: `labelers: [human]`, or leave it out."
                )
            if rubric and RULES in config.labelers and not rubric.has_rules:
                raise UserError(
                    f"{self._where('experiments', entry, 'labelers')}: the rubric has no `rules`."
                    f" Write some under `rubrics.{config.rubric}.rules`, or leave '{RULES}' out."
                )
            return rubric
        return None

    def _where(self, *location: str) -> str:
        return describe_location(self._files, location)
