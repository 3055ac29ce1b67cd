"""Write the annotation sheet of one experiment and model."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import read_cases
from moot.core.log import LOG
from moot.labels.sheets import blinded, write_sheets
from moot.labels.statements import read_statements, sheet_id
from moot.stages.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        statements = read_statements([Path(shard) for shard in snakemake.input.shards])
        facts = {case.case_id: case.text for case in read_cases(Path(snakemake.input.cases))[0]}
        stem = sheet_id(snakemake.wildcards.experiment, snakemake.wildcards.model)
        written = write_sheets(blinded(statements, facts, plan.config.seed), Path(snakemake.params.folder), stem)
        LOG.info("annotation sheets: %s; put filled ones into data/annotations/", ", ".join(map(str, written)))
        Path(snakemake.output[0]).write_text("\n".join(map(str, written)) + "\n", encoding="utf-8")
