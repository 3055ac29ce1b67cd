"""Hold the debates of one experiment, model and shard."""

from dataclasses import replace
from pathlib import Path

from moot.core.artifacts import read_cases
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.standins import calls_per_debate
from moot.plan.call_shares import plan_of_job
from moot.workflow.job import job
from moot.workflow.provenance import digests_of
from moot.workflow.resumed_debates import TIMES_RESUMED

if __name__ == "__main__":
    with job(globals()) as (run_plan, snakemake):
        plan = plan_of_job(run_plan, snakemake.resources)
        wildcards, inputs = snakemake.wildcards, snakemake.input
        experiment = plan.experiments[wildcards.experiment]
        artifacts = experiment.needed_by(wildcards.model)
        debates = Job(
            plan.config,
            experiment,
            plan.models_in_job(experiment.name, wildcards.model),
            *read_cases(Path(inputs.cases)),
            shard=int(wildcards.shard),
            threads=snakemake.threads,
            artifacts={name: Path("results", path) for name, path in artifacts.items()},
        )
        debates = replace(debates, calls_per_debate=calls_per_debate(debates))
        sources = [Path(source) for source in inputs]
        digests = {**digests_of(snakemake), TIMES_RESUMED: str(snakemake.params.resumed)}
        write_transcripts(debates, sources, Path(snakemake.output[0]), **digests)
