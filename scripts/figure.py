"""Draw the figures of a study that one module draws, as PNG and SVG."""

from typing import TYPE_CHECKING

from moot.jobs.results import outputs_by_name, study_results
from moot.report import FIGURES
from moot.report.figures import draw
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        results = study_results(plan, snakemake)
        for name, paths in outputs_by_name(snakemake.output).items():
            caption = paths.pop("rst")
            draw(FIGURES[name], results, paths)
            caption.write_text(FIGURES[name].caption + "\n", encoding="utf-8")
