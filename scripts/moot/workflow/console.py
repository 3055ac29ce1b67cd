"""The terminal output of a run: one line per stage with finished and planned jobs, and all errors.

Snakemake writes a block for every job. Its option `--quiet` hides these blocks and the errors of
jobs on the terminal and in the log file. This module hides the blocks on the terminal only; the log
file in `.snakemake/log` keeps them. The profile switches it on (`MOOT_STAGE_LINES`);
`MOOT_STAGE_LINES=0` or `--verbose` shows Snakemake's own lines.
"""

import logging
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from moot.core.printed_commands import as_started
from moot.core.run_signals import is_stopping

INTERVAL_SECONDS = 10.0

STAGES = {
    "data": ("download", "load_cases", "read_records", "deidentification", "write_summaries"),
    "baselines": ("train_baselines",),
    "debates": ("run_debates", "train_assistant"),
    "predictions": ("predict",),
    "labels": ("label_statements", "write_annotation_sheet"),
    "scores": ("score",),
    "transcripts": ("outcome", "reader"),
    "tables": ("tables_",),
    "figures": ("figures_",),
    "export": ("convert_to_", "export_tables"),
    "pages": ("all",),
}
"""The rules of each stage, or prefixes of their names."""

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
"""Messages of Snakemake about a failed job; they add nothing if the job has logged its reason."""


_LOCKED = (
    "moot: another run works in this folder, or one was killed; no reply is lost. If none runs, end"
    " the lock: snakemake --unlock, with the --configfile of the run. Then give your command again."
)


def show_stages() -> None:
    """Write one line per stage on the terminal instead of Snakemake's blocks."""
    # A logger plugin would have to be installed, and would have to format Snakemake's messages.
    for handler in logging.getLogger("snakemake.logging").handlers:
        if handler.name == "DefaultStreamHandler":
            handler.addFilter(StageLines(_write))


class NothingToDo(logging.Filter):
    """Notes whether Snakemake says that a run has nothing to do.

    Attributes:
        is_noted: whether it has said so.
    """

    is_noted = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass."""
        self.is_noted = self.is_noted or record.getMessage().startswith("Nothing to be done")
        return True


def _write(line: str) -> None:
    with suppress(OSError):  # a closed terminal must not stop the run
        sys.stderr.write(f"{line}\n")


_MOOT_MESSAGE = re.compile(r"^[\d:]{8} moot: ", re.MULTILINE)


def has_logged_reason(logs: Iterable[str], since: float) -> bool:
    """Return whether a log has a message of moot since a time (s).

    The terminal has shown such a message.
    """
    files = (path for path in map(Path, logs) if path.exists() and path.stat().st_mtime >= since)
    return any(_MOOT_MESSAGE.search(path.read_text(encoding="utf-8")) for path in files)


def stage_of(rule: str) -> str:
    """Return the stage of a rule; rules without a stage (a study's target) belong to `pages`."""
    return next((stage for stage, names in STAGES.items() if rule.startswith(names)), "pages")


def _event_of(record: logging.LogRecord) -> str:
    """Return the name of Snakemake's event that a record belongs to; "" for none."""
    return str(getattr(vars(record).get("event"), "value", ""))


def _is_failure_of_script(record: logging.LogRecord) -> bool:
    """Return whether a record repeats the failure of a script, which has written its own reason.

    A script that was killed has another exit status.
    """
    is_rule_exception = vars(record).get("exception") == "RuleException"
    return is_rule_exception and "returned non-zero exit status 1." in record.getMessage()


class StageLines(logging.Filter):
    """Shows errors, hides the blocks of jobs, and counts jobs by stage.

    Args:
        write: writes a line.
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
        """Return whether a record of Snakemake's is shown unchanged."""
        event = _event_of(record)
        if _is_failure_of_script(record) or (is_stopping() and event == "job_error"):
            return False  # the job has written its reason
        has_reason = self._count_job(event, vars(record))
        message = record.getMessage().strip()
        if "Directory cannot be locked" in message:
            self._write(as_started(_LOCKED))
            return False
        if has_reason or (
            self._is_failure_explained() and message.startswith(_LAST_LINES_OF_FAILURE)
        ):
            return False
        if record.levelno > logging.INFO:
            return True
        return event not in _HIDDEN_EVENTS and not message.startswith(_HIDDEN_LINES)

    def _count_job(self, event: str, fields: Mapping[str, Any]) -> bool:
        """Count the job of an event; return whether it failed and has logged its reason."""
        if event == "run_info":
            self._plan(fields.get("stats", {}))
        elif event == "job_info":
            self._stages[fields["jobid"]] = stage_of(fields["rule_name"])
        elif event == "job_finished":
            self._finish(fields["job_id"], self._done)
        elif event == "job_error":
            self._finish(fields["jobid"], self._failed)
            if has_logged_reason(fields.get("log") or (), self._since):
                return True
            self._is_explained = False
        return False

    def _is_failure_explained(self) -> bool:
        return self._is_explained and (bool(self._failed) or is_stopping())

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
