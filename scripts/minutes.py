"""Write the minutes of one experiment's and model's decision conferences, one Markdown document each."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.plan import Plan
from moot.present.minutes import render_minutes
from moot.results import experiment_results

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        folder = Path(snakemake.output[0])
        folder.mkdir(parents=True, exist_ok=True)
        results = experiment_results(plan, snakemake.wildcards.experiment)
        for number, text in render_minutes(results, snakemake.wildcards.model):
            (folder / f"{number:03d}.md").write_text(text, encoding="utf-8")
