"""Write the first page of a run or of a study, from all that it links to, which is verified."""

from pathlib import Path

from moot.commands.verify import verify
from moot.core.experiment_config import COMPARISON
from moot.core.log import LOG
from moot.papers.items import paper_pages
from moot.plan.as_published import has_own_experiments
from moot.report.front_page import RunRemarks, write_front_page
from moot.report.outcome import failure_sentences, read_outcome, write_outcome
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        inputs, is_rehearsal = snakemake.input, plan.config.rehearsal
        count = verify(snakemake.params.digests, inputs)
        LOG.info("%d artifacts follow from the present configuration", count)
        files = {name: Path(path) for name, path in snakemake.output.items()}
        pages = {name: files.pop(name) for name in ("page", "questions")}
        study = snakemake.params.study
        predictions = [Path(path) for path in inputs.predictions]
        labels = [Path(path) for path in inputs.labels]
        outcome = read_outcome(predictions, labels)
        if files:
            write_outcome(study, outcome, files, is_rehearsal)
        studies = {name: entry.study for name, entry in plan.experiments.items()}
        papers = paper_pages(plan.shipped)
        built = [*map(Path, inputs), *files.values()]
        warnings = plan.made_up_notes("" if study == COMPARISON else study)
        failures, is_own = failure_sentences(outcome), has_own_experiments(plan)
        remarks = RunRemarks(is_rehearsal, failures, warnings, is_own)
        write_front_page(Path("results"), study, built, pages, studies, remarks, papers)
