"""Write the reader's page of one study: all its debates, to be opened in a browser."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import atomic_path
from moot.jobs.results import debated_results
from moot.report.reader import render_reader
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        parts = Path(snakemake.output.parts)
        parts.mkdir(parents=True, exist_ok=True)
        pieces = render_reader(snakemake.wildcards.study, debated_results(plan, snakemake), parts)
        with atomic_path(Path(snakemake.output.page)) as part, part.open("w", encoding="utf-8") as page:
            page.writelines(pieces)
