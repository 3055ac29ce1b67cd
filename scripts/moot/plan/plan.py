"""From configuration to work: every experiment with its parameters checked, its models, shards,
files and digests.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from moot.core.config import Config
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import UserError, unknown_name
from moot.core.experiment_config import COMPARISON, ExperimentConfig
from moot.core.extensions import load_extensions
from moot.core.model_config import ModelConfig
from moot.core.model_values import key_problem
from moot.core.people import load_instructions
from moot.core.places import Faults, describe_location, validation_message
from moot.core.read_config import read_config
from moot.core.registry import REGISTRIES
from moot.core.rubric import RUBRICS, Rubric
from moot.core.shipped_files import prompt_folders
from moot.core.types import Fields
from moot.datasets import LOADERS, DatasetOptions, LoadContext
from moot.hooks import CheckedExperiments, Schedule, analyses
from moot.labels import JUDGE
from moot.llm.prompts import Prompts
from moot.plan.entries import rubric_of
from moot.plan.experiments import ExperimentReader
from moot.plan.models import checked_models
from moot.plan.planned_contrasts import check_contrasts
from moot.plan.rehearsal import with_simulated_people, with_simulated_voices
from moot.protocols.experiment import Experiment
from moot.report.content import Figure, Table
from moot.report.needs import StudyPlan
from moot.scores.contrasts import Contrast
from moot.scores.results import ExperimentView
from moot.training.baselines import select


class Plan:
    """A checked configuration.

    Args:
        config: the configuration.
        shipped: the project's folder, with the Snakefile.
        files: the files that the configuration was merged from, for messages.

    Raises:
        UserError: one line for each mistake: file, key, what was found, what is known.
    """

    def __init__(
        self,
        config: Config,
        shipped: Path,
        files: Iterable[Path] = (),
        faults: Faults | None = None,
    ) -> None:
        self._faults = faults or Faults()
        config = self._with_experiments_of_analyses(config)
        self.config = with_simulated_voices(config) if config.rehearsal else config
        self.shipped = shipped
        self.files = tuple(files)
        self._prompts: dict[tuple[str, ...], Prompts] = {(): self._read_prompts()}
        self._check_rubrics()
        with self._faults.noting():
            load_instructions(config.people)
        reader = ExperimentReader(self.config, self.files, self.templates, self._faults)
        self.experiments: Mapping[str, Experiment] = {found.name: found for found in reader.read()}
        if config.rehearsal:
            people = {
                person for experiment in self.experiments.values() for person in experiment.people
            }
            self.config = with_simulated_people(self.config, people)
        self.datasets: Mapping[str, DatasetOptions] = self._read_datasets()
        for name in self.datasets_used:
            with self._faults.noting():
                self.check_made_data(name)
        self._rests_on: dict[str, set[str]] = {}
        for experiment in self.experiments.values():
            with self._faults.noting():
                self._check_needs(experiment)
        self._check_circles()
        models = checked_models(self.config.models, self.models_used, self.files, self._faults)
        self.config = self.config.model_copy(update={"models": models})
        known = {name: config for name, (_, config) in reader.expanded.items()}
        known |= {name: known[base] for name, base in reader.derived_names.items()}
        self.contrasts = check_contrasts(
            self.config, known, self.why_not_tested, self._where, self._faults
        )
        self._faults.check()
        self.schedules: Mapping[str, Schedule] = self._plan_schedules()
        self._faults.check()

    @classmethod
    def from_yaml(
        cls, raw: Fields, shipped: Path, files: Iterable[Path] = (), faults: Faults | None = None
    ) -> "Plan":
        """The plan of a merged configuration, as Snakemake hands it over;
        `faults`: found when it was merged.
        """
        files, faults = tuple(files), faults or Faults()
        return cls(read_config(raw, files, faults), shipped, files, faults)

    # Checking

    def _with_experiments_of_analyses(self, config: Config) -> Config:
        """The configuration with the experiments that analyses add to it."""
        added: dict[str, ExperimentConfig] = {}
        for analysis in analyses():
            added |= analysis.add_experiments(config, self._faults)
        experiments = {**config.experiments, **added}
        return config.model_copy(update={"experiments": experiments}) if added else config

    def _read_prompts(self) -> Prompts:
        """The prompt templates: a folder of the user's, those of extensions, and moot's own."""
        own: list[Path] = []
        try:
            own += (folder / "prompts" for folder in load_extensions(self.config.extensions))
            for registry in REGISTRIES:
                if registry.extensions:  # one of them may have taken a name of moot's
                    list(registry)
        except UserError as error:  # what it would have brought is unknown, which need not be said
            self._faults.add(f"{self._where('extensions')}: {error}")
            self._faults.check()
        return Prompts(Path("config/prompts"), *own, *prompt_folders(self.shipped))

    def templates(self, folder: str, *names: str) -> Prompts:
        """The prompt templates, single ones replaced by those of a folder;
        `names` are prefixes of those used.
        """
        key = (folder, *names) if folder else ()
        if key not in self._prompts:
            self._prompts[key] = self._prompts[()].overlaid(Path(folder), *names)
        return self._prompts[key]

    def _check_rubrics(self) -> None:
        """Note what is wrong with rubrics, of the configuration and of extensions."""
        for name, rubric in self.config.rubrics.items():
            if name in RUBRICS:
                self._faults.add(
                    f"{self._where('rubrics', name)}: this rubric exists already. Give yours"
                    " another name."
                )
            for key, problem in rubric.problems():
                self._faults.add(f"{self._where('rubrics', name, *key)}: {problem}")
        for name, module in RUBRICS.extensions.items():
            for key, problem in RUBRICS[name].problems():
                self._faults.add(f"{module}: rubric {name}: {'.'.join(key)}: {problem}")

    def _read_datasets(self) -> dict[str, DatasetOptions]:
        found: dict[str, DatasetOptions] = {}
        for name in self.config.datasets:
            with self._faults.noting():
                found[name] = self.dataset_options(name)
            if name not in found:
                self._faults.broken.add(name)
        return found

    def _plan_schedules(self) -> dict[str, Schedule]:
        """The schedules that analyses give to experiments, by name."""
        needs: dict[str, list[str]] = {}
        for name in self.datasets_used:
            needs[f"data set '{name}'"] = list(self.needed_by_dataset(name).values())
        for experiment in self.experiments.values():
            paths = needs.setdefault(f"experiment '{experiment.name}'", [])
            for model in experiment.config.models:
                paths.extend(experiment.needed_by(model).values())
        checked = CheckedExperiments(
            self.experiments, self.contrasts, self.models_in_job, needs, self._where
        )
        schedules: dict[str, Schedule] = {}
        for analysis in analyses():
            schedules |= analysis.plan_schedules(checked, self._faults)
        return schedules

    def _check_circles(self) -> None:
        """Note experiments that rest on each other, so that none of them could be the first."""
        rest: dict[str, set[str]] = {name: set(others) for name, others in self._rests_on.items()}
        while free := [name for name, others in rest.items() if not others & rest.keys()]:
            for name in free:
                del rest[name]
        circle = [name for name in sorted(rest) if any(name in others for others in rest.values())]
        if circle:
            place = self._where(
                "experiments",
                circle[0],
                "arm_of" if self.experiments[circle[0]].config.arm_of else "params",
            )
            names = " and ".join(f"'{name}'" for name in circle)
            self._faults.add(
                f"{place}: {names} rest on each other's debates. Let one of them rest on none."
            )

    def _where(self, *location: str) -> str:
        return describe_location(self.files, location)

    def _check_needs(self, experiment: Experiment) -> None:
        """Raise `UserError` where an experiment rests on debates that this run does not hold, or on
        other data.
        """
        arm_of, models = experiment.config.arm_of, experiment.config.models
        keys = (
            (("arm_of",), ("models",))
            if arm_of
            else (("params", "source_experiment"), ("params", "source_model"))
        )
        source_key, model_key = (self._where("experiments", experiment.name, *key) for key in keys)
        paths = {path for model in models for path in experiment.needed_by(model).values()}
        rests_on = {
            tuple(path.split("/")[1:3]) for path in paths if path.startswith("transcripts/")
        }
        rests_on |= {(arm_of, model) for model in models if arm_of}
        self._rests_on[experiment.name] = {name for name, _ in rests_on}
        for name, model in sorted(rests_on):
            found = self._held(name, model, source_key, model_key)
            if found.dataset != experiment.config.dataset:
                raise UserError(
                    f"{source_key}: experiment '{name}' is about data set '{found.dataset}', "
                    f"'{experiment.name}' about '{experiment.config.dataset}'; expected the same."
                )

    def _held(self, name: str, model: str, place: str, place_of_model: str) -> ExperimentConfig:
        """The entry of an experiment that this run holds with a model; raises `UserError` where it
        does not.
        """
        if name not in self.experiments:
            raise unknown_name("experiment of this run", name, self.experiments, place)
        found = self.experiments[name].config
        if model not in found.models:
            raise unknown_name(f"model of experiment '{name}'", model, found.models, place_of_model)
        return found

    @cached_property
    def datasets_used(self) -> list[str]:
        """The data sets that some experiment of this run is about; any other may still be asked for
        by its path.
        """
        return sorted({experiment.config.dataset for experiment in self.experiments.values()})

    def dataset_options(self, name: str) -> DatasetOptions:
        """The checked options of a data set."""
        raw = dict(self.config.datasets[name])
        loader = str(raw.get("loader") or name)
        if loader not in LOADERS:
            raise unknown_name("data set loader", loader, LOADERS, self._where("datasets", name))
        options = LOADERS[loader].options
        try:
            checked = options.model_validate(raw)
        except ValidationError as error:
            message = validation_message(error, ("datasets", name), self.files, options)
            raise UserError(message) from None
        select(checked.baselines, lambda: self._where("datasets", name, "baselines"))
        return checked

    def check_made_data(self, dataset: str, made: tuple[str, ...] = ()) -> None:
        """Refuse a data set whose maker is no experiment of this run, or argues over that data set
        itself.

        Those that experiments are about are checked at once, any other when its artifacts
        are asked for.
        """
        if dataset not in self.datasets:
            return  # its options are faulty, which is said
        for option in self.needed_by_dataset(dataset):
            experiment, _, model = getattr(self.datasets[dataset], option).partition("/")
            place = self._where("datasets", dataset, option)
            found = self._held(experiment, model, place, place)
            if found.dataset in (*made, dataset):
                raise UserError(
                    f"{place}: experiment '{experiment}' argues over '{found.dataset}', which it"
                    " would make."
                )
            self.check_made_data(found.dataset, (*made, dataset))

    def needed_by_dataset(self, dataset: str) -> dict[str, str]:
        """The artifacts below `results/` that a data set is read from, made by a model, by name."""
        options = self.datasets[dataset]
        return dict(LOADERS[options.loader or dataset].needs(options))

    def load_context(self, dataset: str) -> LoadContext:
        """What a loader may use."""
        needed = {
            name: Path("results", path) for name, path in self.needed_by_dataset(dataset).items()
        }
        return LoadContext(
            dataset, Path(self.config.data_root), self.shipped, self.config.seed, needed
        )

    def local_files(self, dataset: str) -> list[Path]:
        """The user's own files that a data set may be read from; none where it is shipped,
        generated or downloaded.
        """
        options = self.datasets[dataset]
        if options.source in ("sample", "synthetic", "shipped", "download"):
            return []
        data_root = Path(self.config.data_root)
        named = (
            data_root / LOADERS[options.loader or dataset].folder,
            *options.own_files(data_root),
        )
        return sorted(
            {path for name in named for path in (name, *name.rglob("*")) if path.is_file()}
        )

    def shipped_files(self) -> list[Path]:
        """The shipped files that data sets are made from or described by."""
        config = self.shipped / "config"
        folders = (
            self.shipped / "data" / "samples",
            self.shipped / "data" / "records",
            config / "labels",
        )
        found = (path for folder in folders for path in folder.rglob("*"))
        return sorted(path for path in (*found, *config.glob("*_variables.yaml")) if path.is_file())

    # What follows from an experiment

    def shards(self, experiment: str) -> int:
        """The number of jobs that hold the debates of an experiment and model: those of its
        schedule, or else the configured shards.
        """
        schedule = self.schedules.get(experiment)
        return schedule.shards if schedule else self.config.shards

    def models_in_job(self, experiment: str, model: str) -> dict[str, ModelConfig]:
        """The models that one job of an experiment speaks with, the experiment's own first."""
        found = self.experiments[experiment]
        simulated = found.people if self.config.rehearsal else set[str]()
        names = [model, *sorted((found.seats | simulated) - {model})]
        return {name: self.config.models[name] for name in names}

    def rubric(self, experiment: str) -> Rubric | None:
        """The rubric by which an experiment's statements are labelled; None where they are not."""
        return rubric_of(self.experiments[experiment].config, self.config.rubrics)

    def labelling_models(self, experiment: str, model: str) -> set[str]:
        """The models that label an experiment's statements: `judge` is the experiment's own,
        `judge:NAME` another.
        """
        labelers = self.experiments[experiment].config.labelers
        return {
            labeler.partition(":")[2] or model
            for labeler in labelers
            if labeler.partition(":")[0] == JUDGE
        }

    def missing_keys(self, models: Iterable[str]) -> list[str]:
        """One message for each of some models whose key is not in the environment; a replay needs
        none.
        """
        found = {
            name: self.config.models[name] for name in sorted(models) if name in self.config.models
        }
        return [
            f"models.{name}: the environment variable {config.api_key_env} {problem}. Set it to the"
            f" server's API key (export {config.api_key_env}=...) and run again; where every reply"
            " is in the ledger, `--config replay=true` needs no key."
            for name, config in found.items()
            if endpoint_traits(config.endpoint).has_server
            and config.api_key_env
            and not self.config.replay
            if (problem := key_problem(config.api_key_env))
        ]

    @cached_property
    def models_used(self) -> list[str]:
        """The models that some job of this run speaks with."""
        jobs = [
            (name, model)
            for name, found in self.experiments.items()
            for model in found.config.models
        ]
        return sorted(
            {
                used
                for job in jobs
                for used in (*self.models_in_job(*job), *self.labelling_models(*job))
            }
        )

    def threads(self, models: Iterable[str], cores: int) -> int:
        """Processor threads of a job: what the models inside its process are given; one where all
        are elsewhere.
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

    def gpus(self, models: Iterable[str]) -> int:
        """Graphics processors of a job: those of all servers that it starts; a replay starts none."""
        serves = [self.config.models[model].serve for model in models]
        return 0 if self.config.replay else sum(serve.gpus for serve in serves if serve)

    def jobs_at_once(self, model: str, cores: int) -> int:
        """How many jobs may speak with a model at once.

        As many as configured for a server; for a model inside each job's process as many as have
        the threads that it is given; for a simulated voice no limit.
        """
        config = self.config.models[model]
        traits = endpoint_traits(config.endpoint)
        if traits.in_process:
            return cores // config.threads_within(cores)
        return cores if traits.is_simulated else config.jobs

    def is_trial(self, experiment: Experiment) -> bool:
        """Whether an experiment has too few debates to conclude from, and so enters no study's
        tables.
        """
        return self.config.is_trial(experiment.config)

    def why_not_tested(self, name: str) -> str:
        """Why the contrasts of an experiment cannot be tested in this run; "" where they can."""
        if name not in self.experiments:
            return f"{name} is not part of this run"
        return f"{name} is a trial run" if self.is_trial(self.experiments[name]) else ""

    def contrasts_of(self, study: str) -> list[Contrast]:
        """The contrasts of a study with a side in this run, or of all studies for `comparison`."""
        own = (contrast for contrast in self.contrasts if study in (contrast.family, COMPARISON))
        return [
            one
            for one in own
            if any(not self.why_not_tested(side.experiment) for side in one.sides)
        ]

    def of_study(self, study: str) -> list[Experiment]:
        """The experiments that a study's tables show; those of `comparison` show every experiment."""
        return [
            found
            for found in self.asked_in(study)
            if not self.is_trial(found) and not self._is_control(found)
        ]

    def controls_of(self, study: str) -> list[Experiment]:
        """The experiments of a study that control for others, which its usual tables do not show."""
        return [
            found
            for found in self.asked_in(study)
            if not self.is_trial(found) and self._is_control(found)
        ]

    def _is_control(self, experiment: Experiment) -> bool:
        config = experiment.config
        dataset = self.datasets[config.dataset]
        if config.arm or getattr(dataset, "exchange", ""):
            return True
        return any(analysis.is_control(config, dataset) for analysis in analyses())

    def trials_of(self, study: str) -> list[Experiment]:
        """The trial runs of a study; of `comparison`, all."""
        return [found for found in self.asked_in(study) if self.is_trial(found)]

    def trained_for(self, study: str) -> list[str]:
        """The data sets of a study, trial runs too, that baselines are trained on."""
        used = {found.config.dataset for found in self.asked_in(study)}
        return [name for name in self.with_baselines if name in used]

    def asked_in(self, study: str) -> list[Experiment]:
        """The experiments of a study, trial runs too; of `comparison`, all."""
        return [found for found in self.experiments.values() if study in (found.study, COMPARISON)]

    def can_fill(self, entry: Table | Figure) -> bool:
        """Whether this run has anything of its own to show in a table or figure; else it is built
        on request alone.
        """
        experiments = self.of_study(entry.study)
        plan = StudyPlan(
            experiments=[found for found in experiments if self._shows(entry, found)],
            controls=self.controls_of(entry.study),
            trials=self.trials_of(entry.study),
            contrasts=self.contrasts_of(entry.study),
            trained_datasets=self.trained_for(entry.study),
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
        """What an experiment's results need to know of it, with some of its models or all."""
        found = self.experiments[experiment]
        config = found.config
        chosen = config.models if models is None else tuple(models)
        models_known = {
            name: self.config.models[name] for name in chosen if name in self.config.models
        }
        recorded = {
            name: known.model
            for name, known in models_known.items()
            if endpoint_traits(known.endpoint).is_recorded
        }
        params = found.params.model_dump()
        loader = self.datasets[config.dataset].loader or config.dataset
        return ExperimentView(
            config.protocol, config.dataset, chosen, config.split, params, recorded, config.arm, config.arm_of, loader,
            self.rubric(experiment), config.prompts,
        )  # fmt: skip

    @cached_property
    def studies(self) -> list[str]:
        """The studies of this run, by name."""
        return sorted({COMPARISON, *(experiment.study for experiment in self.experiments.values())})

    @cached_property
    def with_baselines(self) -> list[str]:
        """The data sets of this run that baselines are trained on; none in a rehearsal, which reads
        none.
        """
        used = () if self.config.rehearsal else self.datasets_used
        return [name for name in used if self.datasets[name].baselines]
