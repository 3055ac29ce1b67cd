"""Write the predictions, utterances and calls of a run for a spreadsheet."""

from pathlib import Path

from moot.jobs.exports import write_exported_tables
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        artifacts = {
            name: list(map(Path, snakemake.input[name]))
            for name in ("predictions", "utterances", "calls")
        }
        write_exported_tables(artifacts, Path(snakemake.output.workbook).parent)
