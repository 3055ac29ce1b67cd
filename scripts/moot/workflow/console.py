"""What a run says on the terminal: one line a stage with what is done and what remains, and all
that went wrong.

Snakemake writes a block for every job. `--quiet` hides it on the terminal and in the log file
alike, and the errors of jobs with it; so the blocks are filtered from the terminal alone, and the
log file in `.snakemake/log` has them. The profile asks for this (`MOOT_STAGE_LINES`);
`MOOT_STAGE_LINES=0` or `--verbose` gives Snakemake's own lines.
"""

import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from moot.core.run_signals import is_stopping

INTERVAL_SECONDS = 10.0

STAGES = {
    "data": ("download", "load_cases", "read_records", "deidentification", "write_summaries"),
    "baselines": ("train_baselines",),
    "debates": ("run_debates", "train_assistant"),
    "predictions": ("predict",),
    "labels": ("label_statements", "write_annotation_sheet"),
    "scores": ("score",),
    "transcripts": ("render_", "write_minutes", "outcome", "reader"),
    "tables": ("tables_",),
    "figures": ("figures_",),
    "export": ("convert_to_",),
    "pages": ("all", "verify"),
}
"""Stage to the rules that belong to it, or to how their names begin."""

_HIDDEN_EVENTS = (
    "job_info",
    "job_started",
    "job_finished",
    "progress",
    "run_info",
    "resources_info",
    "shellcmd",
    "workflow_started",
)
_HIDDEN_LINES = (
    "Assuming unrestricted",
    "Building DAG",
    "Using shell",
    "Conda environments",
    "Singularity containers",
    "Select jobs",
    "Removing output",
    "Will exit after",
    "Shutting down",
)
_LAST_LINES_OF_FAILURE = (
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete",
)
"""How Snakemake says that a job failed, where the job itself has said why."""


def show_stages() -> None:
    """From now on write a line a stage on the terminal in place of Snakemake's blocks."""
    # a logger of moot's own would have to be installed, and format Snakemake's messages itself
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(StageLines(_write))


def _write(line: str) -> None:
    with suppress(OSError):  # a terminal that was closed stops no run before it has ended in order
        sys.stderr.write(f"{line}\n")


_MOOT_MESSAGE = re.compile(r"^[\d:]{8} moot: ", re.MULTILINE)


def has_logged_reason(logs: Iterable[str], since: float) -> bool:
    """Whether a job ended with a message of moot's own, which the terminal has shown, since a time
    in seconds.
    """
    files = (path for path in map(Path, logs) if path.exists() and path.stat().st_mtime >= since)
    return any(_MOOT_MESSAGE.search(path.read_text(encoding="utf-8")) for path in files)


def stage_of(rule: str) -> str:
    """The stage that a rule belongs to; a rule of no stage (a study's target) makes a first page."""
    return next((stage for stage, names in STAGES.items() if rule.startswith(names)), "pages")


class StageLines(logging.Filter):
    """Lets pass what went wrong, hides the blocks of jobs, and counts them stage by stage.

    Args:
        write: takes each line.
        clock: seconds, for tests.
    """

    def __init__(
        self, write: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._write, self._clock = write, clock
        self._started = self._last_line = clock()
        self._since = time.time() - 1  # clocks of file systems are coarse
        self._planned: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._is_explained = True
        self._stages: dict[int, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record of Snakemake's is shown as it is."""
        fields = vars(record)
        event = str(getattr(fields.get("event"), "value", ""))
        message = record.getMessage()
        if (
            fields.get("exception") == "RuleException"
            and "returned non-zero exit status 1." in message
        ):
            return False  # the job has said why, or shown where; one that was killed has not
        if is_stopping() and event == "job_error":
            return False  # it ended as it was told to, and has said so
        if event == "run_info":
            self._plan(fields.get("stats", {}))
        elif event == "job_info":
            self._stages[fields["jobid"]] = stage_of(fields["rule_name"])
        elif event == "job_finished":
            self._finish(fields["job_id"], self._done)
        elif event == "job_error":
            self._finish(fields["jobid"], self._failed)
            if has_logged_reason(fields.get("log") or (), self._since):
                return False
            self._is_explained = False
        if (
            (self._failed or is_stopping())
            and self._is_explained
            and message.strip().startswith(_LAST_LINES_OF_FAILURE)
        ):
            return False
        return record.levelno > logging.INFO or not (
            event in _HIDDEN_EVENTS or message.strip().startswith(_HIDDEN_LINES)
        )

    def _plan(self, jobs_of_rules: dict[str, int]) -> None:
        self._planned.clear()
        for rule, jobs in jobs_of_rules.items():
            if rule != "total":
                self._planned[stage_of(rule)] += int(jobs)
        parts = [f"{self._planned[stage]} {stage}" for stage in STAGES if self._planned[stage]]
        self._write(f"{self._planned.total()} jobs: {', '.join(parts)}")

    def _finish(self, job: int, counter: Counter[str]) -> None:
        stage = self._stages.get(job, stage_of(""))
        counter[stage] += 1
        is_whole = self._done[stage] + self._failed[stage] == self._planned[stage]
        if is_whole or self._clock() - self._last_line >= INTERVAL_SECONDS:
            self._last_line = self._clock()
            self._write(self._line(stage))

    def _line(self, stage: str) -> str:
        seconds, jobs_done, jobs_planned = (
            self._clock() - self._started,
            self._done.total(),
            self._planned.total(),
        )
        failed = f", {self._failed[stage]} failed" if self._failed[stage] else ""
        jobs = f"({jobs_done} of {jobs_planned} jobs)"
        return (
            f"{seconds:6.0f} s  {stage:<12}{self._done[stage]:>4} of"
            f" {self._planned[stage]:<4}{failed}  {jobs}"
        )
