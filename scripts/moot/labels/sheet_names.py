"""Names of sheets for people, and the key that says which experiment a sheet is from.

A labeler who knows the experiment may know what to expect: its name can tell a control arm. So a
sheet is called by its study and a number, and only the organiser reads the key.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

import pandas as pd

from moot.core.durable import lock_folder, write_atomically
from moot.datasets.reading.delimited import read_csv
from moot.labels.statements import sheet_id

KEY_COLUMNS = ("sheet", "file", "experiment", "model")
_FIRST_NUMBER, _NUMBERS = 10, 90
"""Numbers of two digits, as long as they last."""
_OWNER_ONLY = 0o600


@dataclass(frozen=True, slots=True)
class NamedSheet:
    """A row of the key.

    Attributes:
        name: What people call the sheet, such as `courtroom, sheet 37`.
        file: The beginning of its files' names, a blind id.
        experiment, model: Whose statements it has.
    """

    name: str
    file: str
    experiment: str
    model: str


def key_file(folder: Path) -> Path:
    """Return the file of the key, next to the folder of sheets, which may be given to labelers."""
    return folder.parent / "sheet_key.csv"


def read_key(folder: Path) -> list[NamedSheet]:
    """Return the key of a folder of sheets; none if no sheet was named.

    Raises:
        UserError: the key is not a table with the columns `KEY_COLUMNS`.
    """
    path = key_file(folder)
    if not path.exists():
        return []
    frame = read_csv(path, KEY_COLUMNS)
    return [NamedSheet(*map(str, row)) for row in frame[list(KEY_COLUMNS)].to_numpy()]


def name_sheet(folder: Path, study: str, experiment: str, model: str) -> str:
    """Return the name of the sheets of an experiment and model, and write it into the key.

    The number follows from the blind id, so that numbers tell no order.

    Raises:
        UserError: as in `read_key`.
    """
    file = sheet_id(experiment, model)
    with lock_folder(folder):  # other jobs name sheets at the same time
        key = read_key(folder)
        for sheet in key:
            if sheet.file == file:
                return sheet.name
        names = {sheet.name for sheet in key}
        name = next(name for name in _possible_names(study, file) if name not in names)
        key.append(NamedSheet(name, file, experiment, model))
        rows = map(astuple, key)
        text = pd.DataFrame(rows, columns=list(KEY_COLUMNS)).to_csv(
            index=False, lineterminator="\n"
        )
        write_atomically(key_file(folder), text, mode=_OWNER_ONLY)
    return name


def _possible_names(study: str, file: str) -> Iterator[str]:
    """Yield names for a sheet: first by two digits of its blind id, then by the next numbers."""
    start = int(file, 16) % _NUMBERS
    for step in range(_NUMBERS):
        yield f"{study}, sheet {_FIRST_NUMBER + (start + step) % _NUMBERS}"
    yield f"{study}, sheet {file}"


def sheet_titles(folder: Path, sheets: Iterable[str]) -> Mapping[str, str]:
    """Return the desk's title of each sheet; sheets without a name come last.

    Args:
        folder: The folder of sheets.
        sheets: The names of their files: a blind id, with a number behind it for further statements
            of the same experiment and model.
    """
    names = {sheet.file: sheet.name for sheet in read_key(folder)}
    titles: dict[str, str] = {}
    for sheet in sheets:
        file, _, part = sheet.partition("-")
        name = names.get(file, f"file {file}")
        titles[sheet] = f"{name}, part {part}" if part else name
    return dict(sorted(titles.items(), key=lambda item: (item[1].startswith("file "), item[1])))
