"""Download the published files of one data set."""

from pathlib import Path

from moot.core.log import LOG
from moot.datasets.download import download, write_record
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        versions = plan.shipped / "data" / "versions.csv"
        fetched = download(snakemake.wildcards.loader, Path(plan.config.data_root), versions)
        for file in fetched:
            LOG.info("%s: %s (sha256 %s)", file.path, file.url or "was there already", file.sha256)
        write_record(Path(snakemake.output[0]), fetched)
