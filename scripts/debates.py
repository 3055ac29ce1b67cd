"""Hold the debates of one experiment, model and shard."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.artifacts import read_cases
from moot.debates import Job, write_transcripts
from moot.job import job_log
from moot.plan import Plan

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        wildcards, inputs = snakemake.wildcards, snakemake.input
        needs = plan.experiments[wildcards.experiment].needs
        job = Job(
            wildcards.experiment,
            wildcards.model,
            *read_cases(Path(inputs.cases)),
            shard=int(wildcards.shard),
            threads=snakemake.threads,
            artifacts={name: Path(inputs[name]) for name in needs},
        )
        write_transcripts(plan, job, [Path(source) for source in inputs], Path(snakemake.output[0]))
