# The checked plan, and what rules take from it.

import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(SHIPPED / "scripts"))

from snakemake.exceptions import WorkflowError

from moot.core.command_line import (
    check_folder,
    check_memory_limit,
    let_jobs_import_this_copy,
    let_scripts_start_from_any_folder,
    told_alone,
)
from moot.core.errors import RunStoppedError, UserError

with told_alone():  # before the larger libraries are imported
    check_folder()
    check_memory_limit(workflow.cores or 1)

from moot.core.experiment_config import COMPARISON, RECORDED
from moot.core.read_config import over_defaults
from moot.core.model_entries import given_beside, merge_models
from moot.core.places import Faults
from moot.core.shipped_files import default_files
from moot.core.log import stage_lines_asked_for
from moot.plan.kept import DESK, keep_in
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.exports import EXPORTERS
from moot.report.outcome import read_outcome
from moot.workflow import targets
from moot.workflow.console import show_stages
from moot.workflow.own_files import SHEETS
from moot.workflow.stages import INDEX, Stages
from moot.workflow.records import DIGESTS
from moot.workflow.resuming import SHARDS, resumed
from moot.workflow.storage import link_results


@contextmanager
def told_by_snakemake():
    """What is wrong, as Snakemake tells it of a workflow: without a trace of the code that found it."""
    try:
        yield
    except (UserError, RunStoppedError) as error:
        raise WorkflowError(str(error)) from None


let_jobs_import_this_copy()
let_scripts_start_from_any_folder()

DEFAULTS = default_files(SHIPPED)

# Merged here and not by `configfile:`, which says of each file that others extend it, and which a module's `config` replaces.
if IS_MODULE:
    models, studies = Path("config/models.yaml"), Path("config/studies").glob("*.yaml")
    DEFAULTS += sorted(file for file in (models, *studies) if file.is_file())
config_files = [*DEFAULTS, *map(Path, workflow.configfiles)]
read_files = DEFAULTS if IS_MODULE else config_files
given = config if IS_MODULE else given_beside(config, map(Path, workflow.configfiles))
config = over_defaults(config, DEFAULTS)

faults = Faults()
changed_models = merge_models(config, read_files, DEFAULTS, given, faults)
with told_alone():
    plan = Plan.from_yaml(config, SHIPPED, config_files, faults)

stages = Stages(plan)

sys.stderr.writelines(f"moot: {line}\n" for line in changed_models)

# How this run was started; Snakemake tells it to workflows in no other way. A dry run and a job know fewer settings.
IS_MAIN, IS_DRY = workflow.is_main_process, workflow.output_settings.dryrun
resources, store, scheduling = workflow.resource_settings, workflow.storage_settings, workflow.scheduling_settings
ON_A_CLUSTER = bool(resources and resources.nodes)
STORE = store and store.default_storage_provider
if IS_MAIN and not IS_DRY:  # a dry run and a job of a cluster show Snakemake's own lines
    if DESK in os.environ:
        keep_in(Path(os.environ[DESK]), plan, config)
    if stage_lines_asked_for():
        show_stages()
    if STORE:
        bucket = (store.default_storage_prefix or "").partition("://")[2]
        with told_by_snakemake():
            link_results(Path(".snakemake/storage", STORE, bucket, "results"))

# Snakemake limits how many jobs start within a second, and at each job that ends starts one more timer that looks again
# every second: of 160 jobs the last ones wait for 160 looks a second. On one machine the cores are the limit, and no
# option sets none.
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


def at_hand(path):
    """A path, or several, of which an object store keeps those below `results/` alone."""
    if not STORE:
        return path
    if not isinstance(path, str):
        return [at_hand(one) for one in path]
    return path if path.startswith("results/") else local(path)


def inputs_of(stage, **fixed):
    """The inputs of a rule's jobs, by name, as `moot.workflow.stages` states them."""

    def by_name(wildcards):
        with told_by_snakemake():
            found = stages.inputs(stage, **dict(wildcards.items()), **fixed)
            return {name: at_hand(path) for name, path in found.items()}

    return unpack(by_name)


def digest_params(stage, **fixed):
    """A rule's parameters `options`, `prompts` and `code`: digests of all that its jobs depend on, down to the configuration;
    and `job`, by which the digests are found again under any name that another workflow gives the rule.

    A change of one of them reruns the job; each covers what comes before, so that no failed run leaves a stale artifact.
    """

    def digest(name):
        return lambda wildcards: getattr(stages.of(stage, **dict(wildcards.items()), **fixed), name)

    return {**{name: digest(name) for name in DIGESTS}, "job": {"stage": stage, **fixed}}


CASES = [f"results/cases/{dataset}.parquet" for dataset in plan.datasets_used]
