"""Read the published debates on one data set."""

from pathlib import Path

from moot.core.artifacts import describe, read_cases
from moot.core.log import FILE_LOG
from moot.datasets.debate_records import write_records
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        FILE_LOG.disabled = True  # the job that made the cases said it
        name, cases = snakemake.wildcards.dataset, Path(snakemake.input.cases)
        metadata = describe(sources=[cases], **digests_of(snakemake))
        output = Path(snakemake.output[0])
        write_records(
            plan.datasets[name],
            plan.load_context(name),
            *read_cases(cases),
            output,
            metadata,
        )
