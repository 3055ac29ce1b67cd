"""The terminal output of a run, a logger plugin of Snakemake: the share done, and all errors.

Snakemake writes a block for every job, and its option `--quiet` hides these blocks together with
the errors of jobs. This plugin hides the blocks alone; the log file in `.snakemake/log` keeps them.
The profile registers it. `--verbose` and a dry run show Snakemake's own lines.
"""

import logging
import re
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent, logger_plugin_module_prefix
from snakemake_interface_logger_plugins.registry import LoggerPluginRegistry

from moot.core.printed_commands import as_started
from moot.core.run_signals import is_stopping

INTERVAL_SECONDS = 10.0
SHARE_BEFORE_ESTIMATE = 0.1
"""Before this share of the jobs, the first ones, which load data, say little about the others."""

_HIDDEN = (
    "Assuming unrestricted",
    "Building DAG",
    "Using shell",
    "Select jobs",
    "Removing output",
    "Exiting because a job execution failed",
    "WorkflowError:\nAt least one job did not complete",
)
"""Messages of Snakemake at the start and the end, and those that say again that a job failed."""

_LOCKED = (
    "moot: another run works in this folder, or one was killed; no reply is lost. If none runs, end"
    " the lock: snakemake --unlock, with the --configfile of the run. Then give your command again."
)
_MOOT_MESSAGE = re.compile(r"^[\d:]{8} moot: ", re.MULTILINE)


def _has_logged_reason(logs: Iterable[str], since: float) -> bool:
    """Return whether a log has a message of moot since a time (s); the terminal has shown it."""
    files = (path for path in map(Path, logs) if path.exists() and path.stat().st_mtime >= since)
    return any(_MOOT_MESSAGE.search(path.read_text(encoding="utf-8")) for path in files)


class LogHandler(LogHandlerBase):
    """Writes the share of jobs that are done and the time left, and shows what failed."""

    writes_to_stream = True
    writes_to_file = has_filter = has_formatter = needs_rulegraph = False

    def __post_init__(self) -> None:
        """Note the time; Snakemake's class calls this at the end of its own `__init__`."""
        self._started = self._last_line = time.monotonic()
        self._since = time.time() - 1  # clocks of file systems are coarse
        self._failed = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write the progress that a record states, or the record if it says more than that."""
        settings, fields, message = self.common_settings, vars(record), record.getMessage().strip()
        if settings.dryrun or settings.verbose:
            self._write(self.format(record))
        elif "Directory cannot be locked" in message:
            self._write(as_started(_LOCKED))
        elif fields.get("event") is LogEvent.RUN_INFO:
            self._write(f"{fields['stats']['total']} jobs")
        elif fields.get("event") is LogEvent.PROGRESS:
            self._write_progress(fields["done"], fields["total"])
        elif self._should_show(record.levelno, message, fields):
            self._write(self.format(record))

    def _write(self, text: str) -> None:
        stream = sys.stdout if self.common_settings.stdout else sys.stderr
        if text:
            with suppress(OSError):  # a closed terminal must not stop the run
                print(text, file=stream, flush=True)

    def _should_show(self, level: int, message: str, fields: Mapping[str, Any]) -> bool:
        event = fields.get("event")
        if event is LogEvent.JOB_ERROR:
            self._failed += 1
            return not (is_stopping() or _has_logged_reason(fields.get("log") or (), self._since))
        if fields.get("exception") == "RuleException":
            # a script that was killed has another status
            return "returned non-zero exit status 1." not in message
        return (event is None or level > logging.INFO) and not message.startswith(_HIDDEN)

    def _write_progress(self, done: int, total: int) -> None:
        """Write the share of jobs that are done and, if they are no longer few, the time left."""
        moment, share = time.monotonic(), done / total
        if done < total and moment - self._last_line < INTERVAL_SECONDS:
            return
        self._last_line, seconds = moment, moment - self._started
        failed = f", {self._failed} failed" if self._failed else ""
        has_estimate = SHARE_BEFORE_ESTIMATE <= share < 1
        left = f", about {seconds * (1 / share - 1):.0f} s left" if has_estimate else ""
        self._write(f"{seconds:6.0f} s  {done:>3} of {total} jobs ({share:.0%}){failed}{left}")


def register() -> None:
    """Register this module as Snakemake's logger plugin `moot`.

    So no package has to be installed for it.
    """
    LoggerPluginRegistry().register_plugin(
        f"{logger_plugin_module_prefix}moot", sys.modules[__name__]
    )
