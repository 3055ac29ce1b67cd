# The checked plan, and the lists of files that the targets name.

import re
import sys
from pathlib import Path

sys.path.insert(0, str(SHIPPED / "scripts"))

from snakemake import io
from snakemake.exceptions import WorkflowError

from moot.core.command_line import check_memory_limit, let_jobs_import_this_copy
from moot.core.errors import UserError

try:  # before the larger libraries are imported
    check_memory_limit(workflow.cores or 1)
except UserError as error:
    raise WorkflowError(f"moot: {error}") from None

from moot.core.config import COMPARISON, RECORDED, over_defaults
from moot.core.model_entries import merge_models
from moot.core.places import Faults
from moot.core.log import stage_lines_asked_for
from moot.report.exports import EXPORTERS
from moot.workflow.console import show_stages
from moot.plan.experiments import artifact_files
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.workflow.digests import (
    CONTRASTS_TABLE,
    NAMES,
    SHEETS,
    Stages,
    annotation_files,
    answer_files,
    frozen_files,
    sample_files,
)

let_jobs_import_this_copy()

# Merged here and not by `configfile:`, which says of each file that others extend it, and which a module's `config` replaces.
if workflow.modifier.skip_configfile:
    deployed = [
        Path("config", "models.yaml"),
        *Path("config", "studies").glob("*.yaml"),
    ]
    DEFAULTS += sorted(file for file in deployed if file.is_file())
    given, merged_files = config, DEFAULTS
else:
    given = workflow.config_settings.config
    config = workflow.config_settings.overwrite_config
    merged_files = [*DEFAULTS, *map(Path, workflow.configfiles)]
config = over_defaults(config, DEFAULTS)
config_files = [*DEFAULTS, *map(Path, workflow.configfiles)]

faults = Faults()
changed_models = merge_models(config, merged_files, DEFAULTS, given, faults)
try:
    plan = Plan.from_yaml(config, SHIPPED, config_files, faults)
except UserError as error:
    raise WorkflowError(str(error)) from None

stages = Stages(plan)

if workflow.is_main_process:
    sys.stderr.writelines(f"moot: {line}\n" for line in changed_models)

if (
    stage_lines_asked_for()
    and workflow.is_main_process
    and not workflow.output_settings.dryrun
):
    show_stages()


# Snakemake limits how many jobs start within a second, and at each job that ends starts one more timer that looks again
# every second: of 160 jobs the last ones wait for 160 looks a second. On one machine the cores are the limit.
ON_A_CLUSTER = bool(workflow.resource_settings and workflow.resource_settings.nodes)
if workflow.scheduling_settings and not ON_A_CLUSTER:
    workflow.scheduling_settings.max_jobs_per_timespan = None


def one_of(names):
    """A pattern that matches these names alone, so that a target of another name is said to have no rule."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    dataset=one_of(plan.datasets),
    experiment=one_of(plan.experiments),
    model=one_of(plan.config.models),
    shard="[0-9]+",
    study="[^/]+",


# Recorded answers are read by as many jobs at once as there are cores; no call is made.
ASKED = [
    model
    for model in plan.models_used
    if plan.config.models[model].endpoint != RECORDED
]

for model in ASKED:
    workflow.register_resource(
        f"model_{model}", plan.jobs_at_once(model, workflow.cores)
    )


def model_slots(models_of_job):
    """One slot of each model that a job asks, and the graphics processors of the servers that it starts; `models_of_job`
    names the models by experiment and model.
    """

    def speaks_with(model):
        return lambda wildcards: int(
            model in models_of_job(wildcards.experiment, wildcards.model)
        )

    slots = {f"model_{model}": speaks_with(model) for model in ASKED}
    if not any(plan.gpus([model]) for model in ASKED):
        return slots
    return slots | {
        "gpu": lambda wildcards: plan.gpus(
            models_of_job(wildcards.experiment, wildcards.model)
        )
    }


def model_threads(models_of_job):
    """The processor threads of a job, by the models that it speaks with."""
    return lambda wildcards: plan.threads(
        models_of_job(wildcards.experiment, wildcards.model), workflow.cores
    )


def digest_params(stage, **fixed):
    """A rule's parameters `options`, `prompts` and `code`: digests of all that its jobs depend on, down to the configuration;
    and `job`, by which the digests are found again under any name that another workflow gives the rule.

    A change of one of them reruns the job; each covers what comes before, so that no failed run leaves a stale artifact.
    """

    def digest(name):
        return lambda wildcards: getattr(
            stages.of(stage, **dict(wildcards.items()), **fixed), name
        )

    return {**{name: digest(name) for name in NAMES}, "job": {"stage": stage, **fixed}}


def list_debated(study=None, protocol=None):
    """The experiments and models of a study or of all, of one protocol or of any."""
    return [
        f"{experiment.name}/{model}"
        for experiment in plan.experiments.values()
        if study in (None, experiment.study)
        if protocol in (None, experiment.config.protocol)
        for model in experiment.config.models
    ]


def has_words(experiment):
    """Whether what was said is at hand: of recorded debates the numbers alone ship."""
    dataset = plan.experiments[experiment].config.dataset
    return plan.datasets[dataset].source != "shipped"


def list_worded(study=None):
    """As `list_debated`, of those debates whose words are at hand to be read."""
    return [name for name in list_debated(study) if has_words(name.partition("/")[0])]


# What is real comes first: data, recorded debates and what follows from them, trained models, then debates that a model
# holds here. A model on a server need not wait; one inside the process of a trial run shows least, and comes last.
PREPARATION, RECORDS, AGGREGATION, ELSEWHERE, BASELINES = 50, 40, 30, 20, 10


def debates_priority(wildcards):
    """When debates are held, relative to the other jobs that could start."""
    models = plan.models_in_job(wildcards.experiment, wildcards.model).values()
    endpoints = {model.endpoint for model in models}
    if endpoints == {RECORDED}:
        return RECORDS
    return 0 if "embedded" in endpoints else ELSEWHERE


DATASETS = plan.datasets_used
EXPERIMENT_MODELS = list_debated()
CONFERENCES = list_debated(protocol="conference")


def model_made_files(wildcards):
    """The artifacts that a data set is read from: what a model wrote over another one."""
    try:
        plan.check_made_data(wildcards.dataset)
    except UserError as error:
        raise WorkflowError(str(error)) from None
    needed = plan.needed_by_dataset(wildcards.dataset).values()
    return [
        f"results/{file}"
        for path in needed
        for file in artifact_files(path, plan.config.shards)
    ]


def download_record(wildcards):
    """The record of a data set's download, where its source is `download`."""
    options = plan.datasets[wildcards.dataset]
    loader = options.loader or wildcards.dataset
    return f"results/downloads/{loader}.csv" if options.source == "download" else []


def local_files(wildcards):
    """The user's own files behind a data set; a change of one of them loads it again."""
    return list(map(str, plan.local_files(wildcards.dataset)))


def argued_cases(wildcards):
    """The cases that an experiment argues about."""
    return (
        f"results/cases/{plan.experiments[wildcards.experiment].config.dataset}.parquet"
    )


def needed_artifacts(wildcards):
    """The artifacts that a protocol's debates need first, by the names that it uses."""
    needed = plan.experiments[wildcards.experiment].needed_by(wildcards.model)
    return {name: f"results/{path}" for name, path in needed.items()}


def answer_paths(wildcards):
    """The answer files of people who sit in an experiment's debates; a new one makes the debates go on."""
    return list(map(str, answer_files(wildcards.experiment, wildcards.model)))


SHARDS = "results/transcripts/{experiment}/{model}/{shard}.parquet"


def resumed(wildcards):
    """How often the debates of a shard went on after a batch of a provider that no run waits for."""
    models = plan.models_in_job(wildcards.experiment, wildcards.model).values()
    if not any(model.puts_off for model in models):
        return 0
    from moot.workflow.resuming import times_resumed

    return times_resumed(Path(SHARDS.format(**wildcards)))


def transcript_shards(wildcards):
    """The transcripts of one experiment and model."""
    return collect(
        SHARDS,
        experiment=wildcards.experiment,
        model=wildcards.model,
        shard=range(plan.config.shards),
    )


def scored_files(experiment):
    """What an experiment's scores rest on: its cases, and the predictions, transcripts and labels of all its models."""
    config = plan.experiments[experiment].config
    named = {"experiment": experiment, "model": config.models}
    labels = "results/labels/{experiment}/{model}.parquet"
    return [
        f"results/cases/{config.dataset}.parquet",
        *collect("results/predictions/{experiment}/{model}.parquet", **named),
        *collect(SHARDS, shard=range(plan.config.shards), **named),
        *(collect(labels, **named) if config.labelers else []),
    ]


def debated_files(study):
    """What a study's debates are read from: those of each of its experiments, trial runs and control arms too."""
    found = [found for found in plan.experiments.values() if found.study == study]
    files = [path for experiment in found for path in scored_files(experiment.name)]
    files += [
        f"results/calls/{experiment.name}/{model}.parquet"
        for experiment in found
        for model in experiment.config.models
    ]
    return list(dict.fromkeys(files))


def study_inputs(study):
    """What the tables and figures of a study may show: its experiments' results, labels and scores, its data sets' baselines."""
    experiments = {found.name: found for found in plan.of_study(study)}
    further = [found.name for found in plan.trials_of(study) + plan.controls_of(study)]
    trained = plan.trained_for(study)
    results = [path for name in [*experiments, *further] for path in scored_files(name)]
    results += [
        f"results/annotations/{experiment}/{model}.parquet"
        for experiment, model in LABELLED
        if experiment in experiments
    ]
    results += collect(
        "results/baselines/{dataset}_predictions.parquet", dataset=trained
    )
    return {
        "results": list(dict.fromkeys(results)),
        "scores": collect(
            "results/scores/{experiment}.parquet", experiment=experiments
        ),
        "baselines": collect("results/baselines/{dataset}.parquet", dataset=trained),
        "published": f"{SHIPPED}/data/published/published_results.csv",
        "claims": (
            f"{SHIPPED}/data/published/claims.csv" if study == COMPARISON else []
        ),
    }


def frozen_plan(builder):
    """The frozen plans, for the tables that say whether the run is the newest of them."""
    return (
        {"frozen": list(map(str, frozen_files()))} if builder == CONTRASTS_TABLE else {}
    )


STUDIES = sorted({TABLES[name].study for name in TABLES})
DEBATED_STUDIES = sorted({found.study for found in plan.experiments.values()})
TABLE_ENDINGS, FIGURE_ENDINGS = ["csv", "xlsx", "tex"], ["png"]
TABLE_NAMES = [name for name in TABLES if plan.can_fill(TABLES[name])]
FIGURE_NAMES = [name for name in FIGURES if plan.can_fill(FIGURES[name])]


def study_artifacts(study):
    """The tables, figures, transcripts and minutes of one study; none where the configuration has no experiment of it."""
    tables = [name for name in TABLE_NAMES if TABLES[name].study == study]
    figures = [name for name in FIGURE_NAMES if FIGURES[name].study == study]
    debated = list_debated(study)
    conferences = list_debated(study, "conference")
    return [
        *collect(
            "results/tables/{name}.{ending}",
            name=tables,
            ending=[*TABLE_ENDINGS, "html"],
        ),
        *collect(
            "results/figures/{name}.{ending}",
            name=figures,
            ending=[*FIGURE_ENDINGS, "svg"],
        ),
        *collect(
            "results/rendered/{experiment_model}.md",
            experiment_model=list_worded(study),
        ),
        *collect(OUTCOME, study=[study] if debated else [], ending=["csv", "html"]),
        *collect("results/reader/{study}.html", study=[study] if debated else []),
        *collect("results/minutes/{conference}", conference=conferences),
    ]


LABELLED = list(stages.labelled())
OUTCOME = "results/outcome/{study}.{ending}"


def filled_sheets(wildcards):
    """What people have filled in so far."""
    return list(map(str, annotation_files()))


def drawn_sample(wildcards):
    """The sample of statements drawn for people, where they have labelled any."""
    return list(map(str, sample_files(wildcards.experiment, wildcards.model)))


def machine_labels(wildcards):
    """The labels of all labelers, if some are machines: they say which statements help most."""
    found = stages.machine_labelers(wildcards.experiment)
    return (
        collect("results/annotations/{experiment}/{model}.parquet", **wildcards)
        if found
        else []
    )


def other_transcripts(wildcards):
    """The transcripts of the other labelled experiments, where there are annotations: a file may speak of them too."""
    if not annotation_files():
        return []
    return [
        SHARDS.format(experiment=experiment, model=model, shard=shard)
        for experiment, model in LABELLED
        if (experiment, model) != (wildcards.experiment, wildcards.model)
        for shard in range(plan.config.shards)
    ]


def export_path(name):
    """Where a format is written: a file, or a folder."""
    return f"results/export/{name}/{{experiment}}/{{model}}{EXPORTERS[name].ending}"


def exports(name):
    """The exports of all experiments and models in one format."""
    pairs = (debated.split("/") for debated in EXPERIMENT_MODELS)
    return [
        export_path(name).format(experiment=experiment, model=model)
        for experiment, model in pairs
    ]


def outcome_label(wildcards):
    """What the report calls an outcome."""
    return {"study": "all" if wildcards.study == COMPARISON else wildcards.study}


def built_for_page(wildcards):
    """What the first page of a study, or of the whole run (`index`), is made of and links to."""
    study = COMPARISON if wildcards.page == "index" else wildcards.page
    shown = rules.shown.input if study == COMPARISON else study_artifacts(study)
    pages = [path for path in shown if not path.startswith("results/rendered/")]
    return [*study_predictions(study), *pages]
