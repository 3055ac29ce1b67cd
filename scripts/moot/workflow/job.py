"""The frame of every script: a plan, a log, and a message instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moot.core.log import job_log
from moot.core.run_signals import interrupt_at_end_of_run
from moot.core.types import Fields
from moot.plan.plan import Plan
from moot.plan.plan_cache import plan_of
from moot.workflow.object_storage import use_result_paths

if TYPE_CHECKING:
    from snakemake.script import Snakemake


@contextmanager
def job(script: Fields) -> Iterator[tuple[Plan, "Snakemake"]]:
    """Yield a job's checked plan and Snakemake's data on the job.

    The log is open within the block.

    Args:
        script: the global names of a script, to which Snakemake adds `snakemake`.
    """
    snakemake: Snakemake = script["snakemake"]
    use_result_paths(snakemake)
    with job_log(snakemake.log[0]), interrupt_at_end_of_run():
        yield plan_of(snakemake.config), snakemake
