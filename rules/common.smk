# The checked plan, and the lists of files that the targets name.

import sys
from pathlib import Path

SHIPPED = Path(workflow.basedir)
sys.path.insert(0, str(SHIPPED / "scripts"))

from snakemake.exceptions import WorkflowError

from moot.as_published import compare_with_papers
from moot.errors import UserError
from moot.plan import Plan, code_digest, modules_of
from moot.present import FIGURES, TABLES

try:
    plan = Plan.from_yaml(config, SHIPPED, map(Path, workflow.configfiles))
    COMPARABLE = compare_with_papers(plan)
except UserError as error:
    raise WorkflowError(str(error)) from None


wildcard_constraints:
    dataset="[^/]+",
    experiment="[^/]+",
    model="[^/]+",
    shard="[0-9]+",
    study="[^/]+",


for model in plan.config.models:
    workflow.register_resource(
        f"model_{model}", plan.jobs_at_once(model, workflow.cores)
    )


def speaks(model):
    """A function of a debate job's wildcards: 1 if it speaks with `model`."""
    return lambda wildcards: int(
        model in plan.models_of(wildcards.experiment, wildcards.model)
    )


MODEL_SLOTS = {f"model_{model}": speaks(model) for model in plan.config.models}
DATASETS = list(plan.datasets)
EXPERIMENT_MODELS = [
    f"{experiment.name}/{model}"
    for experiment in plan.experiments.values()
    for model in experiment.config.models
]


def summarised(wildcards):
    """The model's summaries of opinions that a data set is made of, where it has `source: cap`."""
    options = plan.datasets[wildcards.dataset]
    return (
        f"results/summaries/{options.summaries}.jsonl"
        if options.source == "cap"
        else []
    )


def downloaded(wildcards):
    """The record of a data set's download, where its source is `download`."""
    options = plan.datasets[wildcards.dataset]
    loader = options.loader or wildcards.dataset
    return f"results/downloads/{loader}.csv" if options.source == "download" else []


def local_files(wildcards):
    """The user's own files behind a data set; a change of one of them loads it again."""
    return list(map(str, plan.local_files(wildcards.dataset)))


def cases_of(wildcards):
    """The cases that an experiment argues about."""
    return (
        f"results/cases/{plan.experiments[wildcards.experiment].config.dataset}.parquet"
    )


def needed_artifacts(wildcards):
    """The artifacts that a protocol's debates need first, by the names that it uses."""
    needs = plan.experiments[wildcards.experiment].needs
    return {
        name: f"results/{path.format(model=wildcards.model)}"
        for name, path in needs.items()
    }


def answers_of_people(wildcards):
    """The answer files of people who sit in an experiment's debates; a new one makes the debates go on."""
    inbox = Path("data/inbox", wildcards.experiment, wildcards.model)
    return sorted(map(str, inbox.glob("*/*.answer.txt")))


def of_every_model(pattern, wildcards):
    """An experiment's files of one kind, one for each of its models."""
    models = plan.experiments[wildcards.experiment].config.models
    return collect(pattern, experiment=wildcards.experiment, model=models)


def labels_of(wildcards):
    """The labels of an experiment's statements, where its configuration names labelers."""
    labelled = plan.experiments[wildcards.experiment].config.labelers
    return (
        of_every_model("results/labels/{experiment}/{model}.parquet", wildcards)
        if labelled
        else []
    )


def results_of_study(wildcards):
    """What the tables and figures of a study may show: its experiments' scores and its data sets' leaderboards."""
    experiments = plan.of_study(wildcards.study)
    datasets = {experiment.config.dataset for experiment in experiments}
    return {
        "scores": [
            f"results/scores/{experiment.name}.parquet" for experiment in experiments
        ],
        "baselines": [
            f"results/baselines/{dataset}.parquet"
            for dataset in plan.with_baselines
            if dataset in datasets
        ],
    }


def as_published(wildcards):
    """What of a study's runs may be compared with published values: tables follow from it."""
    names = {experiment.name for experiment in plan.of_study(wildcards.study)}
    return [
        f"{experiment}/{model}: {', '.join(found.repeats) or found.differs}"
        for (experiment, model), found in COMPARABLE.runs.items()
        if experiment in names
    ]


def package_digest(package):
    """A digest of every module of a package, for rules that run whatever is registered in it."""
    return code_digest(*modules_of(package))


TABLE_ENDINGS, FIGURE_ENDINGS = ["csv", "tex", "html"], ["png", "svg"]
TABLE_NAMES = [name for name in TABLES if TABLES[name].study in plan.studies]
FIGURE_NAMES = [name for name in FIGURES if FIGURES[name].study in plan.studies]


def artifacts_of(study):
    """The tables, figures and transcripts of one study; none where the configuration has no experiment of it."""
    tables = [name for name in TABLE_NAMES if TABLES[name].study == study]
    figures = [name for name in FIGURE_NAMES if FIGURES[name].study == study]
    debated = [
        f"{experiment.name}/{model}"
        for experiment in plan.experiments.values()
        if experiment.study == study
        for model in experiment.config.models
    ]
    return [
        *collect("results/tables/{table}.{ending}", table=tables, ending=TABLE_ENDINGS),
        *collect(
            "results/figures/{figure}.{ending}", figure=figures, ending=FIGURE_ENDINGS
        ),
        *collect("results/reading/{experiment_model}.md", experiment_model=debated),
        *collect(OUTCOME, study=[study] if debated else [], ending=["csv", "html"]),
    ]


LABELLED = [
    (experiment.name, model)
    for experiment in plan.experiments.values()
    if experiment.config.labelers
    for model in experiment.config.models
]
OUTCOME = "results/outcome/{study}.{ending}"
SHARDS = "results/transcripts/{experiment}/{model}/{shard}.parquet"


def annotation_files(wildcards):
    """What people have filled in so far."""
    return sorted(
        str(path)
        for path in Path("data/annotations").glob("*")
        if path.suffix in (".csv", ".json")
    )


def other_transcripts(wildcards):
    """The transcripts of the other labelled experiments, where there are annotations: a file may speak of them too."""
    if not annotation_files(wildcards):
        return []
    return [
        SHARDS.format(experiment=experiment, model=model, shard=shard)
        for experiment, model in LABELLED
        if (experiment, model) != (wildcards.experiment, wildcards.model)
        for shard in range(plan.config.shards)
    ]
