"""Write the annotation sheet of one experiment and model."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.artifacts import read_cases
from moot.core.log import LOG
from moot.job import job
from moot.labels.sheets import blinded, write_sheets
from moot.labels.statements import sheet_of, statements_in

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        statements = statements_in([Path(shard) for shard in snakemake.input.shards])
        facts = {case.case_id: case.text for case in read_cases(Path(snakemake.input.cases))[0]}
        stem = sheet_of(snakemake.wildcards.experiment, snakemake.wildcards.model)
        written = write_sheets(blinded(statements, facts, plan.config.seed), Path(snakemake.params.folder), stem)
        LOG.info("annotation sheets: %s; put filled ones into data/annotations/", ", ".join(map(str, written)))
        Path(snakemake.output[0]).write_text("\n".join(map(str, written)) + "\n", encoding="utf-8")
