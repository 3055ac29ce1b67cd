"""Lay out the debates of one experiment and model for reading, as Markdown."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.artifacts import atomic_path
from moot.job import job_log
from moot.plan import Plan
from moot.present.transcripts import render_debates
from moot.results import experiment_results

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        results = experiment_results(plan, snakemake.wildcards.experiment)
        with atomic_path(Path(snakemake.output[0])) as part, part.open("w", encoding="utf-8") as page:
            page.writelines(render_debates(results, snakemake.wildcards.model))
