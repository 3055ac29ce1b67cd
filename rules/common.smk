# The checked plan, and what rules take from it.

import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(SHIPPED / "scripts"))

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
from moot.plan.kept import DESK, keep_in
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.exports import EXPORTERS
from moot.report.outcome import read_outcome
from moot.workflow import targets
from moot.workflow.console import show_stages
from moot.workflow.digests import NAMES, SHEETS, Stages
from moot.workflow.resuming import SHARDS, resumed

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
    settings = workflow.config_settings
    given, config = settings.config, settings.overwrite_config
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

sys.stderr.writelines(f"moot: {line}\n" for line in changed_models)

# A dry run and a job of a cluster show Snakemake's own lines.
IS_RUN = workflow.is_main_process and not workflow.output_settings.dryrun
if IS_RUN and DESK in os.environ:
    keep_in(Path(os.environ[DESK]), plan, config)
if stage_lines_asked_for() and IS_RUN:
    show_stages()

# Snakemake limits how many jobs start within a second, and at each job that ends starts one more timer that looks again
# every second: of 160 jobs the last ones wait for 160 looks a second. On one machine the cores are the limit.
settings, scheduling = workflow.resource_settings, workflow.scheduling_settings
ON_A_CLUSTER = bool(settings and settings.nodes)
if scheduling and not ON_A_CLUSTER:
    scheduling.max_jobs_per_timespan = None


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

# Snakemake has an option for such limits (--resources), and no directive by which a configuration could set them.
for model in ASKED:
    slots = plan.jobs_at_once(model, workflow.cores)
    workflow.register_resource(f"model_{model}", slots)


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


def inputs_of(stage, **fixed):
    """The inputs of a rule's jobs, by name, as `moot.workflow.digests` states them."""

    def by_name(wildcards):
        try:
            return stages.inputs(stage, **dict(wildcards.items()), **fixed)
        except UserError as error:
            raise WorkflowError(str(error)) from None

    return unpack(by_name)


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


def time_if_unfinished(wildcards):
    """The time, as long as debates wait or all of an experiment failed: then no run ends without saying so again."""
    built = stages.inputs("outcome", study=wildcards.study)
    known = (targets.existing(built[name]) for name in ("predictions", "labels"))
    return 0 if read_outcome(*known).is_finished else time.time()


def outcome_label(wildcards):
    """What the report calls an outcome."""
    return {"study": "all" if wildcards.study == COMPARISON else wildcards.study}


CASES = [f"results/cases/{dataset}.parquet" for dataset in plan.datasets_used]
