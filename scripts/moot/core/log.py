"""The log of a job."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moot.core.errors import RunStoppedError, UserError

LOG = logging.getLogger("moot")


@contextmanager
def job_log(path: str | Path) -> Iterator[None]:
    """Log to a file and to the terminal; end the process with status 1 and one message where the user must act."""
    LOG.setLevel(logging.INFO)
    formatter = logging.Formatter("%(asctime)s %(message)s", datefmt="%H:%M:%S")
    for handler in (logging.FileHandler(path, mode="w", encoding="utf-8"), logging.StreamHandler(sys.stderr)):
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
