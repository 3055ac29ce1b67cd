"""The predictions, utterances and calls of a whole run, for a spreadsheet."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.core.artifacts import atomic_path, read_frames
from moot.report.escaping import csv_text
from moot.report.workbook import write_workbook


def write_exported_tables(artifacts: Mapping[str, Sequence[Path]], folder: Path) -> None:
    """Write a CSV file of each kind of artifact, and `debates.xlsx` with a sheet of each.

    Args:
        artifacts: the files of each kind ("predictions"), of all experiments and models.
        folder: where the files are written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    frames = {name: read_frames(files) for name, files in artifacts.items() if files}
    for name, frame in frames.items():
        safe = frame.map(lambda cell: csv_text(cell) if isinstance(cell, str) else cell)
        with atomic_path(folder / f"{name}.csv") as part:
            # The byte-order mark tells Excel that the file is UTF-8.
            safe.to_csv(part, index=False, encoding="utf-8-sig")
    write_workbook(frames, folder / "debates.xlsx")
