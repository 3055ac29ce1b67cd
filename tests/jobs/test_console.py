"""The terminal shows a line for each stage, and everything that failed."""

import logging
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from moot.workflow.console import StageLines, stage_of


class Run:
    """Records of Snakemake's, as its scheduler logs them, and the lines that come of them."""

    def __init__(self, **jobs: int) -> None:
        self.lines: list[str] = []
        self.seconds = 0.0
        self.filter = StageLines(self.lines.append, lambda: self.seconds)
        self.log("run_info", "Job stats: ...", stats={**jobs, "total": sum(jobs.values())})

    def log(self, event: str, message: str = "", level: int = logging.INFO, **extra: Any) -> bool:
        record = logging.LogRecord("snakemake", level, "", 0, message, None, None)
        record.__dict__.update(event=SimpleNamespace(value=event) if event else None, **extra)
        return self.filter.filter(record)

    def job(
        self,
        number: int,
        rule: str,
        seconds: float = 1.0,
        fails: bool = False,
        log: Path | None = None,
    ) -> bool:
        assert not self.log("job_info", jobid=number, rule_name=rule)
        self.seconds += seconds
        if fails:
            logs = [str(log)] if log else []
            return self.log(
                "job_error", "Error in rule", logging.ERROR, jobid=number, rule_name=rule, log=logs
            )
        return self.log("job_finished", "Finished jobid", job_id=number)


def test_a_stage_has_one_line_when_it_is_done_and_more_only_after_a_while() -> None:
    run = Run(load_cases=2, run_debates=3, all=1)
    assert run.lines == ["6 jobs: 2 data, 3 debates, 1 pages"]
    assert not any([run.job(1, "load_cases"), run.job(2, "load_cases"), run.job(3, "run_debates")])
    assert run.lines[1:] == ["     2 s  data           2 of 2     (2 of 6 jobs)"]
    run.job(4, "run_debates", seconds=30)
    assert run.lines[2].split()[2] == "debates", (
        "no line for half a minute, so one before the stage is done"
    )
    run.job(5, "run_debates")
    run.job(6, "all")
    assert [line.split()[2] for line in run.lines[1:]] == ["data", "debates", "debates", "pages"]
    assert run.lines[-1].endswith("(6 of 6 jobs)")


def test_errors_are_shown_unchanged_and_counted() -> None:
    run = Run(score=1, all=1)
    assert run.job(1, "score", fails=True), "the error with the job's log"
    assert "1 failed" in run.lines[-1]
    assert run.log("", "a file is missing", logging.WARNING)
    assert run.log("", "Nothing to be done (all requested files are present and up to date).")
    assert not run.log("", "Building DAG of jobs...")


def test_a_job_that_logged_its_reason_is_not_reported_again(tmp_path: Path) -> None:
    run, log = Run(load_cases=1, score=1), tmp_path / "job.log"
    log.write_text("09:33:54 moot: rows.csv: row 3, column 'answer': found 'maybe so'\n")
    command = "CalledProcessError in file ...\nCommand '...' returned non-zero exit status 1."
    end = "WorkflowError:\nAt least one job did not complete successfully."
    assert not run.log("", command, logging.ERROR, exception="RuleException")
    assert not run.job(1, "load_cases", fails=True, log=log)
    assert not run.log(
        "", "Exiting because a job execution failed. Look above for error messages", logging.ERROR
    )
    assert not run.log("", end, logging.ERROR)
    log.write_text("09:33:54 180 cases\n")
    assert run.job(2, "score", fails=True, log=log), (
        "a fault of the code is shown, with the job's log"
    )
    assert run.log("", end, logging.ERROR)
    assert run.log("", "an input function failed", logging.ERROR, exception="RuleException")


def test_a_job_that_was_killed_is_shown() -> None:
    """It has written no reason, as where memory ran out."""
    run = Run(run_debates=1)
    assert run.log(
        "",
        "Command '...' returned non-zero exit status 137.",
        logging.ERROR,
        exception="RuleException",
    )
    assert run.log(
        "",
        "Command '...' died with <Signals.SIGKILL: 9>.",
        logging.ERROR,
        exception="RuleException",
    )


def test_a_reason_of_an_earlier_run_explains_nothing(tmp_path: Path) -> None:
    run, log = Run(score=1), tmp_path / "job.log"
    log.write_text("09:33:54 moot: the key is missing\n")
    os.utime(log, (0, 0))
    assert run.job(1, "score", fails=True, log=log)


def test_every_rule_of_the_workflow_belongs_to_a_stage() -> None:
    assert stage_of("tables_courtroom_on_request") == "tables"
    assert stage_of("reader") == "transcripts"
    assert stage_of("courtroom") == "pages"


def test_a_locked_folder_gets_moots_own_message() -> None:
    run = Run(all=1)
    text = "LockException:\nError: Directory cannot be locked. Please make sure ..."
    assert not run.log("", text, logging.ERROR)
    assert "snakemake --unlock" in run.lines[-1]
