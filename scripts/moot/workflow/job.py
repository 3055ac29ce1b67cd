"""What every script does around its pure function: a plan, a log, a record, and one message instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from moot.core.log import job_log
from moot.core.stopping import ending_with_the_run
from moot.plan.kept import plan_of
from moot.plan.plan import Plan
from moot.workflow.records import recorded
from moot.workflow.storage import name_from_results

if TYPE_CHECKING:
    from snakemake.script import Snakemake


@contextmanager
def job(snakemake: "Snakemake") -> Iterator[Plan]:
    """A job's checked plan, with its log open; the job's record is written when the block ends well."""
    name_from_results(snakemake)
    with job_log(snakemake.log[0]), ending_with_the_run():
        plan = plan_of(snakemake.config)
        with recorded(snakemake):
            yield plan
