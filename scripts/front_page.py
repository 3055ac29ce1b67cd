"""Write the first page of a run or of a study, from all that it links to."""

from pathlib import Path

from moot.report.outcome import read_outcome, write_outcome
from moot.workflow.job import job
from moot.workflow.run_page import write_run_page

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        inputs = snakemake.input
        files = {name: Path(path) for name, path in snakemake.output.items()}
        pages = {name: files.pop(name) for name in ("page", "questions")}
        study = snakemake.params.study
        predictions = [Path(path) for path in inputs.predictions]
        labels = [Path(path) for path in inputs.labels]
        outcome = read_outcome(predictions, labels)
        if files:
            write_outcome(study, outcome, files, plan.config.rehearsal)
        write_run_page(plan, study, [*map(Path, inputs), *files.values()], pages, outcome)
