"""Score one experiment from its predictions, transcripts and labels."""

from pathlib import Path

from moot.jobs.job_results import write_scores
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sources = [Path(path) for path in snakemake.input]
        write_scores(
            Path(snakemake.output[0]),
            plan,
            snakemake.wildcards.experiment,
            sources,
            **digests_of(snakemake),
        )
