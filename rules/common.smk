# The checked plan, and the constants that rules use.

import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(SHIPPED / "scripts"))

from snakemake.exceptions import WorkflowError

from moot.core.command_line import (
    check_cores,
    check_folder,
    check_memory_limit,
    check_targets,
    targets_of_command_line,
    prepend_python_path,
    link_python_without_spaces,
    exit_without_traceback,
)
from moot.core.errors import RunStoppedError, UserError

# These settings are private: Snakemake has no public interface for them, and `workflow.cores` is an
# error in commands that run no job, such as --dag and --summary. Some are missing in a job.
resources = workflow.resource_settings
CORES = resources.cores if resources and resources.cores is not None else 1

with exit_without_traceback():  # before the larger libraries are imported
    check_folder()
    check_cores(CORES)
    check_memory_limit(CORES)

from moot.core.experiment_config import COMPARISON, RECORDED
from moot.core.read_config import merge_over_defaults
from moot.core.model_entries import entries_of_command_line, merge_models
from moot.core.config_errors import Faults
from moot.core.shipped_files import default_files
from moot.plan.plan_cache import DESK, write_plan
from moot.papers.selection import add_paper_experiments
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.exports import check_packages, has_inspect
from moot.report.outcome import read_outcome
from moot.workflow import dependencies, targets
from moot.workflow.resumed_debates import SHARDS, times_resumed
from moot.workflow.job import link_results
from moot.workflow.targets import INDEX


@contextmanager
def as_workflow_error():
    """Raise a `UserError` as a `WorkflowError`, which Snakemake shows without a traceback."""
    try:
        yield
    except (UserError, RunStoppedError) as error:
        raise WorkflowError(str(error)) from None


prepend_python_path()
link_python_without_spaces()

DEFAULTS = default_files(SHIPPED)

# The files are merged here, because `configfile:` prints a note for each file that another file
# extends, and because the `config` of a module replaces it.
if IS_MODULE:
    models, studies = Path("config/models.yaml"), Path("config/studies").glob("*.yaml")
    DEFAULTS += sorted(file for file in (models, *studies) if file.is_file())
config_files = [*DEFAULTS, *map(Path, workflow.configfiles)]
read_files = DEFAULTS if IS_MODULE else config_files
given = config if IS_MODULE else entries_of_command_line(config, map(Path, workflow.configfiles))
config = merge_over_defaults(config, DEFAULTS)

faults = Faults()
changed_models = merge_models(config, read_files, DEFAULTS, given, faults)
with exit_without_traceback():
    add_paper_experiments(config, SHIPPED)
    plan = Plan.from_yaml(config, SHIPPED, config_files, faults)


sys.stderr.writelines(f"moot: {line}\n" for line in changed_models)

# How this run was started, private like the settings above.
IS_MAIN, IS_DRY = workflow.is_main_process, workflow.output_settings.dryrun
store = workflow.storage_settings
ON_A_CLUSTER = bool(resources and resources.nodes)
STORE = store and store.default_storage_provider
if IS_MAIN and not IS_DRY and STORE:
    bucket = (store.default_storage_prefix or "").partition("://")[2]
    with as_workflow_error():
        link_results(Path(".snakemake/storage", STORE, bucket, "results"))


include: "declarations.smk"


wildcard_constraints:
    dataset=any_of(plan.datasets),
    experiment=any_of(plan.experiments),
    model=any_of(plan.config.models),
    shard="[0-9]+",
    study="[^/]+",
