"""Load one data set."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.jobs.load import load_dataset
from moot.workflow.job import job
from moot.workflow.records import digests_of

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        name = snakemake.wildcards.dataset
        options, context = plan.dataset_options(name), plan.load_context(name)
        cases, features, cleaning = map(Path, snakemake.output)
        load_dataset(options, context, cases, features, cleaning, **digests_of(snakemake))
