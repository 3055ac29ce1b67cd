"""Draw statements of one experiment and model, and write the annotation sheet for them."""

from pathlib import Path

from moot.core.log import LOG
from moot.jobs.statement_labels import write_drawn_sheet
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        wildcards, inputs = snakemake.wildcards, snakemake.input
        shards = [Path(file) for file in inputs.shards]
        folder = Path(snakemake.params.folder)
        sheet_paths = write_drawn_sheet(
            plan,
            wildcards.experiment,
            wildcards.model,
            Path(inputs.cases),
            shards,
            folder,
        )
        LOG.info(
            "annotation sheets: %s; put filled ones into data/annotations/",
            ", ".join(map(str, sheet_paths)),
        )
        Path(snakemake.output[0]).write_text(
            "".join(f"{path}\n" for path in sheet_paths), encoding="utf-8"
        )
