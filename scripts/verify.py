"""Check that artifacts follow from the present configuration, prompts, code and files."""

from moot.commands.verify import verify
from moot.core.log import LOG
from moot.workflow.job import job
from moot.workflow.stages import Stages

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        looked_at = verify(Stages(plan), snakemake.params.artifacts)
        LOG.info("%d artifacts follow from the present configuration", looked_at)
