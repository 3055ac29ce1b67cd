"""Score one experiment: everything that its predictions, transcripts and labels add up to."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.plan import Plan
from moot.results import write_scores

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        experiment = snakemake.wildcards.experiment
        sources = [Path(path) for path in snakemake.input.predictions]
        write_scores(Path(snakemake.output[0]), plan, experiment, sources)
