"""A job's log, and the one message at its end where the user must act."""

import errno
import logging
from pathlib import Path

import pyarrow as pa
import pytest

from moot.core import run_signals
from moot.core.errors import RunStoppedError, UserError
from moot.core.log import LOG, job_log
from moot.core.run_signals import RUN_FILE

NO_MEMORY = "not enough memory for this job (%s). Give it more (ulimit -v, mem_mb on a cluster)"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyboardInterrupt(), "stopped. Run the same command again to continue."),
        (UserError("Run snakemake init"), "Run snakemake init"),
        (RunStoppedError("no budget"), "no budget"),
        (OSError(errno.EIO, "lost"), "[Errno 5] lost. No incomplete file was left. Correct this"),
        (OSError(errno.ENOMEM, "no\nroom"), NO_MEMORY % "[Errno 12] no room"),
        (MemoryError(), NO_MEMORY % "MemoryError"),
        (pa.ArrowMemoryError("malloc"), NO_MEMORY % "malloc"),
        (RuntimeError("can't start new thread"), NO_MEMORY % "can't start new thread"),
        (
            ExceptionGroup("all", [ValueError(), MemoryError()]),
            NO_MEMORY % "all (2 sub-exceptions)",
        ),
    ],
)
def test_a_fault_ends_a_job_with_one_message(
    error: BaseException, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_info, job_log(tmp_path / "job.log"):
        LOG.info("12 cases")
        LOG.info("1 of 12", extra={"progress": True})
        raise error
    assert exit_info.value.code == 1
    lines = [line[len("12:00:00 ") :] for line in capsys.readouterr().err.splitlines()]
    assert lines[0] == "1 of 12" and len(lines) == 2
    assert lines[1].startswith(f"moot: {message}")
    assert "12 cases\n" in (tmp_path / "job.log").read_text()
    assert not [handler for handler in LOG.handlers if isinstance(handler, logging.FileHandler)]


@pytest.mark.parametrize("error", [RuntimeError("a bug"), ExceptionGroup("two", [ValueError()])])
def test_a_bug_is_shown_with_its_traceback(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)) as raised, job_log(tmp_path / "job.log"):
        raise error
    assert raised.value is error


def test_a_signal_to_the_whole_run_is_in_the_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_signals, "_stops", [(0.0, "SIGTERM")])
    monkeypatch.setenv(RUN_FILE, "run")
    monkeypatch.setenv("MOOT_STARTED_BY", "moot")
    with pytest.raises(SystemExit), job_log(tmp_path / "job.log"):
        raise RunStoppedError("stopped; see snakemake doctor")
    assert capsys.readouterr().err == ""
    assert (tmp_path / "job.log").read_text().endswith(" moot: stopped; see moot doctor\n")
