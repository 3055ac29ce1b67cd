"""The terminal shows the share done, the time left, and everything that failed."""

import io
import logging
import os
import time
from contextlib import redirect_stderr
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from moot.workflow import console
from moot.workflow.console import LogHandler

Clock = SimpleNamespace


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that a test moves."""
    clock = Clock(seconds=0.0, time=time.time)
    clock.monotonic = lambda: clock.seconds
    monkeypatch.setattr(console, "time", clock)
    return clock


class Run:
    """Records of Snakemake's, as its scheduler logs them, and the lines that come of them."""

    def __init__(self, clock: Clock, settings: dict[str, bool] | None = None, **jobs: int) -> None:
        self.terminal = io.StringIO()
        self.clock, self.done, self.total = clock, 0, sum(jobs.values())
        options = {"dryrun": False, "verbose": False, "stdout": False} | (settings or {})
        self.handler = LogHandler(SimpleNamespace(**options), None)  # type: ignore[arg-type]
        stats = {**jobs, "total": self.total}
        self.log(LogEvent.RUN_INFO, "Job stats: ...", stats=stats)

    @property
    def lines(self) -> list[str]:
        return self.terminal.getvalue().splitlines()

    def log(
        self, event: LogEvent | None, message: str, level: int = logging.INFO, **extra: Any
    ) -> bool:
        """Return whether the message itself was written."""
        record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
        record.__dict__.update(event=event, **extra)
        written = len(self.terminal.getvalue())
        with redirect_stderr(self.terminal):
            self.handler.emit(record)
        return message in self.terminal.getvalue()[written:]

    def job(
        self,
        number: int,
        rule: str,
        seconds: float = 1.0,
        fails: bool = False,
        log: Path | None = None,
    ) -> bool:
        assert not self.log(LogEvent.JOB_INFO, "rule", jobid=number, rule_name=rule)
        self.clock.seconds += seconds
        if fails:
            fields = {"jobid": number, "rule_name": rule, "log": [str(log)] if log else []}
            return self.log(LogEvent.JOB_ERROR, "Error in rule", logging.ERROR, **fields)
        self.done += 1
        written = self.log(LogEvent.JOB_FINISHED, "Finished jobid", job_id=number)
        return self.log(LogEvent.PROGRESS, "", done=self.done, total=self.total) and written


def test_the_share_done_has_a_line_after_a_while_and_at_the_end(clock: Clock) -> None:
    run = Run(clock, load_cases=2, run_debates=3, all=1)
    assert run.lines == ["6 jobs"]
    assert not any([run.job(1, "load_cases"), run.job(2, "load_cases", seconds=11)])
    assert run.lines[1:] == ["    12 s    2 of 6 jobs (33%), about 24 s left"]
    run.job(3, "run_debates")
    run.job(4, "run_debates")
    run.job(5, "run_debates")
    assert len(run.lines) == 2
    run.job(6, "all")
    assert run.lines[2:] == ["    16 s    6 of 6 jobs (100%)"]


def test_the_time_left_is_not_guessed_from_the_first_jobs(clock: Clock) -> None:
    run = Run(clock, load_cases=3, run_debates=27)
    run.job(1, "load_cases", seconds=11)
    run.job(2, "load_cases", seconds=11)
    run.job(3, "load_cases", seconds=11)
    assert [line.partition("jobs ")[2] for line in run.lines[1:]] == [
        *("(3%)", "(7%)"),
        "(10%), about 297 s left",
    ]


def test_errors_are_shown_unchanged_and_counted(clock: Clock) -> None:
    run = Run(clock, score=1, all=1)
    assert run.job(1, "score", seconds=20, fails=True), "the error with the job's log"
    run.job(2, "all")
    assert "1 failed" in run.lines[-1]
    assert run.log(None, "a file is missing", logging.WARNING)
    assert run.log(None, "Nothing to be done (all requested files are present and up to date).")
    assert not run.log(None, "Building DAG of jobs...")


def test_a_job_that_logged_its_reason_is_not_reported_again(clock: Clock, tmp_path: Path) -> None:
    run, log = Run(clock, load_cases=1, score=1), tmp_path / "job.log"
    log.write_text("09:33:54 moot: rows.csv: row 3, column 'answer': found 'maybe so'\n")
    command = "CalledProcessError in file ...\nCommand '...' returned non-zero exit status 1."
    end = "WorkflowError:\nAt least one job did not complete successfully."
    assert not run.log(None, command, logging.ERROR, exception="RuleException")
    assert not run.job(1, "load_cases", fails=True, log=log)
    assert not run.log(
        None, "Exiting because a job execution failed. Look above for error messages", logging.ERROR
    )
    assert not run.log(None, end, logging.ERROR)
    log.write_text("09:33:54 180 cases\n")
    assert run.job(2, "score", fails=True, log=log), (
        "a fault of the code is shown, with the job's log"
    )
    assert run.log(None, "an input function failed", logging.ERROR, exception="RuleException")


def test_a_job_that_was_killed_is_shown(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has written no reason, as where memory ran out; a stop of the whole run is a reason."""
    run = Run(clock, run_debates=1)
    assert run.log(
        None,
        "Command '...' returned non-zero exit status 137.",
        logging.ERROR,
        exception="RuleException",
    )
    assert run.log(
        None,
        "Command '...' died with <Signals.SIGKILL: 9>.",
        logging.ERROR,
        exception="RuleException",
    )
    assert run.job(1, "run_debates", fails=True)
    monkeypatch.setattr(console, "is_stopping", lambda: True)
    assert not run.job(2, "run_debates", fails=True)


def test_a_reason_of_an_earlier_run_explains_nothing(clock: Clock, tmp_path: Path) -> None:
    run, log = Run(clock, score=1), tmp_path / "job.log"
    log.write_text("09:33:54 moot: the key is missing\n")
    os.utime(log, (0, 0))
    assert run.job(1, "score", fails=True, log=log)


def test_a_locked_folder_gets_moots_own_message(clock: Clock) -> None:
    run = Run(clock, all=1)
    text = "LockException:\nError: Directory cannot be locked. Please make sure ..."
    assert not run.log(None, text, logging.ERROR)
    assert "snakemake --unlock" in run.lines[-1]


@pytest.mark.parametrize("option", ["dryrun", "verbose"])
def test_a_dry_run_and_verbose_show_snakemakes_own_lines(clock: Clock, option: str) -> None:
    run = Run(clock, {option: True}, score=1)
    assert run.log(LogEvent.JOB_INFO, "rule score", jobid=1, rule_name="score")
    assert run.lines == ["Job stats: ...", "rule score"]
