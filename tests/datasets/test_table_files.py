"""Files of the user's tables: sheets, large, damaged and nested files."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from moot.core.errors import UserError
from moot.core.user_tables import read_user_table
from user_tables import ROWS, load


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "cases.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def save_workbook(path: Path, *cells: tuple[int, int, str]) -> Path:
    book = openpyxl.Workbook()
    for row, column, text in cells:
        book.active.cell(row, column, text)
    book.save(path)
    return path


def pack_sheet(path: Path, rows: str, dimension: str, extra_size: int = 0) -> Path:
    """Write a workbook whose sheet contains `rows`.

    `dimension` and the size of the last part, which is larger by `extra_size`, can be wrong.
    """
    save_workbook(path, (1, 1, "facts"))
    with zipfile.ZipFile(path) as old_archive:
        content = {name: old_archive.read(name) for name in old_archive.namelist()}
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = (
        f"<worksheet {space}><dimension"
        f' ref="{dimension}"/><sheetData>{rows}</sheetData></worksheet>'
    )
    content["xl/worksheets/sheet1.xml"] = sheet.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new_archive:
        for name, text in content.items():
            new_archive.writestr(name, text)
        new_archive.infolist()[-1].file_size += extra_size
    return path


def text_cell(place: str, text: str = "facts") -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def write_distant_cells(folder: Path) -> Path:
    last = f'<row r="1048576">{text_cell("A1048576")}</row>'
    wide = f'<row r="1">{text_cell("A1")}{text_cell("B1", "outcome")}{text_cell("XFD1")}</row>'
    return pack_sheet(folder / "wide.xlsx", wide + last, "A1:XFD1048576")


def write_many_rows(folder: Path) -> Path:
    rows = f'<row r="1">{text_cell("A1")}</row><row r="2">{text_cell("A2")}</row>'
    return pack_sheet(folder / "long.xlsx", rows, "A1:A2", 600_000_000)


def write_repeated_text(folder: Path) -> Path:
    rows = 1_200
    column = pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(["x" * 1_000_000])
    )
    table = pa.table({"facts": column, "outcome": ["WON"] * rows})
    pq.write_table(
        table, folder / "t.parquet", compression="zstd", dictionary_pagesize_limit=2_000_000
    )
    return folder / "t.parquet"


def write_many_cells(folder: Path) -> Path:
    columns = dict.fromkeys(("facts", "outcome"), pa.array(["a"] * 6_000_000))
    pq.write_table(pa.table(columns), folder / "t.parquet")
    return folder / "t.parquet"


def write_long_cell(folder: Path) -> Path:
    return pack_sheet(
        folder / "t.xlsx", f'<row r="1">{text_cell("A1", "a" * 300_000_000)}</row>', "A1:A1"
    )


def write_long_text(folder: Path) -> Path:
    table = pa.table({"facts": ["a" * 400_000_000]})
    # A dictionary and statistics of this text take six seconds.
    options = {"use_dictionary": False, "write_statistics": False}
    pq.write_table(table, folder / "t.parquet", compression="zstd", **options)
    return folder / "t.parquet"


def write_blank_rows(folder: Path) -> Path:
    return pack_sheet(folder / "t.xlsx", "<row/>" * 5_000_000, "A1:A1")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            write_long_cell,
            r"t.xlsx: at least 300\d+ bytes when unpacked; expected 33554432 at most",
        ),
        (
            write_long_text,
            r"t.parquet: at least 400\d+ bytes when unpacked; expected 33554432 at most",
        ),
        (write_blank_rows, r"t.xlsx: more than 1048576 rows, which no sheet can have"),
        (write_distant_cells, r"wide.xlsx: \d+ cells; expected 10000000 at most.*stray cell"),
        (write_many_rows, r"long.xlsx: at least 6\d+ bytes when unpacked; expected \d+ at most"),
        (write_repeated_text, r"t.parquet: at least \d+ bytes when unpacked"),
        (write_many_cells, r"t.parquet: 12000000 cells; expected 10000000 at most"),
    ],
)
def test_a_file_that_unpacks_to_a_large_size_is_refused_in_little_memory(
    tmp_path: Path, make: Callable[[Path], Path], message: str
) -> None:
    """Slow: only this test detects a library that unpacks a file before its size is known."""
    path = make(tmp_path)
    assert path.stat().st_size < 2_000_000
    program = MEASURED_READ.format(path=sys.path, table=str(path))
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    error, increase = process.stdout.splitlines()
    assert re.match(f"UserError: .*{message}", error)
    assert int(increase) < 600_000


MEASURED_READ = """
import re, sys
from pathlib import Path
sys.path[:0] = {path!r}
import openpyxl, pandas, pyarrow.parquet
from moot.core.user_tables import read_user_table

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

imports = peak()
try:
    read_user_table(Path({table!r}), ["facts"])
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
print(peak() - imports)
"""
"""Print the error and the memory in kibibytes that reading adds to that of the imports.

`ru_maxrss` would start with the size of the parent process.
"""


def test_a_damaged_or_empty_parquet_or_excel_file_is_named(tmp_path: Path, table: Path) -> None:
    frame = pd.read_csv(table)
    for ending, write in (
        ("parquet", frame.to_parquet),
        ("xlsx", lambda path: frame.to_excel(path, index=False)),
    ):
        path = tmp_path / f"cases.{ending}"
        write(path)
        content = path.read_bytes()
        for length in (0, 1, 8, len(content) // 2, len(content) - 8, len(content) - 1):
            path.write_bytes(content[:length])
            with pytest.raises(
                UserError, match=rf"cases.{ending}: not an? \w+ file that can be read .*[Ss]ave it"
            ):
                load(path)
    path.write_bytes(b"")
    with pytest.raises(UserError, match="the file is empty"):
        load(path)


def test_faults_of_a_sheet_are_named(tmp_path: Path) -> None:
    for cells, message in (
        ((), "missing columns facts, outcome"),
        (((1, 1, "facts"), (1, 2, "outcome")), "no rows"),
        (
            ((1, 1, "facts"), (1, 2, "outcome"), (1, 3, "facts"), (2, 1, "a")),
            "column 'facts' occurs twice",
        ),
    ):
        with pytest.raises(UserError, match=message):
            load(save_workbook(tmp_path / "cases.xlsx", *cells))
    with pytest.raises(
        UserError, match=r"no sheet 'Other'; found 'Sheet'. Name one of them in `sheet`"
    ):
        load(tmp_path / "cases.xlsx", sheet="Other")


def test_cells_of_a_sheet_are_read_as_displayed(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"facts": ["a", None, "c"], "age": [1.0, 2.5, None], "is": [True, False, None]}
    )
    frame.to_excel(tmp_path / "t.xlsx", index=False, startcol=1)
    table = read_user_table(tmp_path / "t.xlsx", ["facts"])
    assert table.columns.tolist() == ["(column 1)", "facts", "age", "is"]
    assert table.iloc[:, 1:].to_numpy().tolist() == [
        ["a", "1", "true"],
        ["", "2.5", "false"],
        ["c", "", ""],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"facts": []}', "no rows: the list 'facts' is empty; expected an array of objects"),
        ('{"a": [{"facts": "F"}], "b": [{"facts": "G"}]}', "the lists 'a', 'b'"),
        ("[]", "an empty array; expected an array of objects"),
        ('[{"facts": "F", "outcome": "WON"}, 3]', "element 2 is 3, not an object"),
        ('[{"facts": "F"', "not JSON"),
    ],
)
def test_a_json_file_without_an_array_of_objects_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "cases.json").write_text(text)
    with pytest.raises(UserError, match=message):
        load(tmp_path / "cases.json")
