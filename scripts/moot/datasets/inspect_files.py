"""The logs of inspect_ai: reading, repeated logs, retried runs and unfinished runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets.inspect_options import LOG_ENDINGS

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

_IGNORED_FIELDS = {"events", "store", "timelines", "events_data"}


def read_logs(paths: Sequence[Path], faults: Faults) -> Mapping[Path, "EvalLog"]:
    """Read the logs, and note those that cannot be read.

    Raises:
        UserError: no log can be read, or no log has samples.
    """
    logs: dict[Path, EvalLog] = {}
    for path in paths:
        with faults.noting():
            logs[path] = _read_log(path)
    if not logs:
        raise UserError("\n".join(faults.messages))
    if not any(log.samples for log in logs.values()):
        path, log = next(iter(logs.items()))
        raise UserError(
            f"{path}: the log has no samples (its status is '{log.status}'). Leave it out of"
            " `logs`."
        )
    return logs


def refuse_repeated_logs(logs: Mapping[Path, "EvalLog"]) -> None:
    """Require each log once, also under two names."""
    path_of_run: dict[str, Path] = {}
    for path, log in logs.items():
        run = log.eval.eval_id or str(path.resolve())
        if run in path_of_run:
            raise UserError(
                f"{path}: the same log as {path_of_run[run]}, so that each repeat occurs twice;"
                " expected every log once. Remove one of the two from `logs`."
            )
        path_of_run[run] = path


def leave_out_retried_logs(logs: Mapping[Path, "EvalLog"]) -> Mapping[Path, "EvalLog"]:
    """Leave out the logs of unfinished runs that a later log finishes (`inspect eval-retry`).

    The later log repeats the samples that the earlier one finished.
    """
    last_start: dict[str, str] = {}
    for log in logs.values():
        start = last_start.get(log.eval.task_id, "")
        last_start[log.eval.task_id] = max(start, str(log.eval.created))
    current_logs = {}
    for path, log in logs.items():
        is_last = str(log.eval.created) == last_start[log.eval.task_id]
        if log.status == "success" or is_last:
            current_logs[path] = log
    return current_logs


def _read_log(path: Path) -> "EvalLog":
    try:
        from inspect_ai.log import read_eval_log  # an extra, and takes seconds
    except ImportError:
        raise UserError(
            f"{path}: reading it needs the package inspect_ai. Run `make env EXTRAS=inspect`."
        ) from None
    if path.is_dir():
        raise UserError(
            f"{path}: a folder without logs; expected files ending in {' or '.join(LOG_ENDINGS)}."
            " Correct `logs`."
        )
    if not path.is_file():
        raise UserError(f"{path}: there is no such file. Name the logs under `logs`.")
    try:
        log = read_eval_log(path, resolve_attachments="core", exclude_fields=_IGNORED_FIELDS)
    except Exception as error:  # any error of the library on a file that it did not write
        raise UserError(
            f"{path}: inspect_ai cannot read it as a log ({type(error).__name__}:"
            f" {quote_value(str(error))}). Expected a .eval or .json file that it wrote."
        ) from None
    return log


def incomplete_note(path: Path, log: "EvalLog") -> str:
    """Return a note for readers on a log of a run that did not finish; "" if it finished."""
    count, status, config = len(log.samples or ()), log.status, log.eval.config
    selected_ids = log.eval.dataset.sample_ids
    is_limited = selected_ids is None and (config.limit or config.sample_id) is not None
    dataset_size = len(selected_ids or ()) or log.eval.dataset.samples or 0
    expected = dataset_size * (config.epochs or 1)
    is_short = not is_limited and expected > count
    if status == "success" and not is_short:
        return ""
    counts = f"{count} of {expected} samples" if is_short else f"{count} samples"
    return f"{path.name}: the run did not finish (status '{status}'); it has {counts}."
