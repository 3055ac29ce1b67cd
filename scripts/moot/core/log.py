"""The log of a job."""

import errno
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from moot.core.errors import RunStoppedError, UserError
from moot.core.printed_commands import as_started
from moot.core.run_signals import RUN_FILE, is_stopping

LOG = logging.getLogger("moot")
FILE_LOG = LOG.getChild("files")
"""How files of the user are read, which the job that loads them says once for a run."""


@cache
def warn_of_file(message: str) -> None:
    """Warn of how a file is read, once a process."""
    FILE_LOG.warning("%s", message)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory is exhausted, also for a further thread."""
    if isinstance(error, BaseExceptionGroup):
        return any(map(is_out_of_memory, error.exceptions))
    is_enomem = isinstance(error, OSError) and error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or is_enomem or "can't start new thread" in str(error)


class _Formatter(logging.Formatter):
    """Writes the commands of a message as the user started moot."""

    def format(self, record: logging.LogRecord) -> str:
        return as_started(super().format(record))


@contextmanager
def job_log(path: str | Path) -> Iterator[None]:
    """Log to a file, and progress and faults to the terminal too.

    If the user must act, end the process with status 1 and one message.
    """
    LOG.setLevel(logging.INFO)
    formatter = _Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S")
    terminal = logging.StreamHandler(sys.stderr)
    terminal.addFilter(
        lambda record: record.levelno > logging.INFO or getattr(record, "progress", False)
    )
    handlers = (logging.FileHandler(path, mode="w", encoding="utf-8"), terminal)
    for handler in handlers:
        handler.setFormatter(formatter)
        LOG.addHandler(handler)
    try:
        yield
    except UserError as error:
        LOG.error("moot: %s", error)
        sys.exit(1)
    except (RunStoppedError, KeyboardInterrupt) as error:
        message = str(error) or "stopped. Run the same command again to continue."
        # Snakemake's own process reports a signal to the whole run, so its jobs only log it
        is_reported = RUN_FILE in os.environ and is_stopping()
        LOG.log(logging.INFO if is_reported else logging.ERROR, "moot: %s", message)
        sys.exit(1)
    except (MemoryError, RuntimeError, OSError, ExceptionGroup) as error:
        if is_out_of_memory(error):
            LOG.error(
                "moot: not enough memory for this job (%s). Give it more (ulimit -v, mem_mb on a"
                " cluster), or start fewer jobs at once (--cores) of fewer debates each (more"
                " `shards`), and run the same command again.",
                " ".join(str(error).split()) or type(error).__name__,
            )
            sys.exit(1)
        if not isinstance(error, OSError):
            raise
        LOG.error(
            "moot: %s. No incomplete file was left. Correct this and run the same command again.",
            error,
        )
        sys.exit(1)
    finally:
        for handler in handlers:
            LOG.removeHandler(handler)
            handler.close()
