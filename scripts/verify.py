"""Check that artifacts follow from the present configuration, prompts, code and files."""

from moot.commands.verify import verify
from moot.core.log import LOG
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        count = verify(snakemake.params.digests, snakemake.params.artifacts)
        LOG.info("%d artifacts follow from the present configuration", count)
