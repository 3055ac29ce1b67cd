"""Logs of inspect_ai (`.eval`): what `inspect view`, its data frames and Scout read."""

from pathlib import Path

from moot.core.errors import UserError
from moot.report.exports import Export, exporter


@exporter("inspect", ".eval")
def write(export: Export, path: Path) -> None:
    """Write the log; raises `UserError` where the library (the extra `inspect`) is not installed."""
    try:
        from moot.report.exports._inspect_log import write_log  # an extra, and takes seconds
    except ImportError as error:
        raise UserError(
            f"{path}: writing logs of inspect_ai needs its package ({error}). Run `make env"
            " EXTRAS=inspect`."
        ) from None
    write_log(export, path)
