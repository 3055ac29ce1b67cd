"""What every script does around its pure function: a plan, a log, a record, and one message instead of a traceback."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.log import LOG
from moot.errors import RunStoppedError, UserError
from moot.plan import Plan
from moot.stages.records import recorded

if TYPE_CHECKING:
    from snakemake.script import Snakemake


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


@contextmanager
def job(snakemake: "Snakemake") -> Iterator[Plan]:
    """A job's checked plan, with its log open; the job's record is written when the block ends well."""
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        with recorded(snakemake):
            yield plan
