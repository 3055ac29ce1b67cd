"""From configuration to work.

A plan has every experiment with checked parameters, models, shards, files and digests.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

from moot.core.config import Config
from moot.core.config_errors import Faults, describe_location
from moot.core.endpoint_traits import endpoint_traits
from moot.core.experiment_config import COMPARISON
from moot.core.model_config import ModelConfig
from moot.core.model_values import key_problem
from moot.core.people_instructions import load_instructions
from moot.core.read_config import read_config
from moot.core.rubric import Rubric
from moot.core.types import Fields
from moot.datasets import LOADERS, DatasetOptions, LoadContext
from moot.hooks import analyses
from moot.labels import JUDGE
from moot.llm.identity import key_variable
from moot.llm.prompts import Prompts
from moot.papers.parts import Design
from moot.plan import plan_steps as steps
from moot.plan.experiments import ExperimentReader
from moot.plan.grid_expansion import find_rubric
from moot.plan.models import check_models
from moot.plan.planned_contrasts import check_contrasts
from moot.plan.rehearsal import add_simulated_people, replace_models
from moot.protocols.experiment import Experiment
from moot.report.content import Figure, StudyPlan, Table
from moot.report.notes import describe_inputs, join_notes
from moot.report.study_results import PaperMatches
from moot.scores.contrasts import Contrast
from moot.scores.results import ExperimentView, MadeUpInputs


class Plan:
    """A checked configuration.

    Args:
        config: the configuration.
        shipped: the project's folder, with the Snakefile.
        files: the files that the configuration was merged from, for messages.

    Raises:
        UserError: one line for each mistake, with file, key, found value and known values.
    """

    def __init__(
        self,
        config: Config,
        shipped: Path,
        files: Iterable[Path] = (),
        faults: Faults | None = None,
    ) -> None:
        faults = faults or Faults()
        files = tuple(files)
        config = steps.add_experiments_of_analyses(config, faults)
        if config.rehearsal:
            config = replace_models(config)
        prompts = steps.PromptOverlays(steps.load_prompts(config, shipped, files, faults))
        steps.check_rubrics(config, files, faults)
        steps.check_analyses(config, files, faults)
        with faults.noting():
            load_instructions(config.people)
        reader = ExperimentReader(config, files, prompts.select, faults)
        self.experiments: Mapping[str, Experiment] = {
            experiment.name: experiment for experiment in reader.read()
        }
        if config.rehearsal:
            config = add_simulated_people(config, self.experiments.values())
        self.config, self.shipped, self.files = config, shipped, files
        self.datasets: Mapping[str, DatasetOptions] = steps.read_datasets(config, files, faults)
        for name in self.datasets_used:
            with faults.noting():
                steps.check_dataset_source(name, self.datasets, self.experiments, files)
        steps.check_sources(self.experiments, files, faults)
        models = check_models(config.models, self.models_used, files, faults)
        self.config = config.model_copy(update={"models": models})

        self._prompts = prompts
        self.paper_matches: PaperMatches | None = None
        """The result of `moot.plan.papers_of_run.compare_with_papers`, stored for jobs."""
        self.designs: Mapping[str, Design] | None = None
        """The result of `moot.plan.papers_of_run.designs_of`, stored for jobs."""
        describe_place = partial(_describe_place, files)
        self.contrasts = check_contrasts(
            self.config, reader.configs_by_name, self.untested_reason, describe_place, faults
        )
        faults.check()

    @classmethod
    def from_yaml(
        cls, raw: Fields, shipped: Path, files: Iterable[Path] = (), faults: Faults | None = None
    ) -> "Plan":
        """Return the plan of a merged configuration, as Snakemake passes it.

        Args:
            raw: the merged configuration.
            shipped: the project's folder.
            files: the files that were merged.
            faults: found when they were merged.
        """
        files, faults = tuple(files), faults or Faults()
        return cls(read_config(raw, files, faults), shipped, files, faults)

    def templates(self, folder: str, *names: str) -> Prompts:
        """Return the prompt templates, some of them replaced by templates of a folder.

        `names` are prefixes of the templates that are used.
        """
        return self._prompts.select(folder, *names)

    # Data sets

    @cached_property
    def datasets_used(self) -> list[str]:
        """The data sets of this run's experiments. Others can still be requested by their path."""
        return sorted({experiment.config.dataset for experiment in self.experiments.values()})

    def load_context(self, dataset: str) -> LoadContext:
        """Return the context that a loader may use."""
        needed = steps.artifacts_of_dataset(self.datasets, dataset)
        artifacts = {name: Path("results", path) for name, path in needed.items()}
        return LoadContext(
            dataset, Path(self.config.data_root), self.shipped, self.config.seed, artifacts
        )

    def local_files(self, dataset: str) -> list[Path]:
        """Return the user's files that a data set may be read from.

        There are none if it is shipped, generated or downloaded.
        """
        options = self.datasets[dataset]
        if options.source in ("sample", "synthetic", "shipped", "download"):
            return []
        data_root = Path(self.config.data_root)
        folder = data_root / LOADERS[options.loader or dataset].folder
        return sorted(_files_below(folder, *options.own_files(data_root)))

    def shipped_files(self, dataset: str) -> list[Path]:
        """Return the shipped files that the loader of a data set may read."""
        loader = LOADERS[self.datasets[dataset].loader or dataset]
        return sorted(_files_below(*(self.shipped / path for path in loader.shipped)))

    # Properties of an experiment

    def models_in_job(self, experiment: str, model: str) -> dict[str, ModelConfig]:
        """Return the models that speak in an experiment's debates by a model, that model first."""
        seats, people = self.experiments[experiment].seats, self.experiments[experiment].people
        simulated_people = people if self.config.rehearsal else set[str]()
        names = [model, *sorted((seats | simulated_people) - {model})]
        return {name: self.config.models[name] for name in names}

    def rubric(self, experiment: str) -> Rubric | None:
        """Return the rubric for an experiment's statements; None if they are not labelled."""
        return find_rubric(self.experiments[experiment].config, self.config.rubrics)

    def labelling_models(self, experiment: str, model: str) -> set[str]:
        """Return the models that label an experiment's statements.

        The labeler `judge` is the experiment's own model, `judge:NAME` another.
        """
        names: set[str] = set()
        for labeler in self.experiments[experiment].config.labelers:
            kind, _, name = labeler.partition(":")
            if kind == JUDGE:
                names.add(name or model)
        return names

    def missing_keys(self, models: Iterable[str]) -> list[str]:
        """Return a message for each model whose API key is not in the environment.

        A replay needs no key.
        """
        if self.config.replay:
            return []
        messages: list[str] = []
        for name in sorted(set(models) & self.config.models.keys()):
            model = self.config.models[name]
            variable = key_variable(model)
            if not variable or not endpoint_traits(model.endpoint).has_server:
                continue
            if problem := key_problem(variable):
                messages.append(
                    f"models.{name}: the environment variable {variable} {problem}. Set it to the "
                    f"server's API key (export {variable}=...) and run again; if all replies are "
                    "in the ledger, `--config replay=true` needs no key."
                )
        return messages

    @cached_property
    def models_used(self) -> list[str]:
        """The models that this run's jobs call."""
        names: set[str] = set()
        for name, experiment in self.experiments.items():
            for model in experiment.config.models:
                names.update(self.models_in_job(name, model), self.labelling_models(name, model))
        return sorted(names)

    def threads(self, models: Iterable[str], cores: int) -> int:
        """Return the processor threads of a job.

        Models inside its process determine them; otherwise a job has one.
        """
        configs = [self.config.models[model] for model in models]
        return max(
            (
                config.threads_within(cores)
                for config in configs
                if endpoint_traits(config.endpoint).in_process
            ),
            default=1,
        )

    def is_trial(self, experiment: Experiment) -> bool:
        """Return whether an experiment has too few debates for conclusions.

        Such a trial run is left out of a study's tables.
        """
        return self.config.is_trial(experiment.config)

    def untested_reason(self, name: str) -> str:
        """Return why this run cannot test contrasts of an experiment; "" if it can."""
        if name not in self.experiments:
            return f"{name} is not part of this run"
        return f"{name} is a trial run" if self.is_trial(self.experiments[name]) else ""

    def contrasts_of(self, study: str) -> list[Contrast]:
        """Return the contrasts of a study that have a side in this run.

        The study `comparison` has those of all studies.
        """
        contrasts: list[Contrast] = []
        for contrast in self.contrasts:
            is_shown = study in (contrast.family, COMPARISON)
            if is_shown and not all(
                self.untested_reason(side.experiment) for side in contrast.sides
            ):
                contrasts.append(contrast)
        return contrasts

    def experiments_of(self, study: str) -> list[Experiment]:
        """Return the experiments that a study's tables show; `comparison` shows all experiments."""
        return [
            experiment for experiment in self._full_runs(study) if not self._is_control(experiment)
        ]

    def controls_of(self, study: str) -> list[Experiment]:
        """Return the controls of a study's experiments, which its usual tables do not show."""
        return [experiment for experiment in self._full_runs(study) if self._is_control(experiment)]

    def trials_of(self, study: str) -> list[Experiment]:
        """Return the trial runs of a study, or all for `comparison`."""
        return [experiment for experiment in self._all_of(study) if self.is_trial(experiment)]

    def trained_datasets_of(self, study: str) -> list[str]:
        """Return the data sets of a study on which baselines are trained, including trial runs."""
        names = {experiment.config.dataset for experiment in self._all_of(study)}
        return [name for name in self.trained_datasets if name in names]

    def _all_of(self, study: str) -> list[Experiment]:
        """Return the experiments of a study, including trial runs, or all for `comparison`."""
        return [
            experiment
            for experiment in self.experiments.values()
            if study in (experiment.study, COMPARISON)
        ]

    def _full_runs(self, study: str) -> list[Experiment]:
        """Return the experiments of a study that are not trial runs.

        The study `comparison` has those of all studies.
        """
        return [experiment for experiment in self._all_of(study) if not self.is_trial(experiment)]

    def _is_control(self, experiment: Experiment) -> bool:
        config = experiment.config
        dataset = self.datasets[config.dataset]
        if config.control:
            return True
        return any(analysis.is_control(config, dataset) for analysis in analyses())

    def can_fill(self, entry: Table | Figure) -> bool:
        """Return whether this run has data for a table or figure.

        Without data, it is built only on request. That of an analysis in `leave_out` is not built.
        """
        module = entry.build.__module__
        if any(module.startswith(f"moot.analyses.{name}.") for name in self.config.leave_out):
            return False
        plan = StudyPlan(
            experiments=[
                experiment
                for experiment in self.experiments_of(entry.study)
                if self._shows(entry, experiment)
            ],
            controls=self.controls_of(entry.study),
            trials=self.trials_of(entry.study),
            contrasts=self.contrasts_of(entry.study),
            trained_datasets=self.trained_datasets_of(entry.study),
            datasets=self.datasets,
            is_in_run=entry.study in self.studies,
        )
        return any(is_met(plan) for is_met in entry.needs)

    def _shows(self, entry: Table | Figure, experiment: Experiment) -> bool:
        protocol, dataset = experiment.config.protocol, experiment.config.dataset
        loader = self.datasets[dataset].loader or dataset
        return protocol in (entry.protocols or (protocol,)) and loader in (
            entry.loaders or (loader,)
        )

    def view(self, experiment: str, models: Sequence[str] | None = None) -> ExperimentView:
        """Return the view of an experiment for its results, with some of its models or all."""
        config = self.experiments[experiment].config
        names = config.models if models is None else tuple(models)
        return ExperimentView(
            config.protocol,
            config.dataset,
            names,
            config.split,
            self.experiments[experiment].params.model_dump(),
            self._recorded_models(names),
            config.control,
            config.control_of,
            self.datasets[config.dataset].loader or config.dataset,
            self.rubric(experiment),
            config.prompts,
            self.made_up_inputs(experiment),
            self._download_adds_words(config.dataset),
            self.experiments[experiment].entry,
        )

    def _download_adds_words(self, dataset: str) -> bool:
        """Return whether a data set is shipped without the words of its published records."""
        options = self.datasets[dataset]
        loader = LOADERS[options.loader or dataset]
        return str(options.source) == "shipped" and loader.download_adds_words

    def made_up_inputs(self, experiment: str) -> MadeUpInputs:
        """Return which data and models of an experiment are made up."""
        config = self.experiments[experiment].config
        speakers: set[str] = set()
        for model in config.models:
            speakers.update({model, *self.models_in_job(experiment, model)})
        models = {name: self.config.models[name] for name in speakers & self.config.models.keys()}
        return describe_inputs(config.dataset, str(self.datasets[config.dataset].source), models)

    def made_up_notes(self, study: str = "") -> list[str]:
        """Return the notes on made-up inputs of a study, or of the run, a sentence per kind."""
        notes: list[str] = []
        for name, experiment in self.experiments.items():
            if study in ("", experiment.study):
                notes += self.made_up_inputs(name).notes
        return join_notes(notes)

    def _recorded_models(self, names: Iterable[str]) -> dict[str, str]:
        """Return the models whose replies were recorded, with their names in the records."""
        recorded: dict[str, str] = {}
        for name in names:
            model = self.config.models.get(name)
            if model and endpoint_traits(model.endpoint).is_recorded:
                recorded[name] = model.model
        return recorded

    @cached_property
    def studies(self) -> list[str]:
        """The studies of this run, by name."""
        return sorted({COMPARISON, *(experiment.study for experiment in self.experiments.values())})

    @cached_property
    def trained_datasets(self) -> list[str]:
        """The data sets of this run on which baselines are trained; none in a rehearsal."""
        if self.config.rehearsal:
            return []
        return [name for name in self.datasets_used if self.datasets[name].baselines]


def _describe_place(files: Sequence[Path], *location: str) -> str:
    """Return the file, line and key of a place in the configuration."""
    return describe_location(files, location)


def _files_below(*paths: Path) -> set[Path]:
    """Return the files among some paths, and the files in the folders among them."""
    files: set[Path] = set()
    for path in paths:
        files.update(file for file in (path, *path.rglob("*")) if file.is_file())
    return files
