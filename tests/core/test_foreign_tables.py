"""Test tables as other programs write them: encodings, separators, blank cells, JSON of pandas."""

import gzip
import json
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.core.user_tables import read_user_table

NAMES = ["id", "facts", "outcome"]
ROWS = [["1", 'Größe, "quoted"\nsecond line', "WON"], ["2", "It’s – the rent; paid | due", "LOST"]]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
LINES = "1,a b,WON\n2,c d,LOST\n"
PLAIN_ROWS = [["1", "a b", "WON"], ["2", "c d", "LOST"]]


def read(path: Path) -> list[list[str]]:
    return [list(row) for row in read_user_table(path, NAMES)[NAMES].to_numpy()]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_separators_line_ends_and_unicode_encodings_are_recognised(
    tmp_path: Path, separator: str, line_end: str, encoding: str
) -> None:
    text = FRAME.to_csv(index=False, sep=separator, lineterminator=line_end)
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path / "t.csv") == ROWS


@pytest.mark.parametrize("encoding", ["cp1252", "mac-roman", "utf-16-le"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_another_encoding_is_refused_with_line_and_remedy(
    tmp_path: Path, encoding: str, ending: str
) -> None:
    path = tmp_path / f"t.{ending}"
    records = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    text = FRAME.to_csv(index=False) if ending == "csv" else lines
    path.write_bytes(text.encode(encoding))
    with pytest.raises(UserError, match=r"line \d+: (byte 0x|text in UTF-16).*iconv"):
        read(path)


@pytest.mark.parametrize(
    "text",
    [
        f"id,facts,outcome,,\n{LINES}",
        "id,facts,outcome,,\n1,a b,WON,,\n2,c d,LOST,,\n",
        "id,facts,outcome\n1,a b,WON,\n2,c d,LOST,,\n",
        f" id , facts,outcome \n{LINES}",
        f"\n\nid,facts,outcome\n{LINES}",
        f"id,facts,outcome\n{LINES},,\n,,\n",
        f"id,facts,outcome\n1,a b,WON\n,,\n{LINES[10:]}",
        ",id,facts,outcome\n0,1,a b,WON\n1,2,c d,LOST\n",
        f"id,facts,outcome\n{LINES}".replace("a b", '"a b"'),
    ],
)
def test_blank_cells_and_rows_of_a_sheet_say_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv") == PLAIN_ROWS


def test_a_row_after_a_blank_one_keeps_its_number(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,facts,outcome\n1,a b,WON\n,,\n2,c d,LOST\n")
    assert read_user_table(tmp_path / "t.csv", NAMES).index.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"Report of 2026,,\n,,\nid,facts,outcome\n{LINES}", "Row 2 below the first line has"),
        (f"# exported\nid,facts,outcome\n{LINES}", "is '# exported' a title above the header"),
        ("id,facts,outcome\n1,a,b,WON\n", r"row 1 \(line 2\): found 4 fields, expected 3"),
        ("id,facts,outcome,,\n1,a\n", r"row 1 \(line 2\): found 2 fields, expected 5"),
        ("id,facts,outcome\n,,\n,,\n", "all 2 rows are blank"),
        ("sep=;\n", "a header without rows"),
        ("<!DOCTYPE html><html></html>", "a web page; expected data. Download the file itself"),
        ("  <html><body>", "a web page"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:a\n", "a pointer of Git LFS"),
        ("id,facts,facts,outcome\n1,a,b,WON\n", "column 'facts' occurs twice"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_with_one_message(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(UserError, match=message) as error:
        read(tmp_path / "t.csv")
    assert "\n" not in str(error.value) and str(tmp_path / "t.csv") in str(error.value)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("t.csv.gz", "gunzip FILE"),
        ("t.zip", "Unpack it"),
        ("t.csv", "compressed by gzip.*Unpack"),
        ("t.xls", "Save it as .xlsx"),
        ("t.ods", "Save it as .xlsx"),
        ("t.txt", "Rename it to .csv"),
        ("t.feather", "Save it as .parquet"),
        ("t.yaml", "Save it as one of them"),
    ],
)
def test_another_kind_of_file_is_refused_with_its_remedy(
    tmp_path: Path, name: str, remedy: str
) -> None:
    (tmp_path / name).write_bytes(gzip.compress(FRAME.to_csv(index=False).encode()))
    with pytest.raises(UserError, match=remedy):
        read(tmp_path / name)


RECORDS: list[dict[str, Any]] = [dict(zip(NAMES, row, strict=True)) for row in PLAIN_ROWS]
PLAIN_FRAME = pd.DataFrame(RECORDS)


@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "table"])
@pytest.mark.parametrize("lines", [False, True])
def test_json_of_pandas_is_read_in_every_orientation(
    tmp_path: Path, orient: Any, lines: bool
) -> None:
    lines = lines and orient == "records"
    PLAIN_FRAME.to_json(tmp_path / "t.json", orient=orient, lines=lines)
    assert read(tmp_path / "t.json") == PLAIN_ROWS


@pytest.mark.parametrize(
    "document",
    [
        PLAIN_FRAME.to_dict("list"),
        {"version": 1, "data": RECORDS, "meta": {"n": 2}},
        {"table": RECORDS},
    ],
)
def test_lists_of_cells_and_lists_of_rows_in_an_object_are_read(
    tmp_path: Path, document: Any
) -> None:
    (tmp_path / "t.json").write_text(json.dumps(document))
    assert read(tmp_path / "t.json") == PLAIN_ROWS


def test_columns_of_different_length_are_refused(tmp_path: Path) -> None:
    document = {"id": [1, 2], "facts": ["a"], "outcome": ["WON", "LOST"]}
    (tmp_path / "t.json").write_text(json.dumps(document))
    with pytest.raises(UserError, match=r"different numbers of cells \('id' 2, 'facts' 1,"):
        read(tmp_path / "t.json")


MESSAGES = [{"role": "user", "content": 'It\'s "so"'}, {"role": "judge", "content": "No,\nnot."}]


@pytest.mark.parametrize("write", [json.dumps, str])
@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_nested_values_are_read_from_json_and_as_python_prints_them(
    tmp_path: Path, write: Any, ending: str
) -> None:
    frame = pd.DataFrame([{"id": "d", "messages": write(MESSAGES)}])
    path = tmp_path / f"t.{ending}"
    _ = frame.to_csv(path, index=False) if ending == "csv" else frame.to_excel(path, index=False)
    table = read_user_table(path, ["messages.role", "messages.content"])
    assert table["messages.content"].tolist() == [row["content"] for row in MESSAGES]


@pytest.mark.parametrize(
    "cell",
    [
        "[{'role': 'a', 'content': 'x'} {'role': 'b', 'content': 'y'}]",
        "[{'role': 'a', 'content': 'x'}\n {'role': 'b', 'content': 'y'}]",
        "{'role': array(['a', 'b'], dtype=object), 'content': array(['x', 'y'], dtype=object)}",
    ],
)
def test_nested_values_as_numpy_prints_them_are_refused(tmp_path: Path, cell: str) -> None:
    """`Dataset.to_csv` and `DataFrame.to_csv` lose the commas of such lists."""
    pd.DataFrame([{"id": "d", "messages": cell}]).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(UserError, match="'messages' holds nested values as numpy prints them"):
        read_user_table(tmp_path / "t.csv", ["messages.content"])


def test_a_header_below_merged_titles_is_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (["Cases of 2026", None, None], NAMES, *PLAIN_ROWS):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(UserError, match="Row 1 below the first line has these names: remove"):
        read(tmp_path / "t.xlsx")
    sheet.delete_rows(1)
    sheet.append([None, None, None])
    sheet.append([" ", None, None])
    book.save(tmp_path / "t.xlsm")
    assert read(tmp_path / "t.xlsm")[:2] == PLAIN_ROWS


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "xlsx"])
def test_the_first_of_several_columns_with_a_value_counts(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"name": ["a", None, ""], "source": ["x", "y", None]})
    path = tmp_path / f"t.{ending}"
    match ending:
        case "csv":
            frame.to_csv(path)
        case "json":
            frame.to_json(path, orient="records")
        case "parquet":
            frame.to_parquet(path)
        case _:
            frame.to_excel(path)
    table = read_user_table(path, ["name|source|author"])
    assert table["name|source|author"].tolist() == ["a", "y", ""][: len(table)]
    with pytest.raises(UserError, match=r"missing column author\|who; found"):
        read_user_table(path, ["author|who"])


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ({"columns": 3, "data": []}, r"'columns': found 3, expected a list of names"),
        ({"columns": ["id", 4], "data": []}, "'columns': found .* expected a list of names"),
        ({"columns": NAMES, "data": "x"}, "'data': found 'x', expected a list of rows"),
        ({"columns": NAMES, "data": {"0": []}}, "'data': found .* expected a list of rows"),
        ({"columns": NAMES, "data": [["1", "a"]]}, "row 1 of 'data': found .* a list of 3 cells"),
        (
            {"columns": NAMES, "data": [["1", "a", "WON"], 7]},
            "row 2 of 'data': found 7, expected a list of 3 cells",
        ),
    ],
)
def test_malformed_columns_and_rows_are_refused_with_their_place(
    tmp_path: Path, document: dict[str, Any], fault: str
) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps(document))
    with pytest.raises(UserError, match=fault):
        read(path)


@pytest.mark.parametrize("text", ["[" * 5_000, "{1: " * 5_000, "[1, 2", "b'a", "[1,2]+3"])
def test_printed_values_that_cannot_be_read_stay_text(tmp_path: Path, text: str) -> None:
    rows = [["1", text, "WON"], ["2", text, "LOST"]]
    pd.DataFrame(rows, columns=NAMES).to_csv(tmp_path / "t.csv", index=False)
    assert read(tmp_path / "t.csv") == rows
