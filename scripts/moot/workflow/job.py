"""The frame of every script: a plan, a log, and a message instead of a traceback.

`results` becomes a link where a run keeps its files in an object store
(`--default-storage-provider`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import UserError
from moot.core.log import job_log
from moot.core.run_signals import interrupt_at_end_of_run
from moot.core.types import Fields
from moot.plan.plan import Plan
from moot.plan.plan_cache import plan_of

if TYPE_CHECKING:
    from snakemake.script import Snakemake


RESULTS = Path("results")


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


def link_results(copies: Path) -> None:
    """Make `results` a link to the folder of the local copies.

    Paths below `results` then name the same files everywhere.

    Raises:
        UserError: `results` exists and is something else.
    """
    copies.mkdir(parents=True, exist_ok=True)
    if not RESULTS.is_symlink() and not RESULTS.exists():
        RESULTS.symlink_to(copies)
    if RESULTS.resolve() != copies.resolve():
        raise UserError(
            f"results: expected a link to the object store's local copies, {copies}; found files "
            "of another store, or of a run without a store. Move it away, or run in another "
            "folder (snakemake --directory FOLDER)."
        )


def use_result_paths(job: "Snakemake") -> None:
    """Rename a job's files to `results/...`, where Snakemake uses its local copies."""
    if folder := job.log[0].rpartition("results/logs/")[0]:
        link_results(Path(folder, RESULTS))
        for files in (job.input, job.output, job.log):
            files[:] = [path.removeprefix(folder) for path in files]
            # attributes are copies, which no public function updates
            files._take_names([*files._get_names()])
