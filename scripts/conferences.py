"""Lay out the conferences of one experiment and model as a page of the report."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.artifacts import atomic_path
from moot.job import job_log
from moot.plan import Plan
from moot.present.conference_transcripts import render_page
from moot.results import experiment_results

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        results = experiment_results(plan, snakemake.wildcards.experiment)
        with atomic_path(Path(snakemake.output[0])) as part:
            part.write_text(render_page(results, snakemake.wildcards.model), encoding="utf-8")
