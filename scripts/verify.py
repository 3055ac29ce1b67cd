"""Check that artifacts follow from the configuration, prompts, code and files that stand there now."""

from typing import TYPE_CHECKING

from moot.core.log import LOG
from moot.stages.digests import Stages
from moot.stages.job import job
from moot.stages.verify import verify

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        looked_at = verify(Stages(plan), [*snakemake.input, *snakemake.params.get("artifacts", [])])
        LOG.info("%d artifacts follow from the configuration as it stands", looked_at)
