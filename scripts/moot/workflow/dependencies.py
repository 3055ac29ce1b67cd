"""The dependencies of jobs: configuration, user files, and code that is chosen by name.

Rules state them as parameters, by their digests. What depends on earlier jobs is left to Snakemake,
which compares the times of files.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

from moot.core.artifacts import file_digest
from moot.core.code_digest import digest_of, source_of
from moot.core.endpoint_traits import endpoint_traits
from moot.core.experiment_config import COMPARISON, ExperimentConfig, fields_marked
from moot.core.model_config import ModelConfig
from moot.core.registry import REGISTRIES
from moot.core.rubric import Rubric
from moot.core.types import JsonObject
from moot.datasets import LOADERS
from moot.llm.endpoints import ENDPOINTS
from moot.llm.identity import model_asked, served_as
from moot.plan.grid_expansion import protocols_of, templates_of_debates
from moot.plan.papers_of_run import compare_with_papers
from moot.plan.plan import Plan
from moot.protocols.controls import CONTROLS
from moot.report.turn_effects import TURN_EFFECTS
from moot.scores import SCORERS
from moot.scores.case_metrics import CASE_METRICS
from moot.workflow.user_files import annotation_files, answer_files

FIELDS_OF_REPLIES = {
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
"""The fields of a model's entry that affect replies. The others affect speed and patience."""

COVERED_FIELDS = {"models", "prompts"}
"""The fields of an experiment that other digests of its debates cover."""

DEBATE_CODE = (
    "core",
    "jobs/debates.py",
    "jobs/standins.py",
    "llm",
    "plan/debated_cases.py",
    "protocols",
    "!analyses/*/effects*.py",
    "!analyses/*/figures*.py",
    "!analyses/*/scores*.py",
    "!analyses/*/tables*.py",
    "!studies/*/figures*.py",
    "!studies/*/papers*.py",
    "!studies/*/scores*.py",
    "!studies/*/tables*.py",
)
"""The code of every debate, as `digest_of` reads it, without its protocol."""

CODE_AFTER_LOADING = (
    "!analyses/*/analysis.py",
    "!analyses/*/tables*.py",
    "!studies/*/figures*.py",
    "!studies/*/papers*.py",
    "!studies/*/protocol*.py",
    "!studies/*/scores*.py",
    "!studies/*/tables*.py",
)
"""The code of a loader's study, and of analyses that change people, on which cases do not
depend.
"""

ANALYSIS_CODE = (
    "core",
    "scores",
    "stats",
    "studies/*/scores*.py",
    "overview/tables_contrasts.py",
)
"""The code from predictions and transcripts to the tests of contrasts."""


def digest_of_options(options: object) -> str:
    """Return a digest of a JSON value."""
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()[:16]


def describe_files(paths: Iterable[Path]) -> list[str]:
    """Return the name and the digest of each file."""
    return [f"{path.name} {file_digest(path)}" for path in paths]


# Data


def data_options(plan: Plan, dataset: str) -> JsonObject:
    """Return the configuration and files that the cases of a data set depend on."""
    options = plan.datasets[dataset]
    return {
        "options": options.model_dump(mode="json", exclude={"baselines"}),
        "seed": plan.config.seed,
        "data_root": plan.config.data_root,
        "local": describe_files(plan.local_files(dataset)),
        "shipped": describe_files(plan.shipped_files(dataset)),
    }


def loader_code(plan: Plan, dataset: str) -> list[str]:
    """Return the code that loads a data set, without its study's other code."""
    loader = LOADERS[plan.datasets[dataset].loader or dataset]
    return [source_of(loader.load.__module__), *CODE_AFTER_LOADING]


# Models


def reply_options(models: Mapping[str, ModelConfig]) -> JsonObject:
    """Return the parts of models' entries on which their replies depend."""
    return {name: _reply_options(models[name]) for name in sorted(models)}


def _reply_options(model: ModelConfig) -> JsonObject:
    fields = FIELDS_OF_REPLIES | set(endpoint_traits(model.endpoint).request_keys)
    if "confidence_scale" in model.model_fields_set:
        fields.add("confidence_scale")
    if model.omit:
        fields.add("omit")
    entry = model.model_dump(mode="json", include=fields)
    return {**entry, "model": model_asked(model), "server": served_as(model)}


def endpoint_code(models: Mapping[str, ModelConfig]) -> list[str]:
    """Return the code of the extensions whose endpoints some models use."""
    modules = ENDPOINTS.extensions
    endpoints = {model.endpoint for model in models.values()}
    return sorted({source_of(modules[name]) for name in endpoints if name in modules})


def extension_code() -> list[str]:
    """Return the folders of all extensions that register something."""
    modules: set[str] = set()
    for registry in REGISTRIES:
        modules.update(registry.extensions.values())
    return sorted({source_of(module) for module in modules})


# Debates


@cache
def debate_options(plan: Plan, experiment: str, model: str) -> JsonObject:
    """Return the configuration and people's answers that debates depend on."""
    models = plan.models_in_job(experiment, model)
    options: JsonObject = {
        "experiment": experiment_options(plan.experiments[experiment].config),
        "models": reply_options(models),
        "seed": plan.config.seed,
        "shards": plan.config.shards,
        "answers": describe_files(answer_files(experiment, model)),
    }
    if any(config.defers_replies for config in models.values()):
        # Waiting debates are held again as soon as the configuration says to wait for replies.
        options["defers_batches"] = True
    return options


def experiment_options(config: ExperimentConfig) -> JsonObject:
    """Return the fields of an experiment that its debates depend on.

    Fields that another digest covers are left out.
    """
    excluded = COVERED_FIELDS | fields_marked(display_only=True)
    return config.model_dump(mode="json", exclude=excluded)


def debate_prompts(plan: Plan, experiment: str) -> str:
    """Return a digest of the prompt templates of an experiment's debates."""
    entry = plan.experiments[experiment]
    return entry.prompts.digest(*templates_of_debates(entry.config))


def debate_code(plan: Plan, experiment: str, model: str) -> list[str]:
    """Return the code of an experiment's debates.

    It is the code of all debates, of the protocol's study or analysis, and of the analysis that
    changes the debates.
    """
    config = plan.experiments[experiment].config
    code = {source_of(protocol.run.__module__) for protocol in protocols_of(config)}
    if config.control:
        code.update(map(source_of, CONTROLS.modules()))
    code.update(endpoint_code(plan.models_in_job(experiment, model)))
    return [*DEBATE_CODE, *sorted(code)]


# Labels


def label_options(plan: Plan, experiment: str, model: str) -> JsonObject:
    """Return the configuration and people's files that the labels of statements depend on."""
    return {
        "labelers": plan.experiments[experiment].config.labelers,
        "order": plan.config.annotations,
        "judges": reply_options(_label_judges(plan, experiment, model)),
        "seed": plan.config.seed,
        "annotations": describe_files(annotation_files()),
        "rubric": rubric_text(plan.rubric(experiment)),
    }


def label_prompts(plan: Plan, experiment: str, model: str) -> str:
    """Return a digest of the rubric's prompt, if a model labels statements."""
    rubric = plan.rubric(experiment)
    if rubric is None or not _label_judges(plan, experiment, model):
        return ""
    return plan.experiments[experiment].prompts.digest(rubric.prompt)


def label_code(plan: Plan, experiment: str, model: str) -> list[str]:
    """Return the code of the models and the extensions that label statements."""
    return [*endpoint_code(_label_judges(plan, experiment, model)), *extension_code()]


def _label_judges(plan: Plan, experiment: str, model: str) -> dict[str, ModelConfig]:
    names = plan.labelling_models(experiment, model)
    return {name: plan.config.models[name] for name in names}


def sheet_options(plan: Plan, experiment: str) -> list[object]:
    """Return the configuration that an annotation sheet depends on."""
    config = plan.config
    rubric = rubric_text(plan.rubric(experiment))
    return [config.seed, config.annotations, config.annotation_sample, rubric]


def rubric_text(rubric: Rubric | None) -> str:
    """Return a rubric as JSON text, since the order of its labels counts."""
    return rubric.model_dump_json() if rubric else ""


# Scores, tables and figures


def score_options(plan: Plan, experiment: str) -> list[object]:
    """Return the configuration that the scores of an experiment depend on."""
    view = plan.view(experiment)
    entry = asdict(replace(view, rubric=None))
    return [entry, rubric_text(view.rubric), plan.config.seed]


def configuration_digest(plan: Plan, experiment: str) -> str:
    """Return a digest of the configuration that an experiment's scores depend on.

    It covers all from the data to the labels.
    """
    config = plan.experiments[experiment].config
    options: list[object] = [data_options(plan, config.dataset), score_options(plan, experiment)]
    for model in config.models:
        options += [debate_options(plan, experiment, model), label_options(plan, experiment, model)]
    return digest_of_options(options)


def analysis_code_digest() -> str:
    """Return a digest of the code from predictions and transcripts to the tests of contrasts."""
    extensions = {*SCORERS.extensions.values(), *CASE_METRICS.extensions.values()}
    code = {*map(source_of, extensions)}
    return digest_of(*ANALYSIS_CODE, *sorted(code))


def presented_study(studies: Iterable[str]) -> str:
    """Return the study whose results a job presents.

    The comparison presents the results of all studies.
    """
    names = list(studies)
    return COMPARISON if COMPARISON in names else names[0]


def presentation_options(plan: Plan, study: str) -> JsonObject:
    """Return the configuration that tables and figures of a study depend on."""
    controls = plan.controls_of(study)
    return {
        "experiments": [experiment.name for experiment in plan.experiments_of(study)],
        "trials": [experiment.name for experiment in plan.trials_of(study)],
        "controls": [
            (entry.name, entry.config.control, entry.config.control_of) for entry in controls
        ],
        "baselines": plan.trained_datasets_of(study),
        "comparable": _comparable_results(plan, study),
    }


def contrast_options(plan: Plan, studies: Iterable[str]) -> list[object]:
    """Return the configuration that the tests of some studies' contrasts depend on."""
    contrasts: list[object] = []
    for study in sorted(studies):
        contrasts += [asdict(contrast) for contrast in plan.contrasts_of(study)]
    if not contrasts:
        return [contrasts, ""]
    power = plan.config.power.model_dump()
    return [contrasts, plan.config.deviation, power]


def table_options(plan: Plan, study: str, studies: Iterable[str]) -> list[object]:
    """Return the configuration that the tables of some studies depend on."""
    return [presentation_options(plan, study), contrast_options(plan, studies)]


def builder_code(modules: Iterable[str]) -> list[str]:
    """Return the code of the studies, analyses and extensions that build tables or figures."""
    return sorted(map(source_of, {*modules, *CASE_METRICS.extensions.values()}))


def turn_effect_code() -> list[str]:
    """Return the code of the analyses that measure effects of turns.

    The reader and exports depend on it.
    """
    return sorted(map(source_of, TURN_EFFECTS.modules()))


def _comparable_results(plan: Plan, study: str) -> list[str]:
    """Return the runs and data sets of a study that may be compared with published values."""
    comparison, experiments = compare_with_papers(plan), plan.experiments_of(study)
    names = {experiment.name for experiment in experiments}
    datasets = {*plan.trained_datasets_of(study), *(entry.config.dataset for entry in experiments)}
    comparable = [
        f"{name}/{model}: {run}"
        for (name, model), run in sorted(comparison.runs.items())
        if name in names
    ]
    for name, data in sorted(comparison.datasets.items()):
        if name in datasets:
            comparable.append(f"{name}: {data}")
    return comparable
