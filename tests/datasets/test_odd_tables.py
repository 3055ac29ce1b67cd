"""Tables that programs and spreadsheets damaged are read correctly, or refused with a remedy."""

import datetime
import json
import logging
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.datasets import Loaded
from saved_tables import save_table
from user_tables import load

ROWS = "facts,outcome\na,WON\nb,LOST\n"
MISSING_WORDS = ["NaN", "nan", "<NA>", "NaT", "#N/A", "#REF!"]


def _load_text(folder: Path, content: str | bytes, name: str = "t.csv", **options: str) -> Loaded:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load(path, **options)


def _texts(loaded: Loaded) -> list[tuple[str, object]]:
    return [(case.text, case.target) for case in loaded.cases]


READ_ALIKE = {
    "two byte-order marks": b"\xef\xbb\xbf\xef\xbb\xbf" + ROWS.encode(),
    "an end mark": (ROWS + "\x1a").encode(),
    "UTF-16": ROWS.encode("utf-16"),
    "spaces after commas": b'facts, outcome\n"a", "WON"\n"b", "LOST"\n',
    "spaces after semicolons": b'facts; outcome\n"a"; "WON"\n"b"; "LOST"\n',
    "formulas": b'facts,outcome\n"=""a""","=""WON"""\n"=""b""","=""LOST"""\n',
    "invisible characters": "facts,outcome\na,WON\xa0\nb,LOST\u200b\n".encode(),
}


@pytest.mark.parametrize("content", READ_ALIKE.values(), ids=READ_ALIKE)
def test_marks_spaces_and_formulas_of_programs_are_no_content(
    tmp_path: Path, content: bytes
) -> None:
    assert _texts(_load_text(tmp_path, content)) == [("a", "won"), ("b", "lost")]


@pytest.mark.parametrize("content", [ROWS, ROWS.replace(",", ";"), ROWS.replace(",", "\t")])
def test_a_tsv_file_is_read_by_the_separator_it_has(tmp_path: Path, content: str) -> None:
    assert _texts(_load_text(tmp_path, content, "t.tsv")) == [("a", "won"), ("b", "lost")]


@pytest.mark.parametrize(("spelling", "label"), [
    ("gagne\u0301", "gagné"), ("not  guilty", "not guilty"), ("not\xa0guilty", "not guilty"),
    ("\u200bwon", "won"), ("won\ufeff", "won"), ("1.0", "1"), ("co\u00adop", "coop"),
    ("won ", "won"),
])  # fmt: skip
def test_spellings_that_look_alike_are_one_label(tmp_path: Path, spelling: str, label: str) -> None:
    words = {"a": spelling, "b": label, "c": "other"}
    rows = [{"facts": facts, "outcome": word} for facts, word in words.items()]
    for name in ("t.csv", "t.jsonl"):
        path = save_table(tmp_path / name, rows)
        loaded = load(path)
        assert set(loaded.task.labels) == {label, "other"}
        listed = load(path, labels={label: "first", "other": "second"})
        assert [case.target for case in listed.cases] == ["first", "first", "second"]


@pytest.mark.parametrize("word", MISSING_WORDS)
def test_a_word_for_a_missing_value_is_neither_label_nor_text(tmp_path: Path, word: str) -> None:
    with pytest.raises(UserError, match=r"row 3, column 'outcome'.*expected one of LOST, WON"):
        _load_text(tmp_path, f"{ROWS}c,{word}\n")
    with pytest.raises(UserError, match=r"row 3, column 'facts'.*expected a text"):
        _load_text(tmp_path, f"{ROWS}{word},WON\n")
    listed = {"WON": "won", "LOST": "lost", word: "unknown"}
    loaded = _load_text(tmp_path, f"{ROWS}c,{word}\n", labels=listed)  # type: ignore[arg-type]
    assert loaded.cases[2].target == "unknown"


@pytest.mark.parametrize("word", ["NONE", "None", "NA", "N/A", "n/a", "null", "NULL"])
def test_a_word_that_people_write_for_nothing_stays_label_and_text(
    tmp_path: Path, word: str, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = _load_text(tmp_path, f"{ROWS}{word},{word}\n")
    assert set(loaded.task.labels) == {"won", "lost", word.casefold()}
    assert _texts(loaded)[2] == (word, word.casefold())
    listed = {"WON": "won", "LOST": "lost", word: "unknown"}
    path = tmp_path / "t.csv"
    path.write_text(f"facts,why,outcome\na,b,WON\nc,{word},{word}\n")
    loaded = load(path, labels=listed, text=["facts", "why"])
    assert _texts(loaded) == [("facts: a. why: b.", "won"), (f"facts: c. why: {word}.", "unknown")]
    assert "cells left out of texts as missing (NaN, #N/A)" not in loaded.cleaning
    assert not caplog.text


@pytest.mark.parametrize("word", MISSING_WORDS)
@pytest.mark.parametrize("text", [["facts", "why"], "{facts}: {why}"])
def test_a_cell_that_is_left_out_of_a_text_is_counted(
    tmp_path: Path, word: str, text: str | list[str], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"facts,why,outcome\na,b,WON\nc,{word},LOST\nd,{word},LOST\n")
    with caplog.at_level(logging.WARNING):
        loaded = load(path, text=text)
    assert word not in loaded.cases[1].text
    assert loaded.cleaning["cells left out of texts as missing (NaN, #N/A)"] == 2
    assert f"column 'why': 2 cells, first of row 2 ('{word}'), are missing values" in caplog.text


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_second_header_is_refused(tmp_path: Path, separator: str) -> None:
    joined = (ROWS + "\ufeff" + ROWS).replace(",", separator)
    with pytest.raises(UserError, match=r"row 3 \(line 4\): repeats the header.*Remove the row"):
        _load_text(tmp_path, joined)


@pytest.mark.parametrize("identifier", ["1.23457E+15", "1E+05", "9,8E+12"])
def test_an_id_that_a_spreadsheet_shortened_is_refused(tmp_path: Path, identifier: str) -> None:
    content = f'nr,facts,outcome\n"{identifier}",a,WON\n1234567890,b,LOST\n'
    with pytest.raises(UserError, match=r"row 1, column 'nr'.*shortened.*Format the column"):
        _load_text(tmp_path, content, id="nr")


@pytest.mark.parametrize(("identifier", "ids"), [
    ("5E+12", "2E5"), ("5E+12", "A1"), ("5E+12", "17"), ("5E+12", "5E+13"), ("5e12", "1234567890"),
])  # fmt: skip
def test_an_id_that_looks_like_a_number_is_read(tmp_path: Path, identifier: str, ids: str) -> None:
    content = f"nr,facts,outcome\n{identifier},a,WON\n{ids},b,LOST\n"
    loaded = _load_text(tmp_path, content, id="nr")
    assert [case.case_id for case in loaded.cases] == [identifier, ids]


@pytest.mark.parametrize("name", ["t.jsonl", "t.parquet"])
def test_an_id_of_a_program_is_not_shortened(tmp_path: Path, name: str) -> None:
    rows = [
        {"nr": "5E+12", "facts": "a", "outcome": "WON"},
        {"nr": "1234567890", "facts": "b", "outcome": "LOST"},
    ]
    loaded = load(save_table(tmp_path / name, rows), id="nr")
    assert [case.case_id for case in loaded.cases] == ["5E+12", "1234567890"]


@pytest.mark.parametrize(("encoding", "remedy"), [
    ("utf-16-le", "UTF-16LE"), ("utf-16-be", "UTF-16BE"), ("utf-32", "UTF-32"),
    ("utf-32-be", "UTF-16"), ("gb18030", "GB18030"), ("shift-jis", "CP932"), ("cp949", "CP949"),
    ("big5", "BIG5"),
])  # fmt: skip
def test_the_remedy_names_the_likely_encoding(tmp_path: Path, encoding: str, remedy: str) -> None:
    words_of_encoding = {"shift-jis": "事件です", "cp949": "사건입니다", "big5": "案件事實"}
    words = words_of_encoding.get(encoding, "案件事实")
    with pytest.raises(UserError, match=rf"iconv .*{remedy}"):
        _load_text(tmp_path, f"facts,outcome\n{words},WON\nb,LOST\n".encode(encoding))


@pytest.mark.parametrize(("encoding", "text"), [
    ("cp1252", "Café müßig"), ("cp1252", "It’s “no”"), ("cp1252", "naïve"), ("cp1252", "Ñandú"),
    ("cp1251", "Обвиняемый украл машину"), ("cp1251", "Иван"), ("cp1251", "ИВАН"),
    ("cp1251", "«ИВАН»"), ("koi8-r", "Обвиняемый украл машину"), ("cp1256", "المتهم سرق السيارة"),
    ("cp1253", "Ο κατηγορούμενος έκλεψε"), ("cp1253", "ΑΘΗΝΑ"), ("cp1255", "הנאשם גנב את המכונית"),
    ("cp874", "จำเลยขโมยรถยนต์"), ("cp1250", "oskarżony ukradł"), ("cp1254", "şüpheli aracı çaldı"),
])  # fmt: skip
def test_an_alphabet_gets_no_encoding_of_east_asia(
    tmp_path: Path, encoding: str, text: str
) -> None:
    content = f"facts,outcome\n{text},WON\nb,LOST\n".encode(encoding)
    remedy = r"ENCODING is the encoding in which it was saved, such as WINDOWS-1252 for Western"
    with pytest.raises(UserError, match=remedy):
        _load_text(tmp_path, content)


@pytest.mark.parametrize("text", ["Caf\ufffd", "CafÃ©", "itâ€™s", "Ã¼ber"])
def test_signs_of_a_wrong_encoding_are_named(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        _load_text(tmp_path, f"facts,outcome\na,WON\n{text},LOST\n")
        assert "1 rows, first of row 2, hold signs of a wrong encoding" in caplog.text
        caplog.clear()
        _load_text(tmp_path, "facts,outcome\nCafé – Ãlvaro,WON\nb,LOST\n")
    assert not caplog.text


def test_a_backslash_before_a_quotation_mark_gets_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"row 1.*quotation mark twice"):
        _load_text(tmp_path, 'facts,outcome\n"he said \\"no\\", twice",WON\nb,LOST\n')


def test_lines_of_an_array_and_zero_characters(tmp_path: Path) -> None:
    lines = [
        json.dumps({"facts": "a", "outcome": "WON"}),
        json.dumps({"facts": "b", "outcome": "L"}),
    ]
    loaded = _load_text(tmp_path, ",\n".join(lines) + ",\n", "t.jsonl")
    assert _texts(loaded) == [("a", "won"), ("b", "l")]
    with pytest.raises(UserError, match=r"record 1.*zero character.*Remove it"):
        _load_text(tmp_path, lines[0].replace('"a"', '"a\\u0000"') + "\n" + lines[1], "t.jsonl")


@pytest.mark.parametrize(("escaped", "text"), [
    (r"a \\u0000 b", r"a \u0000 b"), (r"a \\\\u0000", r"a \\u0000"), (r"\u0041", "A"),
])  # fmt: skip
def test_an_escaped_backslash_is_no_zero_character(tmp_path: Path, escaped: str, text: str) -> None:
    line = '{"facts": "FACTS", "outcome": "WON"}\n'
    content = line.replace("FACTS", escaped) + line.replace("WON", "LOST")
    assert _load_text(tmp_path, content, "t.jsonl").cases[0].text == text
    for value in (r'["\u0000"]', r'{"a\u0000": 1}', r'{"b": [{"c": "\\\u0000"}]}'):
        broken = line.replace('"FACTS"', f'"a", "extra": {value}')
        with pytest.raises(UserError, match=r"record 1.*zero character"):
            _load_text(tmp_path, broken + line, "t.jsonl")


@pytest.mark.parametrize(("rows", "message"), [
    ([{"facts": "a", "outcome": ["WON"]}, {"facts": "b", "outcome": ["LOST"]}], "outcome.0"),
    ([{"facts": "a", "outcome": None}, {"facts": "b", "outcome": ""}], "holds no label in 2 rows"),
    ([{"facts": "a", "outcome": "WON"}, {"facts": "b", "outcome": "2024-01-02"}], "make dates"),
])  # fmt: skip
def test_a_column_that_holds_no_labels_is_refused(
    tmp_path: Path, rows: Sequence[object], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        _load_text(tmp_path, "\n".join(map(json.dumps, rows)), "t.jsonl")


def test_an_object_of_rows_by_id_gets_its_remedy(tmp_path: Path) -> None:
    rows = {"k1": {"facts": "a", "outcome": "WON"}, "k2": {"facts": "b", "outcome": "LOST"}}
    with pytest.raises(UserError, match=r"name the column \(key\) as `id`"):
        _load_text(tmp_path, json.dumps(rows), "t.json")
    loaded = _load_text(tmp_path, json.dumps(rows), "t.json", id="(key)")
    assert [case.case_id for case in loaded.cases] == ["k1", "k2"]


def _save_sheet(path: Path, rows: Sequence[Sequence[object]], formats: dict[str, str]) -> None:
    book = openpyxl.Workbook()
    for row in rows:
        book.worksheets[0].append(row)
    for cell, number_format in formats.items():
        book.worksheets[0][cell].number_format = number_format
    book.create_sheet("data").append(["nr", "facts", "outcome"])
    book.save(path)


@pytest.mark.parametrize(("number_format", "identifier"), [
    ("000", "007"), ("00000", "00007"), ("0", "7"), ("General", "7"), ("0.00", "7"), ("@", "7"),
])  # fmt: skip
def test_a_number_in_excel_has_the_zeros_that_it_shows(
    tmp_path: Path, number_format: str, identifier: str
) -> None:
    path = tmp_path / "t.xlsx"
    rows = [["nr", "facts", "outcome"], [7, "a", "WON"], [18, "c", "LOST"], [-7, "d", "WON"]]
    _save_sheet(path, rows, {"A2": number_format, "A4": number_format})
    loaded = load(path, id="nr")
    assert [case.case_id for case in loaded.cases] == [identifier, "18", "-7"]
    (tmp_path / "truth.csv").write_text(f"nr,verdict\n{identifier},Y\n18,N\n-7,Y\n")
    case_table = {"path": tmp_path / "truth.csv", "id": "nr"}
    loaded = load(path, id="nr", target="verdict", case_table=case_table)
    assert [case.target for case in loaded.cases] == ["y", "n", "y"]


@pytest.mark.parametrize("number_format", ["0", "00", "000", "General"])
def test_numbers_other_than_ids_have_no_zeros_in_front(tmp_path: Path, number_format: str) -> None:
    path = tmp_path / "t.xlsx"
    _save_sheet(
        path,
        [["facts", "outcome", "age"], ["a", 1, 7], ["b", 0, 8]],
        dict.fromkeys(("B2", "B3", "C2", "C3"), number_format),
    )
    loaded = load(path, labels={"1": "y", "0": "n"}, text=["facts", "age"])
    assert _texts(loaded) == [("facts: a. age: 7.", "y"), ("facts: b. age: 8.", "n")]
    assert set(load(path).task.labels) == {"0", "1"}


@pytest.mark.parametrize(("cell", "text"), [
    ("a_x000D_\nb", "a\nb"), ("a_x0009_b", "a\tb"), ("a_x000a_b", "a\nb"),
    ("f_x0041_b", "f_x0041_b"), ("a_xD83D_b", "a_xD83D_b"), ("a_xDC00_", "a_xDC00_"),
    ("a_x0000_b", "a_x0000_b"), ("a_x001F_b", "a_x001F_b"), ("a_x005F_x000D_b", "a_x005F_x000D_b"),
])  # fmt: skip
def test_only_tabs_and_line_ends_of_excel_are_decoded(tmp_path: Path, cell: str, text: str) -> None:
    path = tmp_path / "t.xlsx"
    _save_sheet(path, [["nr", "facts", "outcome"], [cell, cell, "WON"], [18, "c", "LOST"]], {})
    case = load(path, id="nr").cases[0]
    assert (case.case_id, case.text) == (text, text)


def test_a_table_on_another_sheet_and_a_date_among_labels(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    _save_sheet(path, [["read me"]], {})
    with pytest.raises(UserError, match=r"name another one \('data'\) in `sheet`"):
        load(path)
    date = datetime.date(2024, 2, 1)
    _save_sheet(path, [["facts", "outcome"], ["a", date], ["b", "3-4"]], {})
    with pytest.raises(UserError, match=r"row 1: found '2024-02-01 00:00:00'.*format\s+the column"):
        load(path)


def test_a_parquet_table_without_rows_names_its_fault(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"facts": pd.Series(dtype=str), "outcome": pd.Series(dtype=str)}).to_parquet(path)
    with pytest.raises(UserError, match="no rows; expected at least one"):
        load(path)
