"""What each job of the workflow depends on in addition to its files: three digests, which its rule has as parameters.

They are cumulative: a job's digests cover what it depends on itself and what the jobs before it depend on, down to the
configuration. So a change upstream changes the recorded parameters of every job that follows from it, and whatever a
failed, stopped or killed run left behind is built again by the next one, although the files in between are gone.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from moot.core.artifacts import file_digest
from moot.core.code_digest import code_digest
from moot.core.config import COMPARISON
from moot.core.model_config import SIMULATED, ModelConfig
from moot.core.rubric import RUBRICS
from moot.datasets import LOADERS
from moot.labels import HUMAN, LABELERS
from moot.labels.sample import sample_file
from moot.llm.endpoints import ENDPOINTS
from moot.llm.identity import model_asked, served_as
from moot.plan.arm_experiments import templates_of_arm
from moot.plan.as_published import compare_with_papers
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from moot.report import FIGURES, TABLES
from moot.report.content import Comparable
from moot.report.escaping import PAGE
from moot.report.exports import EXPORTERS
from moot.report.reader import page_files
from moot.scores import SCORERS
from moot.scores.case_metrics import CASE_METRICS
from moot.training.baselines import BASELINES, select

NAMES = ("options", "prompts", "code")
CONTRASTS_TABLE = "moot.studies.across.tables_contrasts"
INBOX, FROZEN = Path("data/inbox"), Path("data/frozen")
ANNOTATIONS, SHEETS = Path("data/annotations"), Path("data/annotation_sheets")

REPLIES_DEPEND_ON = {
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
"""Of a model's entry; the others say how fast and how patiently it is asked."""
NOT_OF_DEBATES = {"study", "labelers", "models", "prompts", "arms", "arm_models", "arm_cases", "trial_on_request"}
"""Of an experiment's entry: what its debates do not depend on, or what another digest covers."""


@dataclass(frozen=True)
class Digests:
    """What a job depends on: options (configuration, seed, the user's own files), prompts, and code."""

    options: str
    prompts: str
    code: str

    def as_dict(self) -> dict[str, str]:
        """The digests by the names that rules and artifacts give them."""
        return {name: getattr(self, name) for name in NAMES}


def answer_files(experiment: str, model: str) -> list[Path]:
    """The answers of people who sit in an experiment's debates."""
    return sorted((INBOX / experiment / model).glob("*/*.answer.txt"))


def annotation_files() -> list[Path]:
    """The sheets and exports that people have filled in so far."""
    return sorted(path for path in ANNOTATIONS.glob("*") if path.suffix in (".csv", ".json"))


def sample_files(experiment: str, model: str) -> list[Path]:
    """The sample of statements drawn for people, where they have labelled any."""
    path = sample_file(SHEETS, experiment, model)
    return [path] if path.exists() and annotation_files() else []


def frozen_files() -> list[Path]:
    """The frozen plans of the working directory, oldest first: plan-1.json, plan-2.json, ..."""
    return sorted(FROZEN.glob("plan-*.json"), key=lambda path: (len(path.name), path.name))


class Stages:
    """The digests of every job that a plan may have; one method a rule, of its name, called with its wildcards."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._known: dict[tuple[str, tuple[tuple[str, str], ...]], Digests] = {}

    def of(self, rule: str, **wildcards: str) -> Digests:
        """The digests of a rule's job.

        Raises:
            KeyError: there is no such rule, or the plan names no such experiment, model or data set.
        """
        key = (rule, tuple(sorted(wildcards.items())))
        if key not in self._known:
            method: Callable[..., Digests] | None = getattr(self, rule, None)
            if method is None:
                raise KeyError(rule)
            self._known[key] = method(**wildcards)
        return self._known[key]

    # Data

    def download(self, loader: str) -> Digests:  # noqa: ARG002 - a wildcard
        """The pinned addresses of a data set's files."""
        versions = file_digest(self.plan.shipped / "data" / "versions.csv")
        return _digests([versions, self.plan.config.data_root], code_digest("download"))

    def load_cases(self, dataset: str) -> Digests:
        """A data set's options and files, and the loader with what that imports."""
        options = self.plan.datasets[dataset]
        loader = options.loader or dataset
        before = []
        if options.source == "download":
            before.append(self.of("download", loader=loader))
        before += [self.artifact(path) for path in self.plan.needed_by_dataset(dataset).values()]
        content = {
            "options": options.model_dump(mode="json", exclude={"baselines"}),
            "seed": self.plan.config.seed,
            "data_root": self.plan.config.data_root,
            "local": _contents(self.plan.local_files(dataset)),
            "shipped": _contents(self.plan.shipped_files()),
        }
        return _digests(content, code_digest("cases", LOADERS[loader].load.__module__), before=before)

    def read_records(self, dataset: str) -> Digests:
        """The cases, and the reader of the debates over them."""
        loader = LOADERS[self.plan.datasets[dataset].loader or dataset]
        code = code_digest("records", loader.load.__module__)
        return _digests(None, code, before=[self.of("load_cases", dataset=dataset)])

    def deidentification(self, dataset: str) -> Digests:
        """As the cases, by another script."""
        before = [self.of("load_cases", dataset=dataset)]
        return _digests(None, code_digest("deidentification"), before=before)

    def train_baselines(self, dataset: str) -> Digests:
        """The baselines that a data set names."""
        names = self.plan.datasets[dataset].baselines
        modules = sorted({entry.build.__module__ for entry in select(names)})
        content = {"baselines": names, "seed": self.plan.config.seed}
        return _digests(content, code_digest("baselines", *modules), before=[self.of("load_cases", dataset=dataset)])

    # Debates

    def run_debates(self, experiment: str, model: str, shard: str = "") -> Digests:  # noqa: ARG002 - a wildcard
        """The protocol, its parameters and prompts, the models that speak, and the code that reaches them."""
        plan, found = self.plan, self.plan.experiments[experiment]
        protocol, models = PROTOCOLS[found.config.protocol], plan.models_in_job(experiment, model)
        content = {
            "experiment": found.config.model_dump(mode="json", exclude=NOT_OF_DEBATES),
            "models": _what_replies_depend_on(models),
            "seed": plan.config.seed,
            "shards": plan.config.shards,
            "answers": _contents(answer_files(experiment, model)),
        }
        if any(config.puts_off for config in models.values()):
            content["puts_off"] = True  # so that debates that wait are held again when runs begin to wait for batches
        code = code_digest("debates", protocol.run.__module__, *_endpoints(models))
        templates = found.prompts.digest(*protocol.prompts, *templates_of_arm(found.config.arm))
        before = [
            self.of("load_cases", dataset=found.config.dataset),
            *(self.artifact(path) for path in found.needed_by(model).values()),
        ]
        return _digests(content, code, templates, before)

    def artifact(self, path: str) -> Digests:
        """The digests of an artifact that debates or data sets may need, by its path below `results/`."""
        kind = Path(path).parts[0]
        is_file = kind != "transcripts"
        _, experiment, *rest = Path(path.removesuffix(Path(path).suffix) if is_file else path).parts
        if kind == "records":
            return self.of("read_records", dataset=experiment)
        if kind == "assistants":
            return self.of("train_assistant", experiment=experiment, model=rest[0], features=rest[1])
        rule = {"predictions": "predict", "transcripts": "run_debates", "summaries": "write_summaries"}[kind]
        return self.of(rule, experiment=experiment, model=rest[0])

    def predict(self, experiment: str, model: str) -> Digests:
        """The debates."""
        before = [self.of("run_debates", experiment=experiment, model=model)]
        return _digests(None, code_digest("predictions"), before=before)

    def train_assistant(self, experiment: str, model: str, features: str) -> Digests:
        """The debates over training cases."""
        before = [self.of("run_debates", experiment=experiment, model=model)]
        return _digests([features, self.plan.config.seed], code_digest("assistant"), before=before)

    def write_summaries(self, experiment: str, model: str) -> Digests:
        """The debates that summarise."""
        before = [self.of("run_debates", experiment=experiment, model=model)]
        return _digests(None, code_digest("summaries"), before=before)

    # Labels

    def labelled(self) -> Iterator[tuple[str, str]]:
        """The experiments and models whose statements are labelled."""
        for name, found in self.plan.experiments.items():
            if found.config.labelers:
                yield from ((name, model) for model in found.config.models)

    def label_statements(self, experiment: str, model: str) -> Digests:
        """The labelers, the models among them, and what people filled in, about any labelled experiment."""
        annotations = annotation_files()
        rubric = RUBRICS[PROTOCOLS[self.plan.experiments[experiment].config.protocol].rubric]
        judges = {name: self.plan.config.models[name] for name in self.plan.labelling_models(experiment, model)}
        content = {
            "labelers": self.plan.experiments[experiment].config.labelers,
            "order": self.plan.config.annotations,
            "judges": _what_replies_depend_on(judges),
            "seed": self.plan.config.seed,
            "annotations": _contents(annotations),
            "sample": _contents(sample_files(experiment, model)),
        }
        about = {(experiment, model), *(self.labelled() if annotations else ())}
        before = [self.of("run_debates", experiment=name, model=model) for name, model in sorted(about)]
        found = self.plan.experiments[experiment]
        prompts = found.prompts.digest(rubric.prompt) if judges else ""
        own = [LABELERS.extensions[name] for name in found.config.labelers if name in LABELERS.extensions]
        return _digests(
            content,
            code_digest("labels", *LABELERS.modules(), *RUBRICS.modules(), *_endpoints(judges), *own),
            prompts,
            before,
        )

    def write_annotation_sheet(self, experiment: str, model: str) -> Digests:
        """The debates whose statements people label, and the labels of machines."""
        rule = "label_statements" if self.machine_labelers(experiment) else "run_debates"
        before = [self.of(rule, experiment=experiment, model=model)]
        content = [self.plan.config.seed, self.plan.config.annotations, self.plan.config.annotation_sample]
        return _digests(content, code_digest("annotation_sheets"), before=before)

    def machine_labelers(self, experiment: str) -> list[str]:
        """The machine labelers of an experiment."""
        return [name for name in self.plan.experiments[experiment].config.labelers if name != HUMAN]

    # What people read

    def reference(self) -> Digests:
        """All that registers something."""
        return _digests(self.plan.config.extensions, code_digest("reference", *_extension_modules()))

    def score(self, experiment: str) -> Digests:
        """The predictions, transcripts and labels of all models of an experiment."""
        config = self.plan.experiments[experiment].config
        content = [asdict(self.plan.view(experiment)), self.plan.config.seed]
        before = [self.of("predict", experiment=experiment, model=model) for model in config.models]
        if config.labelers:
            before += [self.of("label_statements", experiment=experiment, model=model) for model in config.models]
        code = code_digest("scores", *SCORERS.modules(), *SCORERS.extensions.values())
        return _digests(content, code, before=before)

    def analysis_code(self) -> str:
        """The code from predictions and transcripts to the tests of contrasts."""
        metrics = CASE_METRICS.extensions.values()
        return code_digest("scores", *SCORERS.modules(), CONTRASTS_TABLE, *SCORERS.extensions.values(), *metrics)

    def replies_depend_on(self, model: str) -> dict[str, Any]:
        """What of a model's entry its replies depend on."""
        return _what_its_replies_depend_on(self.plan.config.models[model])

    def outcome(self, study: str) -> Digests:
        """The predictions and labels of a study's experiments; of `comparison`, of all."""
        found = self.plan.asked_in(study)
        jobs = [(experiment.name, model) for experiment in found for model in experiment.config.models]
        labelled = [job for job in self.labelled() if job in jobs]
        before = [self.of("predict", experiment=name, model=model) for name, model in jobs]
        before += [self.of("label_statements", experiment=name, model=model) for name, model in labelled]
        code = _digest([code_digest("outcome"), _contents([PAGE / "outcome.html"])])
        return _digests(study, code, before=before)

    def front_page(self, page: str) -> Digests:
        """As the outcome of a study, or of all, and the page's template."""
        code = _digest([code_digest("front_page"), _contents([PAGE / "index.html"])])
        return _digests(None, code, before=[self.of("outcome", study=COMPARISON if page == "index" else page)])

    def reader(self, study: str) -> Digests:
        """As the outcome, and the files that every page is made of."""
        outcome = self.of("outcome", study=study)
        return _digests(study, _digest([code_digest("reader"), _contents(page_files())]), before=[outcome])

    def table(self, study: str, builder: str) -> Digests:
        """The tables of a study that one module (`builder`, its dotted name) builds."""
        return self._shown("table", study, builder)

    def figure(self, study: str, builder: str) -> Digests:
        """The figures of a study that one module (`builder`, its dotted name) draws."""
        return self._shown("figure", study, builder)

    def _shown(self, script: str, study: str, builder: str) -> Digests:
        experiments, trials = self.plan.of_study(study), self.plan.trials_of(study)
        controls = self.plan.controls_of(study)
        trained = self.plan.trained_for(study)
        before = [
            *(self.of("score", experiment=experiment.name) for experiment in experiments),
            *(
                self.of("predict", experiment=found.name, model=model)
                for found in (*trials, *controls)
                for model in found.config.models
            ),
            *(self.of("train_baselines", dataset=dataset) for dataset in trained),
        ]
        content: dict[str, object] = {
            "experiments": [found.name for found in experiments],
            "trials": [found.name for found in trials],
            "controls": [(found.name, found.config.arm, found.config.of) for found in controls],
            "baselines": trained,
            "comparable": self.comparable(study),
        }
        if builder == CONTRASTS_TABLE:
            content["contrasts"] = [asdict(contrast) for contrast in self.plan.contrasts_of(study)]
        metrics = CASE_METRICS.extensions.values() if builder == CONTRASTS_TABLE else ()
        code = _digest([code_digest(script, builder, *metrics), _contents([PAGE / "table.html"])])
        return _digests(content, code, before=before)

    def comparable(self, study: str) -> list[str]:
        """What of a study's runs and data sets may be compared with published values."""
        found = self._comparable
        names = {experiment.name for experiment in self.plan.of_study(study)}
        runs = [f"{name}/{model}: {run}" for (name, model), run in sorted(found.runs.items()) if name in names]
        used = {*self.plan.trained_for(study), *(found.config.dataset for found in self.plan.of_study(study))}
        return runs + [f"{name}: {data}" for name, data in sorted(found.datasets.items()) if name in used]

    @cached_property
    def _comparable(self) -> Comparable:
        return compare_with_papers(self.plan)

    def render_transcripts(self, experiment: str, model: str) -> Digests:
        """The predictions, and through them the debates."""
        return self._rendered("transcript", experiment, model)

    def write_minutes(self, experiment: str, model: str) -> Digests:
        """As transcripts."""
        return self._rendered("minutes", experiment, model)

    def export(self, experiment: str, model: str, format: str) -> Digests:  # noqa: A002 - a wildcard
        """The scores and predictions, who publishes them, and how a format is written."""
        publication = self.plan.config.publication.model_dump()
        before = [
            self.of("score", experiment=experiment),
            self.of("predict", experiment=experiment, model=model),
        ]
        return _digests(publication, code_digest("export", EXPORTERS[format].write.__module__), before=before)

    def _rendered(self, script: str, experiment: str, model: str) -> Digests:
        before = [self.of("predict", experiment=experiment, model=model)]
        return _digests(None, code_digest(script), before=before)


def _digests(own: object, code: str, prompts: str = "", before: Iterable[Digests] = ()) -> Digests:
    """What a job depends on itself, and what the jobs before it do."""
    before = list(before)
    return Digests(
        options=_digest([own, sorted(found.options for found in before)]),
        prompts=_digest([prompts, sorted({found.prompts for found in before})]),
        code=_digest([code, sorted({found.code for found in before})]),
    )


def _extension_modules() -> list[str]:
    """Every module of the user's own that registers something."""
    found = (LOADERS, PROTOCOLS, ENDPOINTS, LABELERS, SCORERS, TABLES, FIGURES, BASELINES, EXPORTERS)
    return sorted({module for registry in found for module in registry.extensions.values()})


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _contents(paths: Iterable[Path]) -> list[str]:
    return [f"{path.name} {file_digest(path)}" for path in paths]


def _what_replies_depend_on(models: Mapping[str, ModelConfig]) -> dict[str, Any]:
    return {name: _what_its_replies_depend_on(models[name]) for name in sorted(models)}


def _what_its_replies_depend_on(model: ModelConfig) -> dict[str, Any]:
    fields = REPLIES_DEPEND_ON | ({"simulated"} if model.endpoint == SIMULATED else set())
    asked = {"model": model_asked(model), "server": served_as(model)}
    return model.model_dump(mode="json", include=fields) | asked


def _endpoints(models: Mapping[str, ModelConfig]) -> list[str]:
    """The modules of the kinds of endpoint that some models are reached by."""
    shipped = {name.rpartition(".")[2]: name for name in ENDPOINTS.modules()}
    known = {**ENDPOINTS.extensions, **shipped}
    wanted = {known[config.endpoint] for config in models.values() if config.endpoint in known}
    return ["moot.llm.endpoints", *sorted(wanted)]
