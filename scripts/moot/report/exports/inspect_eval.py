"""Logs of inspect_ai (`.eval`), for `inspect view`, its data frames and Scout."""

from pathlib import Path

from moot.core.optional import import_extra
from moot.report.exports import Export, exporter


@exporter("inspect", ".eval", package="inspect_ai")
def write(export: Export, path: Path) -> None:
    """Write the log; raises `UserError` where the extra `inspect` is not installed."""
    import_extra("moot.report.exports._inspect_log", "inspect").write_log(export, path)
