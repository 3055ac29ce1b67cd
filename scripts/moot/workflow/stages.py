"""What each job of the workflow is made from: its input files, and the digests of all that it
depends on.

Digests are cumulative: they cover what a job depends on itself and what the jobs before it depend
on, down to the configuration. So a change upstream changes the recorded parameters of every job
that follows from it, and whatever a failed, stopped or killed run left behind is built again by the
next one, although the files in between are gone.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from moot.core.artifacts import file_digest
from moot.core.code_digest import code_digest
from moot.core.experiment_config import COMPARISON, fields_marked
from moot.core.rubric import RUBRICS
from moot.core.types import JsonObject
from moot.datasets import LOADERS
from moot.labels import HUMAN, LABELERS
from moot.plan.as_published import compare_with_papers
from moot.plan.entries import protocols_of, templates_of_debates
from moot.plan.experiments import artifact_files
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.escaping import PAGE
from moot.report.exports import EXPORTERS
from moot.report.reader import page_files
from moot.scores import SCORERS
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.contrasts import Contrast
from moot.training.baselines import select
from moot.workflow import digests, targets
from moot.workflow.digests import Digests, contents, digest_of, digest_with_files
from moot.workflow.makers import maker_of
from moot.workflow.own_files import annotation_files, answer_files, frozen_files, sample_files
from moot.workflow.records import made_with

INDEX = "index"
INTERIM_RESULTS = "moot.jobs.interim_results"
CONTRASTS_TABLE = "moot.studies.across.tables_contrasts"
COVERED_FIELDS = {"models", "prompts"}
"""The fields of an experiment that other digests of its debates cover."""


@dataclass(frozen=True)
class Stage:
    """What a job is made from: its inputs, and what no file of `results/` holds.

    Attributes:
        inputs: the files that the job reads, by the names that its script knows them by.
        code: the script and the modules that it chooses by name.
        own: of the configuration, and of the user's own files, what the job itself depends on.
        prompts: a digest of the prompts that it renders.
    """

    inputs: Mapping[str, str | list[str]]
    code: str
    own: object = None
    prompts: str = ""


class Stages:
    """What every job that a plan may have is made from; one method a rule, of its name, called with
    its wildcards.

        A rule's inputs are stated here alone: Snakemake takes them from here, and a job's digests
        are its own with those of the jobs that make its inputs.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._stages: dict[tuple[str, tuple[tuple[str, str], ...]], Stage] = {}
        self._digests: dict[tuple[str, tuple[tuple[str, str], ...]], Digests] = {}

    def stage(self, rule: str, **wildcards: str) -> Stage:
        """What a rule's job is made from.

        Raises:
            KeyError: there is no such rule, or the plan names no such experiment, model or data
                set.
            UserError: a data set is made by a model that is no part of this run.
        """
        self._of_all_shards(wildcards)
        key = rule, tuple(sorted(wildcards.items()))
        if key not in self._stages:
            method: Callable[..., Stage] | None = getattr(self, f"_{rule}", None)
            if method is None:
                raise KeyError(rule)
            self._stages[key] = method(**wildcards)
        return self._stages[key]

    def _of_all_shards(self, wildcards: dict[str, str]) -> None:
        """Drop the shard from wildcards where all are made from the same; with a schedule each job
        reads those before it.
        """
        if wildcards.get("experiment") not in self.plan.schedules:
            wildcards.pop("shard", None)

    def inputs(self, rule: str, **wildcards: str) -> dict[str, str | list[str]]:
        """The files that a rule's job reads, by name; raises as `stage` does."""
        return dict(self.stage(rule, **wildcards).inputs)

    def of(self, rule: str, **wildcards: str) -> Digests:
        """The digests of a rule's job: of what it depends on itself, and of the jobs that make its
        inputs.

                Raises: as `stage` does.
        """
        self._of_all_shards(wildcards)
        stage = self.stage(rule, **wildcards)
        key = rule, tuple(sorted(wildcards.items()))
        if key not in self._digests:
            files = [
                path
                for paths in stage.inputs.values()
                for path in ([paths] if isinstance(paths, str) else paths)
            ]
            makers = {maker for path in files if (maker := maker_of(path))}
            before = [self.of(maker, **dict(wildcards)) for maker, wildcards in makers]
            self._digests[key] = Digests(
                options=digest_of([stage.own, sorted({found.options for found in before})]),
                prompts=digest_of([stage.prompts, sorted({found.prompts for found in before})]),
                code=digest_of([stage.code, sorted({found.code for found in before})]),
            )
        return self._digests[key]

    def is_current(self, path: str) -> bool:
        """Whether a file that some job makes is there, made by this code of this configuration."""
        maker = maker_of(path)
        if maker is None or not Path(path).exists():
            return False
        rule, wildcards = maker
        return made_with(Path(path)) == asdict(self.of(rule, **dict(wildcards)))

    # Data

    def _download(self, loader: str) -> Stage:  # noqa: ARG002 - a wildcard
        versions = file_digest(self.plan.shipped / "data" / "versions.csv")
        return Stage({}, code_digest("download"), [versions, self.plan.config.data_root])

    def _load_cases(self, dataset: str) -> Stage:
        self.plan.check_made_data(dataset)
        made = self.plan.needed_by_dataset(dataset).values()
        files = [
            f"results/{file}"
            for path in made
            for file in artifact_files(path, self.plan.config.shards)
        ]
        inputs = {**self._published_or_local(dataset), "made": files}
        return Stage(inputs, code_digest("cases", self._loader(dataset)), self._data(dataset))

    def _read_records(self, dataset: str) -> Stage:
        inputs = {**self._published_or_local(dataset), "cases": f"results/cases/{dataset}.parquet"}
        return Stage(inputs, code_digest("records", self._loader(dataset)))

    def _deidentification(self, dataset: str) -> Stage:
        code = code_digest("deidentification", self._loader(dataset))
        return Stage(self._published_or_local(dataset), code, self._data(dataset))

    def _train_baselines(self, dataset: str) -> Stage:
        names = self.plan.datasets[dataset].baselines
        modules = sorted({entry.build.__module__ for entry in select(names)})
        inputs = {kind: f"results/{kind}/{dataset}.parquet" for kind in ("cases", "features")}
        return Stage(
            inputs,
            code_digest("baselines", *modules),
            {"baselines": names, "seed": self.plan.config.seed},
        )

    def _loader(self, dataset: str) -> str:
        return LOADERS[self.plan.datasets[dataset].loader or dataset].load.__module__

    def _published_or_local(self, dataset: str) -> dict[str, str | list[str]]:
        """The record of a data set's download, or the user's own files behind it."""
        options = self.plan.datasets[dataset]
        record = f"results/downloads/{options.loader or dataset}.csv"
        local = list(map(str, self.plan.local_files(dataset)))
        return {"download": [record] if options.source == "download" else [], "local": local}

    def _data(self, dataset: str) -> JsonObject:
        """What of the configuration and of files that the user may change the cases depend on."""
        return {
            "options": self.plan.datasets[dataset].model_dump(mode="json", exclude={"baselines"}),
            "seed": self.plan.config.seed,
            "data_root": self.plan.config.data_root,
            "local": contents(self.plan.local_files(dataset)),
            "shipped": contents(self.plan.shipped_files()),
        }

    # Debates

    def _run_debates(self, experiment: str, model: str, shard: str = "0") -> Stage:
        plan, found = self.plan, self.plan.experiments[experiment]
        models, run = (
            plan.models_in_job(experiment, model),
            [one.run for one in protocols_of(found.config)],
        )
        answers = answer_files(experiment, model)
        inputs: dict[str, str | list[str]] = {
            name: f"results/{path}" for name, path in found.needed_by(model).items()
        }
        inputs |= {"cases": self._cases(experiment), "answers": list(map(str, answers))}
        content = {
            "experiment": found.config.model_dump(
                mode="json", exclude=COVERED_FIELDS | fields_marked(display_only=True)
            ),
            "models": digests.what_replies_depend_on(models),
            "seed": plan.config.seed,
            "shards": plan.shards(experiment),
            "answers": contents(answers),
        }
        own = [*(one.__module__ for one in run), *digests.endpoint_modules(models)]
        if schedule := plan.schedules.get(experiment):
            inputs["earlier"] = [
                path for run in schedule.runs for path in targets.shards(plan, *run)[: int(shard)]
            ]
            content |= schedule.digest_content()
            own += [INTERIM_RESULTS, type(schedule).__module__]
        if any(config.defers_batches for config in models.values()):
            content["puts_off"] = (
                True  # so that debates that wait are held again when runs begin to wait for batches
            )
        code = code_digest("debates", *own)
        prompts = found.prompts.digest(*templates_of_debates(found.config))
        return Stage(inputs, code, content, prompts)

    def _predict(self, experiment: str, model: str) -> Stage:
        return Stage(self._debates(experiment, model), code_digest("predictions"))

    def _train_assistant(self, experiment: str, model: str, features: str) -> Stage:
        inputs = self._debates(experiment, model)
        return Stage(inputs, code_digest("assistant"), [features, self.plan.config.seed])

    def _write_summaries(self, experiment: str, model: str) -> Stage:
        return Stage(
            {"shards": targets.shards(self.plan, experiment, model)}, code_digest("summaries")
        )

    def _cases(self, experiment: str) -> str:
        return f"results/cases/{self.plan.experiments[experiment].config.dataset}.parquet"

    def _debates(self, experiment: str, model: str) -> dict[str, str | list[str]]:
        return {
            "cases": self._cases(experiment),
            "shards": targets.shards(self.plan, experiment, model),
        }

    # Labels

    def _label_statements(self, experiment: str, model: str) -> Stage:
        plan, found = self.plan, self.plan.experiments[experiment]
        labelers, annotations = found.config.labelers, annotation_files()
        rubric = plan.rubric(experiment)
        judges = {
            name: plan.config.models[name] for name in plan.labelling_models(experiment, model)
        }
        sample = sample_files(experiment, model)
        others = [
            run.split("/") for run in targets.labelled(plan) if run != f"{experiment}/{model}"
        ]
        inputs = {
            **self._debates(experiment, model),
            # a file of annotations may speak of the other labelled experiments, too
            "others": (
                [path for run in others for path in targets.shards(plan, *run)]
                if annotations
                else []
            ),
            "annotations": list(map(str, annotations)),
            "sample": list(map(str, sample)),
        }
        content = {
            "labelers": labelers,
            "order": plan.config.annotations,
            "judges": digests.what_replies_depend_on(judges),
            "seed": plan.config.seed,
            "annotations": contents(annotations),
            "sample": contents(sample),
            "rubric": digests.rubric_text(rubric),
        }
        own = [LABELERS.extensions[name] for name in labelers if name in LABELERS.extensions]
        own += RUBRICS.extensions.values()
        code = code_digest(
            "labels",
            *LABELERS.modules(),
            *RUBRICS.modules(),
            *digests.endpoint_modules(judges),
            *own,
        )
        return Stage(
            inputs, code, content, found.prompts.digest(rubric.prompt) if judges and rubric else ""
        )

    def _write_annotation_sheet(self, experiment: str, model: str) -> Stage:
        config = self.plan.config
        found = self.plan.experiments[experiment]
        machines = [name for name in found.config.labelers if name != HUMAN]
        # the labels of machines say which statements help most
        labels = [f"results/annotations/{experiment}/{model}.parquet"] if machines else []
        inputs = {**self._debates(experiment, model), "annotations": labels}
        content = [
            config.seed,
            config.annotations,
            config.annotation_sample,
            digests.rubric_text(self.plan.rubric(experiment)),
        ]
        return Stage(inputs, code_digest("annotation_sheets"), content)

    # What people read

    def _reference(self) -> Stage:
        return Stage(
            {}, code_digest("reference", *digests.extension_modules()), self.plan.config.extensions
        )

    def _score(self, experiment: str) -> Stage:
        view = self.plan.view(experiment)
        told = asdict(replace(view, rubric=None))
        content = [told, digests.rubric_text(view.rubric), self.plan.config.seed]
        code = code_digest("scores", *SCORERS.modules(), *SCORERS.extensions.values())
        return Stage({"results": self._results(experiment)}, code, content)

    def _results(self, experiment: str) -> list[str]:
        """Cases, predictions, transcripts and labels of all models of an experiment."""
        config = self.plan.experiments[experiment].config
        return [
            self._cases(experiment),
            *(f"results/predictions/{experiment}/{model}.parquet" for model in config.models),
            *(
                path
                for model in config.models
                for path in targets.shards(self.plan, experiment, model)
            ),
            *(
                f"results/labels/{experiment}/{model}.parquet"
                for model in config.models
                if config.labelers
            ),
        ]

    def analysis_code(self) -> str:
        """The code from predictions and transcripts to the tests of contrasts."""
        metrics = CASE_METRICS.extensions.values()
        return code_digest(
            "scores",
            *SCORERS.modules(),
            CONTRASTS_TABLE,
            *SCORERS.extensions.values(),
            *metrics,
            *_test_modules(self.plan.contrasts),
        )

    def _outcome(self, study: str) -> Stage:
        inputs = {
            "predictions": targets.predictions(self.plan, study),
            "labels": targets.labels(self.plan, study),
        }
        return Stage(
            inputs, digest_with_files(code_digest("outcome"), [PAGE / "outcome.html"]), study
        )

    def _front_page(self, page: str) -> Stage:
        study = "" if page == INDEX else page
        templates = [PAGE / "index.html", PAGE / "outcome.html"]
        inputs = {**self._outcome(study).inputs, "shown": targets.shown(self.plan, study)}
        return Stage(inputs, digest_with_files(code_digest("front_page"), templates))

    def _reader(self, study: str) -> Stage:
        found = [
            name for name, experiment in self.plan.experiments.items() if experiment.study == study
        ]
        files = [path for name in found for path in self._results(name)]
        files += [f"results/calls/{run}.parquet" for run in targets.runs(self.plan, study)]
        code = digest_with_files(code_digest("reader"), page_files())
        return Stage({"results": list(dict.fromkeys(files))}, code, study)

    def _table(self, part: str) -> Stage:
        """Tables that one job builds (`part`, its name)."""
        names = targets.by_job(self.plan, TABLES)[part]
        studies = {TABLES[name].study for name in names}
        tested = [one for study in sorted(studies) for one in self.plan.contrasts_of(study)]
        builders = {TABLES[name].build.__module__ for name in names}
        shown = self._shown("table", studies, builders | _test_modules(tested))
        contrasts = [asdict(contrast) for contrast in tested]
        return replace(
            shown,
            inputs={**shown.inputs, "frozen": list(map(str, frozen_files())) if contrasts else []},
            own=[shown.own, contrasts, self.plan.config.deviation if contrasts else ""],
            code=digest_with_files(shown.code, [PAGE / "table.html"]),
        )

    def _figure(self, part: str) -> Stage:
        """Figures that one job draws (`part`, its name)."""
        figures = [FIGURES[name] for name in targets.by_job(self.plan, FIGURES)[part]]
        return self._shown(
            "figure", {one.study for one in figures}, {one.build.__module__ for one in figures}
        )

    def _shown(self, script: str, studies: Collection[str], builders: Iterable[str]) -> Stage:
        plan, published = self.plan, self.plan.shipped / "data" / "published"
        study = (
            COMPARISON if COMPARISON in studies else next(iter(studies))
        )  # which shows what the others do
        experiments, trained = (
            [found.name for found in plan.of_study(study)],
            plan.trained_for(study),
        )
        trials, controls = plan.trials_of(study), plan.controls_of(study)
        names = [*experiments, *(found.name for found in (*trials, *controls))]
        results = [path for name in names for path in self._results(name)]
        labelled = [run for run in targets.labelled(plan) if run.partition("/")[0] in experiments]
        results += [f"results/annotations/{run}.parquet" for run in labelled]
        results += [f"results/baselines/{dataset}_predictions.parquet" for dataset in trained]
        inputs: dict[str, str | list[str]] = {
            "results": list(dict.fromkeys(results)),
            "scores": [f"results/scores/{name}.parquet" for name in experiments],
            "baselines": [f"results/baselines/{dataset}.parquet" for dataset in trained],
            "published": str(published / "published_results.csv"),
            "findings": str(published / "findings.csv"),
            "claims": str(published / "claims.csv") if study == COMPARISON else [],
        }
        content = {
            "experiments": experiments,
            "trials": [found.name for found in trials],
            "controls": [(found.name, found.config.arm, found.config.of) for found in controls],
            "baselines": trained,
            "comparable": self._comparable(study),
        }
        metrics = CASE_METRICS.extensions.values()
        return Stage(inputs, code_digest(script, *sorted({*builders, *metrics})), content)

    def _comparable(self, study: str) -> list[str]:
        """What of a study's runs and data sets may be compared with published values."""
        found, experiments = compare_with_papers(self.plan), self.plan.of_study(study)
        names = {experiment.name for experiment in experiments}
        runs = [
            f"{name}/{model}: {run}"
            for (name, model), run in sorted(found.runs.items())
            if name in names
        ]
        used = {*self.plan.trained_for(study), *(found.config.dataset for found in experiments)}
        return runs + [
            f"{name}: {data}" for name, data in sorted(found.datasets.items()) if name in used
        ]

    def _render_transcripts(self, experiment: str, model: str) -> Stage:
        return Stage(self._predicted(experiment, model), code_digest("transcript"))

    def _write_minutes(self, experiment: str, model: str) -> Stage:
        return Stage(self._predicted(experiment, model), code_digest("minutes"))

    def _predicted(self, experiment: str, model: str) -> dict[str, str | list[str]]:
        predictions = f"results/predictions/{experiment}/{model}.parquet"
        return {**self._debates(experiment, model), "predictions": predictions}

    def _export(self, experiment: str, model: str, format: str) -> Stage:  # noqa: A002 - a wildcard
        inputs = {
            **self._predicted(experiment, model),
            "calls": f"results/calls/{experiment}/{model}.parquet",
            "scores": f"results/scores/{experiment}.parquet",
        }
        code = code_digest("export", EXPORTERS[format].write.__module__)
        return Stage(inputs, code, self.plan.config.publication.model_dump())


def _test_modules(contrasts: Iterable[Contrast]) -> set[str]:
    """The modules of the tests that analyses put in place of the usual one."""
    return {type(contrast.test).__module__ for contrast in contrasts if contrast.test}
