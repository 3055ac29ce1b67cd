"""Write how the debates of one study came out."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.report.outcome import read_outcome, write_outcome
from moot.workflow.job import job

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job(snakemake) as plan:
        predictions, labels = (
            [Path(path) for path in paths] for paths in (snakemake.input.predictions, snakemake.input.labels)
        )
        paths = {ending: Path(path) for ending, path in snakemake.output.items()}
        write_outcome(snakemake.wildcards.study, read_outcome(predictions, labels), paths, plan.config.rehearsal)
