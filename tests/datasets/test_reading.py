"""Tables of users: pandas reads them as text, or the message has the line that converts them."""

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from messages import refusal
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.datasets.reading.delimited import read_csv
from moot.datasets.reading.tables import read_table
from saved_tables import ENDINGS, save_table

NAMES = ["id", "facts", "outcome"]
ROWS = [["1", 'Größe, "quoted"\nsecond line', "WON"], ["2", "It’s – the rent; paid | due", "LOST"]]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
RECORDS: list[dict[str, Any]] = FRAME.to_dict("records")
LINES = "1,a b,WON\n2,c d,LOST\n"
PLAIN_ROWS = [["1", "a b", "WON"], ["2", "c d", "LOST"]]
TURNS = [{"who": "Ann", "says": "It is."}, {"who": "Bob", "says": "It is not."}]


def read(path: Path) -> list[list[str]]:
    return [list(row) for row in read_table(path, NAMES)[NAMES].to_numpy()]


@pytest.mark.parametrize("ending", [*ENDINGS, ".csv.gz", ".jsonl.gz", ".xlsx.gz", ".parquet.gz"])
def test_every_format_gives_the_same_cells(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"t{ending}"
    plain_path = path.with_name(path.name.removesuffix(".gz"))
    save_table(plain_path, RECORDS)
    if ending.endswith(".gz"):
        path.write_bytes(gzip.compress(plain_path.read_bytes()))
    assert read(path) == ROWS


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_separators_line_ends_and_unicode_encodings_are_recognised(
    tmp_path: Path, separator: str, line_end: str, encoding: str
) -> None:
    text = FRAME.to_csv(index=False, sep=separator, lineterminator=line_end)
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    assert read(tmp_path / "t.csv") == ROWS


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Die Mieterin klagte über die gekündigte Wohnung; der Schlüssel fehlte."),
        ("gb18030", "原告租住的房屋冬季没有暖气，被告拒绝修理，原告要求退还部分租金。"),
        ("cp1251", "Истец снимал квартиру без отопления и требует вернуть часть платы."),
    ],
)
def test_another_encoding_is_guessed_and_the_guess_is_printed(
    tmp_path: Path, encoding: str, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [f"{number},{text},WON" for number in range(9)]
    (tmp_path / "t.csv").write_bytes("\n".join([",".join(NAMES), *lines]).encode(encoding))
    assert read(tmp_path / "t.csv")[0][1] == text
    assert "line 2: byte 0x" in caplog.text and "the best guess" in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        f"id,facts,outcome,,\n{LINES}",
        "id,facts,outcome\n1,a b,WON,\n2,c d,LOST,,\n",
        f" id , facts,outcome \n{LINES}",
        f"\n\nid,facts,outcome\n{LINES}",
        f"id,facts,outcome\n{LINES},,\n,,\n",
        ",id,facts,outcome\n0,1,a b,WON\n1,2,c d,LOST\n",
        f"sep=;\nid;facts;outcome\n{LINES}".replace(",", ";"),
    ],
)
def test_blank_cells_and_rows_of_a_sheet_say_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv") == PLAIN_ROWS


@pytest.mark.parametrize(
    "text",
    [
        "id,facts,outcome\n1,a,b,WON\n",
        "id,facts,outcome\n1,a\n",
        "id,facts,outcome\n,,\n,,\n",
        "id,facts,outcome\n",
        'id,facts,outcome\n1,"a,WON\n',
        "id,facts,facts,outcome\n1,a,b,WON\n",
        "id,text,outcome\n1,a,WON\n",
        "",
    ],
)
def test_a_faulty_file_is_refused_with_one_message(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with refusal():
        read(tmp_path / "t.csv")


def test_all_rows_of_another_width_are_named_and_left_out(tmp_path: Path) -> None:
    text = "id,facts,outcome\n1,a b,WON\n2,x\n3,c,d,LOST\n4,c d,LOST\n"
    (tmp_path / "t.csv").write_text(text)
    faults = Faults()
    table = read_table(tmp_path / "t.csv", NAMES, faults=faults)
    assert table.index.tolist() == [1, 4]
    assert [message.partition(": ")[2][:27] for message in faults.messages] == [
        "row 2: found 2 fields, expe", "row 3: found 4 fields, expe",
    ]  # fmt: skip
    with refusal():
        read_csv(tmp_path / "t.csv", NAMES)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.lists(
        st.tuples(
            *[st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))] * 2
        ),
        min_size=1,
        max_size=8,
    )
)
def test_any_text_written_as_csv_is_read_back(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([("first", "second"), *rows])
    (tmp_path / "t.csv").write_bytes(stream.getvalue().encode())
    frame = read_csv(tmp_path / "t.csv", ["first", "second"])
    assert list(frame.itertuples(index=False, name=None)) == rows


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([1, None, 2**62 + 1]), ["1", "", str(2**62 + 1)]),
        (pa.array([0.5, 3, None], pa.float32()), ["0.5", "3", ""]),
        (pa.array([True, None, False]), ["true", "", "false"]),
        (pa.array([b"a\nb", None, "é".encode()]), ["a\nb", "", "é"]),
        (pa.array(["1.0", "NA"]), ["1.0", "NA"]),
        (pa.array([[1, None], None, []]), ["[1, null]", "", "[]"]),
        (pa.array([0, None], pa.date32()), ["1970-01-01", ""]),
        (pa.array([0, 1], pa.timestamp("s")), ["1970-01-01", "1970-01-01 00:00:01"]),
    ],
)
def test_parquet_is_read_by_the_type_of_its_columns(
    tmp_path: Path, array: pa.Array, texts: list[str]
) -> None:
    pq.write_table(pa.table({"value": array}), tmp_path / "t.parquet")
    assert read_table(tmp_path / "t.parquet", ["value"])["value"].tolist() == texts


def test_bytes_that_are_not_text_are_refused_only_where_they_are_needed(tmp_path: Path) -> None:
    table = pa.table({"facts": ["F"], "image": pa.array([b"\xff\xfe"])})
    pq.write_table(table, tmp_path / "t.parquet")
    assert [*read_table(tmp_path / "t.parquet", ["facts"])] == ["facts"]
    with refusal():
        read_table(tmp_path / "t.parquet", ["image"])


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str) -> None:
    save_table(tmp_path / name, RECORDS)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:300])
    with pytest.raises(UserError, match=rf"{name}: cannot be read \(.*Save it again"):
        read(tmp_path / name)


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        pd.DataFrame({"note": ["read me"]}).to_excel(book, sheet_name="about", index=False)
        FRAME.to_excel(book, sheet_name="data", startrow=2, index=False)
    assert read_table(tmp_path / "t.xlsx", NAMES, sheet="data")["id"].tolist() == ["1", "2"]
    with refusal():
        read_table(tmp_path / "t.xlsx", NAMES, sheet="cases")


def test_hidden_rows_and_columns_are_read_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        FRAME.to_excel(book, sheet_name="data", index=False)
        book.sheets["data"].row_dimensions[3].hidden = True
        book.sheets["data"].column_dimensions["B"].hidden = True
        book.sheets["data"].merge_cells("D2:D3")
    assert read_table(tmp_path / "t.xlsx", NAMES)["id"].tolist() == ["1", "2"]
    assert read_table(tmp_path / "t.xlsx", NAMES)["facts"].tolist()[1] == ROWS[1][1]
    place = f"{tmp_path}/t.xlsx: sheet 'data'"
    remedy = "are read like the others. Remove what should not count."
    assert caplog.messages == [  # once, also if it is read again
        f"{place}: hidden rows (the first is row 3 of the sheet) {remedy}",
        f"{place}: hidden columns (the first is column B of the sheet) {remedy}",
        f"{place}: merged cells (D2:D3) are read as one cell with the value, and blank ones. Write"
        " the value into each of them.",
    ]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
@pytest.mark.parametrize("text", ['{"a": 1}\n\n{"b": "x"}\n', '[\n{"a": 1},\n{"b": "x"}]\n'])
def test_a_missing_key_is_a_blank_cell(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    table = read_table(tmp_path / name, ["a", "b"])
    assert table.to_numpy().tolist() == [["1", ""], ["", "x"]]
    with pytest.raises(UserError, match="missing column c"):
        read_table(tmp_path / name, ["a", "c"])


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".parquet"])
def test_turns_of_a_record_become_rows(tmp_path: Path, ending: str) -> None:
    records = [
        {"id": 1, "log": {"turns": TURNS, "place": "x"}},
        {"id": 2, "log": {"turns": TURNS[:1], "place": "y"}},
    ]
    save_table(tmp_path / f"t{ending}", records)
    columns = ["id", "log.place", "log.turns.who"]
    table = read_table(tmp_path / f"t{ending}", columns, turns="log.turns")
    assert table.index.tolist() == [1, 1, 2]
    assert table[columns].to_numpy().tolist() == [
        ["1", "x", "Ann"], ["1", "x", "Bob"], ["2", "y", "Ann"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "columns"),
    [
        ([{"id": 1, "log": [TURNS]}], ["log.0.who"]),
        ([{"id": 1, "log": TURNS}], ["log.who"]),
        ([{"id": 1, "log": TURNS}], ["log.0.who"]),
        ([{"id": 1, "log": {"1": TURNS[0]}}], ["log", "who"]),
        ({"data": RECORDS}, NAMES),
        ([{"id": 1, "log": []}], ["log.who"]),
        ({"k1": RECORDS[0], "k2": RECORDS[1]}, NAMES),
        ({name: FRAME[name].to_dict() for name in NAMES}, NAMES),
        (FRAME.to_dict("split"), NAMES),
        ([{"id": 1, "r1_says": "a", "r2_says": "b"}], ["says"]),
        ([{"id": 1, "r1_says": "a", "r2_says": "b"}], ["r{round}_says"]),
    ],
)
def test_another_arrangement_is_refused_with_the_line_of_pandas(
    tmp_path: Path, document: Any, columns: list[str]
) -> None:
    (tmp_path / "t.json").write_text(json.dumps(document))
    with refusal():
        read_table(tmp_path / "t.json", columns)


@pytest.mark.parametrize(
    ("turns", "line"),
    [
        ([TURNS], r"records\).explode\('log'\)"),
        ({"1": TURNS[0]}, r"turn in record\['log'\].values"),
        ("text", ""),
        ([1], ""),
        (None, ""),
    ],
)
def test_what_is_no_list_of_objects_is_refused_as_turns(
    tmp_path: Path, turns: Any, line: str
) -> None:
    (tmp_path / "t.json").write_text(json.dumps([{"id": 1, "log": TURNS}, {"log": turns}]))
    message = f"record 2, field 'log': .*expected a list of objects.*{line}"
    with pytest.raises(UserError, match=message):
        read_table(tmp_path / "t.json", ["log.who"], turns="log")


@pytest.mark.parametrize("name", ["t.zip", "t.xls", "t.txt", "t.feather"])
def test_another_kind_of_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a")
    with refusal():
        read(tmp_path / name)


REPORTS = {
    "Excel's Unicode text has tabs in UTF-16": (
        "a.csv", "facts\toutcome\nMüller, „nein“\tWON\n".encode("utf-16"), "Müller, „nein“",
    ),
    "lists with commas among semicolons": (
        "a.csv", b"facts;outcome\n['112', '112'];WON\n", "['112', '112']",
    ),
    "a heading with a quoted comma": ("a.csv", b'"facts";"out,come";outcome\na;;WON\n', "a"),
    "as many commas as semicolons in each line": (
        "a.csv", b'facts;a, b;outcome\n"c; d, e";f;WON\n', "c; d, e",
    ),
    "more commas than semicolons in the heading": (
        "a.csv", b"facts;who, what, where, when;outcome\nc, d;e;WON\n", "c, d",
    ),
    "semicolons in the texts of commas": (
        "a.csv", b"facts,note; or,outcome\na; b; c,d,WON\n", "a; b; c",
    ),
    "line separators within a JSON line": (
        "a.jsonl", '{"facts": "a\u2028b\x85c", "outcome": "WON"}\n'.encode(), "a\u2028b\x85c",
    ),
}  # fmt: skip
"""Files on which other readers failed, by public reports."""


@pytest.mark.parametrize("report", REPORTS)
def test_files_on_which_other_readers_failed(tmp_path: Path, report: str) -> None:
    name, content, facts = REPORTS[report]
    (tmp_path / name).write_bytes(content)
    table = read_table(tmp_path / name, ["facts", "outcome"])
    assert table[["facts", "outcome"]].to_numpy().tolist() == [[facts, "WON"]]


@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_lines_above_the_heading_are_refused_with_the_line_of_pandas(
    tmp_path: Path, ending: str
) -> None:
    path = tmp_path / f"t{ending}"
    lines = pd.DataFrame([["Survey 2024", "", ""], NAMES, *ROWS])
    if ending == ".csv":
        path.write_text("Survey 2024\n" + lines[1:].to_csv(index=False, header=False))
    else:
        lines.to_excel(path, index=False, header=False)
    with refusal():
        read(path)


def test_a_named_index_of_parquet_is_a_column(tmp_path: Path) -> None:
    FRAME.set_index("id").to_parquet(tmp_path / "t.parquet")
    assert read(tmp_path / "t.parquet") == ROWS


@pytest.mark.parametrize(
    "damaged", [b"3,caf\xc3", b"3,caf\xe9,WON"], ids=["a cut character", "a joined file"]
)
def test_a_broken_byte_of_utf_8_is_no_other_encoding(tmp_path: Path, damaged: bytes) -> None:
    lines = [f"{number},Größe und Maß,WON" for number in range(9)]
    content = "\n".join([",".join(NAMES), *lines, ""]).encode() + damaged
    (tmp_path / "t.csv").write_bytes(content)
    with refusal():
        read(tmp_path / "t.csv")


def test_a_zero_byte_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b'facts,outcome\n"x\x00y",WON\n')
    with refusal():
        read_table(tmp_path / "a.csv")
