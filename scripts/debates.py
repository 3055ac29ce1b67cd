"""Hold the debates of one experiment, model and shard."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.debates import Job, write_transcripts
from moot.job import job_log
from moot.plan import Plan

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.params.shipped))
        wildcards, inputs = snakemake.wildcards, snakemake.input
        needs = plan.experiments[wildcards.experiment].needs
        job = Job(int(wildcards.shard), snakemake.threads, {name: Path(inputs[name]) for name in needs})
        write_transcripts(
            plan, wildcards.experiment, wildcards.model, Path(inputs.cases), job, Path(snakemake.output[0])
        )
