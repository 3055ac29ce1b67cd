"""The predictions, utterances and calls of a whole run, for a spreadsheet."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from moot.core.artifacts import atomic_path, read_frames
from moot.core.log import LOG
from moot.report.escaping import csv_text, visible

# The limits of an Excel sheet, by Microsoft's specification.
MAX_ROWS, MAX_CELL_CHARS = 1_048_575, 32_767


def write_exported_tables(artifacts: Mapping[str, Sequence[Path]], folder: Path) -> None:
    """Write a CSV file of each kind of artifact, and `debates.xlsx` with a sheet of each.

    Args:
        artifacts: the files of each kind ("predictions"), of all experiments and models.
        folder: where the files are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    frames = {name: read_frames(files) for name, files in artifacts.items() if files}
    for name, frame in frames.items():
        with atomic_path(folder / f"{name}.csv") as part:
            # The byte-order mark tells Excel that the file is UTF-8.
            _map_texts(frame, csv_text).to_csv(part, index=False, encoding="utf-8-sig")
    with (
        atomic_path(folder / "debates.xlsx") as part,
        pd.ExcelWriter(part, engine="openpyxl") as writer,
    ):
        for name, frame in frames.items():
            _add_sheet(writer, name, frame)


def _map_texts(frame: pd.DataFrame, convert: Callable[[str], str]) -> pd.DataFrame:
    """Return a frame in which a function has converted every text."""
    return frame.map(lambda value: convert(value) if isinstance(value, str) else value)


def _add_sheet(writer: pd.ExcelWriter, name: str, frame: pd.DataFrame) -> None:
    if len(frame) > MAX_ROWS:
        LOG.warning("debates.xlsx: %s has %d rows, a sheet %d", name, len(frame), MAX_ROWS)
    shown = _map_texts(frame.head(MAX_ROWS), lambda text: visible(text)[:MAX_CELL_CHARS])
    shown.to_excel(writer, sheet_name=name, index=False, freeze_panes=(1, 0))
    for cell in chain.from_iterable(writer.sheets[name].iter_rows()):
        if isinstance(cell.value, str):
            cell.data_type = "s"  # "=1+1" stays text
