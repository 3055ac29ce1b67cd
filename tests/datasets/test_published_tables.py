"""Test that each fault in a user's file has one message with place, value and remedy."""

import json
from pathlib import Path

import pandas as pd
import pytest

from messages import refusal
from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.datasets.reading.checks import (
    check_unique,
    check_values,
    parse_booleans,
    parse_whole_numbers,
)
from moot.datasets.reading.delimited import read_csv
from moot.datasets.reading.records import read_jsonl

VALID_TABLE = "id,answer,age\n1,yes,20\n2,no,\n"


def write_file(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_cells_are_read_as_text_without_change(tmp_path: Path) -> None:
    frame = read_csv(
        write_file(tmp_path, b"\xef\xbb\xbf" + VALID_TABLE.encode()), ["id", "age"], unique="id"
    )
    assert frame.columns.tolist() == ["id", "answer", "age"]
    assert frame.index.tolist() == [1, 2]
    assert frame["age"].tolist() == ["20", ""]


@pytest.mark.parametrize("encoding", ["klingon", "base64"])
def test_an_unknown_encoding_is_named(tmp_path: Path, encoding: str) -> None:
    message = rf"table.csv: unknown encoding '{encoding}'.*gb18030.*Correct `encoding`"
    with pytest.raises(UserError, match=message):
        read_jsonl(write_file(tmp_path, VALID_TABLE), {"id": str}, encoding=encoding)


def test_the_message_about_a_missing_file_has_a_remedy(tmp_path: Path) -> None:
    with refusal():
        read_csv(
            tmp_path / "absent.csv", ["id"], get="set data_root in the configuration to its folder."
        )
    with refusal():
        read_csv(tmp_path, ["id"])


def test_numbers_booleans_and_vocabularies_name_the_first_wrong_row(tmp_path: Path) -> None:
    path = write_file(tmp_path, "n,b,word\n 3,TRUE,a\n-4,False,b\n,maybe,c\n")
    frame = read_csv(path, ["n", "b", "word"])
    assert parse_whole_numbers(path, frame["n"], allows_blank=True).tolist() == [3, -4, pd.NA]
    assert parse_booleans(path, frame["b"].iloc[:2]).tolist() == [True, False]
    check_values(path, frame["word"], ["a", "b", "c"])
    check_unique(path, frame["word"])
    with refusal():
        check_unique(path, frame["n"])
    with refusal():
        parse_whole_numbers(path, frame["n"])
    with refusal():
        parse_booleans(path, frame["b"])
    with refusal():
        check_values(path, frame["word"], ["a", ""])


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize("count", [20, 21, 5_000])
def test_of_many_faults_the_first_ones_are_named(tmp_path: Path, name: str, count: int) -> None:
    lines = [f"{number},yes" for number in range(count)]
    path = write_file(tmp_path, "\n".join(["id,answer,age", *lines, "-1,yes,4"]), name)
    with pytest.raises(UserError) as error:
        read_csv(path, ["id"]) if name == "t.csv" else read_jsonl(path, {"id": str})
    message = str(error.value).splitlines()
    further = count + 2 * name.endswith("jsonl") - 20
    assert "row 20: found 2 fields" in message[19] or "record 20 (line 20): not" in message[19]
    assert message[20:] == ([f"... and {further} more."] if further else [])


def test_json_lines_keep_their_values_and_their_line(tmp_path: Path) -> None:
    records = [
        {"id": 1, "fact": "a b", "meta": {"k": [1]}, "more": 0},
        {"id": 2, "fact": "案", "meta": {}},
    ]
    text = "\n\n".join(json.dumps(record, ensure_ascii=False) for record in records) + "\n"
    fields = {"id": int, "fact": str, "meta": dict}
    frame = read_jsonl(write_file(tmp_path, text), fields, unique="id")
    for row, record in zip(frame.to_dict("records"), records, strict=True):
        assert row == {name: record[name] for name in fields}
    recoded = read_jsonl(write_file(tmp_path, text.encode("gb18030")), fields, encoding="gb18030")
    assert recoded["fact"].tolist() == frame["fact"].tolist()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"id": "1", "fact": "a"}\n\n{"id": "2", "fa', r"record 2 \(line 3\): not JSON"),
        ('["1"]\n', r"record 1: found '1'; expected a JSON object"),
        ('{"id": "1"}\n', "missing field 'fact'; found 'id'"),
        ('{"id": "1", "fact": null}\n', "field 'fact': found None, expected str"),
        (
            '{"id": "1", "fact": "a"}\n{"id": "1", "fact": "b"}\n',
            "row 2, column 'id': '1' is in rows 1, 2",
        ),
        ("[" * 100_000, "not JSON"),
        (
            r'{"id": "1", "fact": "a \ud800 b"}',
            r"record 1: found '.ud800', an unpaired surrogate",
        ),
        (
            r'{"id": "1", "fact": "a", "more": {"\udfff": 1}}',
            "an unpaired surrogate; expected text",
        ),
        ("", "the file is empty"),
    ],
)
def test_a_faulty_record_is_refused_with_one_message(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = write_file(tmp_path, content, "records.jsonl")
    with pytest.raises(UserError, match=message) as raised:
        read_jsonl(path, {"id": str, "fact": str}, unique="id")
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


def test_true_is_not_a_whole_number(tmp_path: Path) -> None:
    with refusal():
        read_jsonl(write_file(tmp_path, '{"n": true}'), {"n": int})


def test_a_quoted_value_is_short_and_on_one_line() -> None:
    assert "\n" not in quote_value("a\nb")
    assert len(quote_value("x" * 500)) < 70
