"""The log of a job."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.core.errors import RunStoppedError, UserError

LOG = logging.getLogger("moot")
STAGE_LINES = "MOOT_STAGE_LINES"
"""The variable that asks (1) for one line a stage on the terminal, not (0) for what each job says."""


def stage_lines_asked_for() -> bool:
    """Whether this run writes a line a stage; its jobs then say how debates go on and what is wrong, and no more."""
    return os.environ.get(STAGE_LINES) == "1"


@contextmanager
def job_log(path: str | Path) -> Iterator[None]:
    """Log to a file and to the terminal; end the process with status 1 and one message where the user must act."""
    LOG.setLevel(logging.INFO)
    formatter = logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S")
    terminal = logging.StreamHandler(sys.stderr)
    if stage_lines_asked_for():
        terminal.addFilter(lambda record: record.levelno > logging.INFO or getattr(record, "progress", False))
    handlers = (logging.FileHandler(path, mode="w", encoding="utf-8"), terminal)
    for handler in handlers:
        handler.setFormatter(formatter)
        LOG.addHandler(handler)
    try:
        yield
    except (UserError, RunStoppedError) as error:
        LOG.error("moot: %s", error)
        sys.exit(1)
    except KeyboardInterrupt:
        LOG.error("moot: stopped. Nothing half-written was left: run the same command again to go on.")
        sys.exit(1)
    except OSError as error:
        LOG.error("moot: %s. Nothing half-written was left: mend this and run the same command again.", error)
        sys.exit(1)
    finally:
        for handler in handlers:
            LOG.removeHandler(handler)
            handler.close()
