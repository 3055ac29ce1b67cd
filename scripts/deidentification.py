"""Write the results of the de-identification of each opinion of a data set, and the map of its
names.
"""

from pathlib import Path

from moot.studies.appellate.deidentification import write_deidentification
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        name = snakemake.wildcards.dataset
        options, context = plan.dataset_options(name), plan.load_context(name)
        write_deidentification(options, context, Path(snakemake.output[0]), **digests_of(snakemake))
