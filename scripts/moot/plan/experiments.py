"""From entries of a configuration to experiments.

Grids are expanded, derived experiments are added, and all names are resolved.
"""

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.config_errors import Faults, describe_location, validation_message
from moot.core.errors import UnknownNameError, UserError, unknown_name
from moot.core.experiment_config import ExperimentConfig
from moot.core.rubric import RUBRICS, Rubric
from moot.core.strict_model import MAX_NAME_CHARS
from moot.datasets import LOADERS
from moot.hooks import analyses
from moot.labels import HUMAN, JUDGE, RULES
from moot.llm.prompts import Prompts
from moot.plan.grid_expansion import expand_grid, find_rubric, labelling_templates, templates_used
from moot.protocols import PROTOCOLS
from moot.protocols.controls import CONTROLS, control_params
from moot.protocols.experiment import Experiment
from moot.protocols.people import check_seats


def artifact_files(path: str, shards: int) -> list[str]:
    """Return the files of a needed artifact below `results/`; of transcripts, one per shard."""
    numbers = range(shards) if path.startswith("transcripts/") else ()
    return [f"{path}/{shard}.parquet" for shard in numbers] or [path]


class ExperimentReader:
    """Reads the experiments of a configuration.

    Args:
        config: the configuration.
        files: the files that it was merged from, for messages.
        templates: the prompt templates for a folder (or "") and prefixes of names.
        faults: receives the faults of entries; faulty entries are left out.
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
    def expanded_entries(self) -> dict[str, tuple[str, ExperimentConfig]]:
        """Yield every experiment with the name of its entry.

        Grids are expanded. Experiments outside of this run are included.
        """
        expanded: dict[str, tuple[str, ExperimentConfig]] = {}
        for name, config in self._config.experiments.items():
            for full_name, full_config in expand_grid(name, config):
                if full_name in expanded:
                    place = self._where("experiments", name, "grid")
                    self._faults.add(
                        f"{place}: found two experiments named '{full_name}'. Rename one of the "
                        "values."
                    )
                # the length limit of a folder; a derived name is longer
                if len(full_name) > MAX_NAME_CHARS:
                    place = self._where("experiments", name)
                    self._faults.add(
                        f"{place}: the name '{full_name[:40]}...' has {len(full_name)} characters,"
                        f" too many for a folder; expected at most {MAX_NAME_CHARS}. Shorten the"
                        " experiment's name or the grid's values."
                    )
                expanded[full_name] = (name, full_config)
        return expanded

    def read(self) -> Iterator[Experiment]:
        """Yield the experiments of this run."""
        derived_names = self.derived_names
        selected_names = self._match_run_patterns(
            [*self.expanded_entries, *self._config.experiments, *derived_names]
        )
        for name, (entry, config) in self.expanded_entries.items():
            is_selected = self._is_selected(name, entry, config, selected_names)
            derived_selection = {
                derived
                for derived, base in derived_names.items()
                if base == name and (is_selected or derived in selected_names)
            }
            if not is_selected and not derived_selection:
                continue
            experiment = self._read_or_note(name, entry, config)
            if experiment is None:
                continue
            if is_selected:
                yield experiment
            yield from self._read_derived(experiment, entry, derived_selection)

    def _is_selected(
        self, name: str, entry: str, config: ExperimentConfig, selected_names: set[str]
    ) -> bool:
        """Return whether this run includes an experiment.

        It does if `run` names it, or names no experiment.
        """
        data_root = Path(self._config.data_root)
        has_data = not config.needs_data or (data_root / config.needs_data).exists()
        names = selected_names if has_data else set(self._config.run)
        if names & {name, entry}:
            return True
        needs_request = config.trial_on_request and self._config.is_trial(config)
        return not self._config.run and has_data and not needs_request

    def _read_derived(
        self, base: Experiment, entry: str, names: Collection[str]
    ) -> Iterator[Experiment]:
        """Yield the derived experiments whose names are given."""
        for analysis in analyses():
            for name, config in analysis.derive_experiments(base.name, base.config, base.params):
                if name in names:
                    experiment = self._read_or_note(name, entry, config)
                    if experiment:
                        yield experiment

    @cached_property
    def configs_by_name(self) -> dict[str, ExperimentConfig]:
        """Return the entry of every experiment by name.

        Experiments outside of this run are included. Derived ones have the entry of their base.
        """
        configs = {name: config for name, (_, config) in self.expanded_entries.items()}
        return configs | {name: configs[base] for name, base in self.derived_names.items()}

    @cached_property
    def derived_names(self) -> dict[str, str]:
        """Yield the names of experiments that analyses derive, each with the name of its base."""
        names: dict[str, str] = {}
        for name, (_, config) in self.expanded_entries.items():
            for analysis in analyses():
                names |= dict.fromkeys(analysis.derived_names(name, config), name)
        return names

    def _match_run_patterns(self, known_names: Sequence[str]) -> set[str]:
        """Return the names that the patterns in `run` match."""
        selected_names = set[str]()
        for pattern in self._config.run:
            matches = fnmatch.filter(known_names, pattern)
            with self._faults.noting():
                if not matches:
                    raise unknown_name(
                        "experiment", pattern, known_names, location=self._where("run")
                    )
            selected_names.update(matches)
        return selected_names

    def _read_or_note(self, name: str, entry: str, config: ExperimentConfig) -> Experiment | None:
        """Return an experiment, or note all its faults and return None."""
        earlier_count = self._faults.count
        with self._faults.noting():
            self._check_names(entry, config)
            experiment = self._read_experiment(name, entry, config)
            if self._faults.count == earlier_count:
                return experiment
        self._faults.broken |= {name, entry}
        return None

    def _check_names(self, entry: str, config: ExperimentConfig) -> None:
        """Note data sets, models and labelers that do not exist."""
        labelers = {RULES, JUDGE, HUMAN}
        judges = filter(None, (labeler.partition(":")[2] for labeler in config.labelers))
        references: list[tuple[str, str, str, Collection[str]]]
        references = [("data set", "dataset", config.dataset, self._config.datasets)]
        references += [("model", "models", model, self._config.models) for model in config.models]
        references += [("model", "labelers", judge, self._config.models) for judge in judges]
        references += [
            ("labeler", "labelers", labeler.partition(":")[0], labelers)
            for labeler in config.labelers
        ]
        for kind, key, name, known_names in references:
            with self._faults.noting():
                if name not in known_names:
                    raise unknown_name(
                        kind, name, known_names, self._where("experiments", entry, key)
                    )

    def _read_experiment(self, name: str, entry: str, config: ExperimentConfig) -> Experiment:
        if config.protocol not in PROTOCOLS:
            raise unknown_name(
                "protocol",
                config.protocol,
                PROTOCOLS,
                self._where("experiments", entry, "protocol"),
            )
        protocol = PROTOCOLS[config.protocol]
        try:
            params = protocol.params.model_validate(dict(config.params))
        except ValidationError as error:
            prefix = ("experiments", entry, "params")
            message = validation_message(error, prefix, self._files, protocol.params)
            raise UserError(message) from None
        with self._faults.noting():
            place = self._where("experiments", entry, "params", "seats")
            check_seats(params.seats, protocol.seats(params), self._config.models, place)
        config = self._with_default_labelers(config)
        rubric = self._rubric(entry, config)
        try:
            prompts = self._templates(config.prompts, *templates_used(config, rubric))
        except UserError as error:
            raise UserError(f"{self._where('experiments', entry, 'prompts')}: {error}") from None
        with self._faults.noting():
            for template in labelling_templates(config, rubric):
                if f"{template}.jinja" not in prompts.sources(template):
                    template_place = self._where("rubrics", config.rubric, "prompt")
                    raise UserError(
                        f"{template_place}: no template {template}.jinja below config/prompts."
                        " Write it."
                    )
        loader = str(self._config.datasets.get(config.dataset, {}).get("loader") or config.dataset)
        labels = LOADERS[loader].labels if loader in LOADERS else ()
        for analysis in analyses():
            analysis.check_experiment(
                name, config, params, labels, lambda key: self._where("experiments", entry, key)
            )
        if config.control and config.control not in CONTROLS:
            place = self._where("experiments", entry, "control")
            raise unknown_name("control", config.control, CONTROLS, place)
        params, control_needs = control_params(config, params)
        needs = self._needed_files({**protocol.needs(params), **control_needs})
        study = config.study or protocol.study
        return Experiment(name, config, params, study, needs, prompts, entry)

    def _with_default_labelers(self, config: ExperimentConfig) -> ExperimentConfig:
        """Add the rules of the protocol's rubric to an entry without labelers.

        The rules must be about the labels of its data.
        """
        protocol = PROTOCOLS[config.protocol]
        if "labelers" in config.model_fields_set or config.rubric or not protocol.rubric:
            return config
        labels = self._dataset_labels(config.dataset)
        if set(labels) != protocol.options.fixed_labels or not RUBRICS[protocol.rubric].has_rules:
            return config
        return config.model_copy(update={"labelers": (RULES,)})

    def _dataset_labels(self, dataset: str) -> Sequence[str]:
        """Return the labels of a data set, as far as they are known without loading it."""
        options = self._config.datasets.get(dataset, {})
        loader = str(options.get("loader") or dataset)
        labels = LOADERS[loader].labels if loader in LOADERS else ()
        return labels or tuple(options.get("labels") or ())

    def _needed_files(self, paths: Mapping[str, str]) -> dict[str, str]:
        """Return the files of the artifacts that debates depend on.

        The first has the artifact's name, further ones have a number, too.
        """
        files = dict[str, str]()
        for key, path in paths.items():
            for number, file in enumerate(artifact_files(path, self._config.shards)):
                files[f"{key}_{number}" if number else key] = file
        return files

    def _rubric(self, entry: str, config: ExperimentConfig) -> Rubric | None:
        """Return the rubric for an experiment's statements; note labelers that do not fit it."""
        place = self._where("experiments", entry, "rubric" if config.rubric else "labelers")
        with self._faults.noting():
            try:
                rubric = find_rubric(config, self._config.rubrics)
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
