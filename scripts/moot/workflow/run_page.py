"""The first page of a run or of a study, after a run that ended well or with failed jobs."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from moot.core.experiment_config import COMPARISON
from moot.papers.items import paper_pages
from moot.plan.papers_of_run import has_own_experiments, own_contrasts
from moot.plan.plan import Plan
from moot.report.front_page import RunRemarks, write_front_page
from moot.report.outcome import RunOutcome, failure_sentences
from moot.scores.served import version_notes


def write_run_page(
    plan: Plan,
    study: str,
    built: Iterable[Path],
    pages: Mapping[str, Path],
    outcome: RunOutcome,
    failed_jobs: Sequence[str] = (),
) -> None:
    """Write the first page with the remarks that its readers need.

    Args:
        plan: the checked configuration.
        study: the study of the page; `comparison` for all studies.
        built: the files that the run built; the page links no others.
        pages: the paths of the page (`page`) and of its questions alone (`questions`).
        outcome: the outcome of the debates.
        failed_jobs: the jobs that failed, one sentence each.

    Raises:
        UserError: a table cannot be read.
    """
    remarks = RunRemarks(
        plan.config.rehearsal,
        [*failed_jobs, *failure_sentences(outcome)],
        [
            *plan.made_up_notes("" if study == COMPARISON else study),
            *version_notes(outcome.debates),
            *outcome.cut_replies,
        ],
        has_own_experiments(plan),
        own_contrasts(plan),
    )
    studies = {name: entry.study for name, entry in plan.experiments.items()}
    papers = paper_pages(plan.shipped)
    write_front_page(Path("results"), study, built, pages, studies, remarks, papers)
