"""Draw one figure of a study as PNG and SVG."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.present import FIGURES
from moot.present.style import draw
from moot.results import results_of_job

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        entry = FIGURES[f"{snakemake.wildcards.study}/{snakemake.wildcards.figure}"]
        paths = {ending: Path(path) for ending, path in snakemake.output.items()}
        draw(entry, results_of_job(snakemake), paths)
