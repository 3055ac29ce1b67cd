"""Write the run's front page: its questions with their answers, and links to all that it built."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.config import COMPARISON
from moot.report.front_page import write_front_page
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        pages = {name: Path(path) for name, path in snakemake.output.items()}
        study = COMPARISON if snakemake.wildcards.page == "index" else snakemake.wildcards.page
        studies = {name: found.study for name, found in plan.experiments.items()}
        write_front_page(Path("results"), study, map(Path, snakemake.input), pages, studies, plan.config.rehearsal)
