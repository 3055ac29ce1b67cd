"""Load one data set."""

from pathlib import Path

from moot.jobs.load import load_dataset
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        name = snakemake.wildcards.dataset
        options, context = plan.datasets[name], plan.load_context(name)
        cases, features, cleaning = map(Path, snakemake.output)
        load_dataset(options, context, cases, features, cleaning, **digests_of(snakemake))
