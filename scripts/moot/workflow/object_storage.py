"""Runs in an object store (`--default-storage-provider`): `results` links to Snakemake's local
copies of its files.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.errors import UserError

if TYPE_CHECKING:
    from snakemake.script import Snakemake

RESULTS = Path("results")


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
            files._take_names(
                [*files._get_names()]
            )  # attributes are copies, which no public function updates
