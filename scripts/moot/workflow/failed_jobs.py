"""The first page of a run with a failed job: it shows the failures and all built files.

In this case Snakemake does not run the job of the first page, since it depends on all others.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.experiment_config import COMPARISON
from moot.plan.plan import Plan
from moot.report.outcome import read_outcome, write_outcome
from moot.workflow import targets
from moot.workflow.run_page import write_run_page
from moot.workflow.targets import INDEX, existing_paths, outcome_files

_MESSAGE = re.compile(r"^[\d:]{8} moot: (.*)", re.MULTILINE | re.DOTALL)
_MAX_MESSAGE_CHARS = 600
SHARD = "shard"
"""The wildcard that numbers the parts of a run, from 0."""
WORK_OF_RULES = {
    "download": "Download",
    "load_cases": "Data",
    "read_records": "Records",
    "run_debates": "Debates",
    "predict": "Predictions",
    "label_statements": "Labels",
    "score": "Scores",
    "train_baselines": "Trained models",
    "train_assistant": "Trained assistant",
    "write_summaries": "Summaries",
    "reader": "Reader",
}
"""The work of a rule in words, by its name."""


@dataclass(frozen=True, slots=True)
class UnfinishedJob:
    """A job that this run did not finish.

    Attributes:
        rule: its rule.
        wildcards: their names and values.
        logs: its log files.
    """

    rule: str
    wildcards: Mapping[str, str]
    logs: Sequence[str]

    @property
    def name(self) -> str:
        """The name of the job in words, such as "Debates of courtroom-disputes, qwen"."""
        work = WORK_OF_RULES.get(self.rule, self.rule.replace("_", " ").capitalize())
        names = [value for name, value in self.wildcards.items() if name != SHARD]
        part = self.wildcards.get(SHARD, "0")
        if part != "0":
            names.append(f"part {int(part) + 1}" if part.isdecimal() else part)
        return f"{work} of {', '.join(names)}".removesuffix(" of ")


def describe_failed_jobs(jobs: Iterable[UnfinishedJob], since: float) -> list[str]:
    """Return a sentence for each job that wrote to its log and did not finish.

    Args:
        jobs: The unfinished jobs.
        since: Earlier logs do not count (seconds since the epoch).
    """
    sentences: list[str] = []
    for job in jobs:
        for log in existing_paths(job.logs):
            if log.stat().st_mtime < since:
                continue
            match = _MESSAGE.search(log.read_text(encoding="utf-8", errors="replace"))
            message = " ".join(match[1].split()) if match else f"ended without a message; see {log}"
            if len(message) > _MAX_MESSAGE_CHARS:
                message = f"{message[:_MAX_MESSAGE_CHARS]} ... The rest is in {log}."
            sentences.append(f"{job.name}: {message}")
    return sentences


def write_page_after_failure(
    plan: Plan,
    page: str,
    built: Iterable[Path],
    failed_jobs: Sequence[str],
) -> Path:
    """Write the first page of a run, or of a study, from the files that are built.

    The page's other output is deleted, so that Snakemake writes both again in the next run.

    Args:
        plan: the checked configuration.
        page: `index`, or the name of a study.
        built: the files of the page that are built and up to date.
        failed_jobs: the failures, one sentence each.

    Raises:
        UserError: a table cannot be read.
    """
    study = COMPARISON if page == INDEX else page
    selected_study = "" if page == INDEX else page
    names = {str(path) for path in built}
    predictions = existing_paths(names.intersection(targets.predictions(plan, selected_study)))
    labels = existing_paths(names.intersection(targets.labels(plan, selected_study)))
    shown = existing_paths(names.intersection(targets.page_contents(plan, selected_study)))
    files = [*predictions, *labels, *shown]
    outcome = read_outcome(sorted(predictions), sorted(labels))
    if page == INDEX and not outcome.unreadable:
        paths = dict(zip(("csv", "html"), map(Path, outcome_files(study)), strict=True))
        for path in paths.values():
            path.parent.mkdir(parents=True, exist_ok=True)
        write_outcome(study, outcome, paths, plan.config.rehearsal)
        files += paths.values()
    output = Path(f"results/{page}.html")
    Path(f"results/outcome/{page}_questions.html").unlink(missing_ok=True)
    all_files = existing_paths(targets.page_contents(plan, selected_study))
    notes = _describe_earlier(set(all_files).difference(shown))
    write_run_page(plan, study, files, {"page": output}, outcome, [*failed_jobs, *notes])
    return output


def _describe_earlier(files: Iterable[Path]) -> list[str]:
    """Return a sentence that names the tables and figures of an earlier run."""
    names = dict.fromkeys(str(path.with_suffix("")) for path in sorted(files))
    if not names:
        return []
    return [
        "These are of an earlier run, and this page does not link them until a run has renewed"
        f" them: {', '.join(names)}."
    ]
