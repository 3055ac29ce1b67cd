"""Write the outcome of the debates of one study."""

from pathlib import Path

from moot.report.outcome import read_outcome, write_outcome
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        predictions = [Path(path) for path in snakemake.input.predictions]
        labels = [Path(path) for path in snakemake.input.labels]
        paths = {ending: Path(path) for ending, path in snakemake.output.items()}
        write_outcome(
            snakemake.wildcards.study,
            read_outcome(predictions, labels),
            paths,
            plan.config.rehearsal,
        )
