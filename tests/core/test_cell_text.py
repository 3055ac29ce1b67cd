"""Test that one value has the same text in every format of a user's table."""

import json
from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moot.core.errors import UserError
from moot.core.user_tables import read_user_table

FORMATS = ("csv", "tsv", "jsonl", "json", "parquet", "xlsx")
WORDS = st.from_regex(r"[A-Za-z][A-Za-z é,;\"]{0,8}[a-z]", fullmatch=True)


def dict_of(*names: str) -> Callable[[tuple[Any, ...]], dict[str, Any]]:
    """Return a function that makes a dictionary of values, with its keys in this order."""
    return lambda values: dict(zip(names, values, strict=True))


COLUMNS: Sequence[st.SearchStrategy[Any]] = (
    st.integers(-(10**14), 10**14),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3) + 0.0),
    st.booleans(),
    WORDS,
    st.integers(-(2**62), 2**62).map(lambda value: value | 2**60),
    st.integers(-99_999, 99_999).map(lambda value: np.float32(value / 100)),
    st.dates(date(1900, 3, 1), date(2100, 1, 1)),
    st.datetimes(datetime(1900, 3, 1), datetime(2100, 1, 1)).map(
        lambda value: value.replace(microsecond=0)
    ),
    st.decimals(-1000, 1000, places=2).filter(lambda value: value % 1 != 0 and value * 10 % 1 != 0),
    WORDS.map(str.encode),
    st.lists(WORDS, min_size=1, max_size=3),
    st.tuples(WORDS, st.integers(0, 9)).map(dict_of("role", "score")),
    st.lists(st.tuples(WORDS, st.booleans()).map(dict_of("name", "sure")), min_size=1, max_size=2),
)
ROUNDED_BY_EXCEL = 10**15


def write(path: Path, values: list[Any]) -> None:
    """Write a column of values, and a column that is never blank, as programs write them."""
    rows = [{"n": f"r{number}", "value": value} for number, value in enumerate(values)]
    frame = pd.DataFrame(rows, dtype="object")
    match path.suffix:
        case ".csv" | ".tsv":
            _as_pandas_infers(frame).to_csv(path, index=False, sep=SEPARATORS[path.suffix])
        case ".jsonl":
            path.write_text("".join(json.dumps(row, default=json_value) + "\n" for row in rows))
        case ".json":
            path.write_text(json.dumps(rows, default=json_value))
        case ".parquet":
            pq.write_table(pa.Table.from_pandas(frame), path)
        case _:
            _as_pandas_infers(frame).to_excel(path, index=False)


SEPARATORS = {".csv": ",", ".tsv": "\t"}


def _as_pandas_infers(frame: pd.DataFrame) -> pd.DataFrame:
    """Make whole numbers beside a gap floats, as pandas does; larger ones keep their digits."""
    numbers = [value for value in frame["value"] if isinstance(value, int)]
    if any(abs(number) >= ROUNDED_BY_EXCEL for number in numbers):
        return frame
    return frame.infer_objects()


def json_value(value: object) -> object:
    """A value that JSON has no type for, as programs write it."""
    if isinstance(value, bytes):
        return value.decode()
    return float(value) if isinstance(value, np.float32) else str(value)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_value_has_one_text_in_all_formats(data: st.DataObject, tmp_path: Path) -> None:
    strategy = data.draw(st.sampled_from(COLUMNS))
    values = data.draw(st.lists(st.none() | strategy, min_size=1, max_size=6))
    values.append(data.draw(strategy))
    texts = {}
    is_rounded = any(isinstance(v, int) and abs(v) >= ROUNDED_BY_EXCEL for v in values)
    for ending in FORMATS:
        path = tmp_path / f"t.{ending}"
        write(path, values)
        if ending == "xlsx" and is_rounded:
            with pytest.raises(UserError, match="Excel rounds numbers of more than 15 digits"):
                read_user_table(path, ["value"])
            continue
        texts[ending] = read_user_table(path, ["value"])["value"].tolist()
    assert all(column == texts["json"] for column in texts.values()), texts
    expected = [("" if value is None else str(value)) for value in values]
    if all(isinstance(value, str | None) for value in values):
        assert texts["json"] == expected


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array([1, None, 2**62 + 1]), ["1", "", str(2**62 + 1)]),
        (pa.array([0.1, 3, None], pa.float32()), ["0.1", "3", ""]),
        (pa.array(np.array([0.5, 2], "float16")), ["0.5", "2"]),
        (pa.array([True, None, False]), ["true", "", "false"]),
        (pa.array([b"a\nb", None, "é".encode()]), ["a\nb", "", "é"]),
        (pa.array([b"ab"], pa.binary(2)), ["ab"]),
        (pa.array([b"ab"], pa.large_binary()), ["ab"]),
        (pa.array(["1.0", "1.50"]), ["1.0", "1.50"]),
        (pa.array(["x", None, "x"]).dictionary_encode(), ["x", "", "x"]),
        (pa.array([[1, None], None, []]), ["[1, null]", "", "[]"]),
        (pa.array([{"a": 1, "b": b"x"}]), ['{"a": 1, "b": "x"}']),
        (pa.array([0, None], pa.date32()), ["1970-01-01", ""]),
        (pa.array([0, 1], pa.timestamp("s")), ["1970-01-01 00:00:00", "1970-01-01 00:00:01"]),
        (pa.array([None, None]), ["", ""]),
    ],
)
def test_parquet_is_read_by_the_type_of_its_columns(
    tmp_path: Path, array: pa.Array, texts: list[str]
) -> None:
    pq.write_table(pa.table({"value": array}), tmp_path / "t.parquet")
    assert read_user_table(tmp_path / "t.parquet", ["value"])["value"].tolist() == texts


def test_bytes_that_are_not_text_are_refused_only_where_they_are_needed(tmp_path: Path) -> None:
    table = pa.table({"facts": ["F"], "image": pa.array([b"\xff\xfe"])})
    pq.write_table(table, tmp_path / "t.parquet")
    assert [*read_user_table(tmp_path / "t.parquet", ["facts"])] == ["facts"]
    with pytest.raises(UserError, match="column 'image' holds bytes that are not UTF-8"):
        read_user_table(tmp_path / "t.parquet", ["image"])


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (["1.0", "", "3.0"], ["1", "", "3"]),
        (["0.5", "3.0"], ["0.5", "3"]),
        (["1.50", "3.0"], ["1.50", "3.0"]),
        (["007", "1"], ["007", "1"]),
        (["1.0", "x"], ["1.0", "x"]),
        (["True", "", "False"], ["true", "", "false"]),
        (["TRUE", "FALSE"], ["true", "false"]),
        (["True", "perhaps"], ["True", "perhaps"]),
    ],
)
def test_csv_is_converted_only_if_the_whole_column_is_of_one_type(
    tmp_path: Path, cells: list[str], texts: list[str]
) -> None:
    lines = [f"{number},{cell}" for number, cell in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["n,value", *lines]) + "\n")
    assert read_user_table(tmp_path / "t.csv", ["value"])["value"].tolist() == texts


def _lines(path: Path) -> None:
    path.write_text('{"a": 1}\n\n{"b": "x"}\n{"a": null, "b": "y"}\n')


def _array(path: Path) -> None:
    path.write_text('[\n{"a": 1},\n{"b": "x"},\n{"a": null, "b": "y"}]\n')


def _object_with_list(path: Path) -> None:
    path.write_text('{"rows": [{"a": 1}, {"b": "x"}, {"a": null, "b": "y"}]}')


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "T.JSON"])
@pytest.mark.parametrize("write_rows", [_lines, _array, _object_with_list])
def test_json_is_read_in_any_arrangement_under_any_name(
    tmp_path: Path, name: str, write_rows: Callable[[Path], None]
) -> None:
    write_rows(tmp_path / name)
    table = read_user_table(tmp_path / name, ["a", "b"])
    assert table.to_numpy().tolist() == [["1", ""], ["", "x"], ["", "y"]]
    with pytest.raises(UserError, match="missing column c"):
        read_user_table(tmp_path / name, ["a", "c"])


@pytest.mark.parametrize("separator", [";", ",", "\t", "|"])
@pytest.mark.parametrize("line", ["sep={}\r\n", '"sep={}"\n', "SEP={}\n"])
def test_a_separator_line_of_excel_names_the_separator(
    tmp_path: Path, separator: str, line: str
) -> None:
    header, row = (separator.join(cells) for cells in (("a", "b"), ("1", "x")))
    (tmp_path / "t.csv").write_text(line.format(separator) + f"{header}\n{row}\n")
    table = read_user_table(tmp_path / "t.csv", ["a", "b"])
    assert table.to_numpy().tolist() == [["1", "x"]]


def test_repeated_columns_are_refused_only_where_they_are_needed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,b,\n1,2,3,\n")
    assert [*read_user_table(tmp_path / "t.csv", ["a"])] == ["a", ""]
    with pytest.raises(UserError, match="column 'b' occurs twice"):
        read_user_table(tmp_path / "t.csv", ["a", "b"])


@pytest.mark.parametrize(
    "turns",
    [
        [{"who": "x", "meta": {"w": "hi"}}, {"who": "y", "meta": {"w": "ho"}}],
        {"1": {"who": "x", "meta": {"w": "hi"}}, "2": {"who": "y", "meta": {"w": "ho"}}},
    ],
)
@pytest.mark.parametrize("name", ["t.json", "t.csv", "t.parquet"])
def test_turns_inside_a_row_become_rows(tmp_path: Path, turns: object, name: str) -> None:
    nested: object = turns if name == "t.json" else json.dumps(turns)
    frame = pd.DataFrame([{"id": "d1", "turns": nested}])
    if name == "t.json":
        (tmp_path / name).write_text(json.dumps([{"id": "d1", "turns": turns}]))
    elif name == "t.csv":
        frame.to_csv(tmp_path / name, index=False)
    else:
        frame.to_parquet(tmp_path / name)
    table = read_user_table(tmp_path / name, ["(file)", "id", "turns.who", "turns.meta.w"])
    assert table[["(file)", "id", "turns.who", "turns.meta.w"]].to_numpy().tolist() == [
        ["t", "d1", "x", "hi"],
        ["t", "d1", "y", "ho"],
    ]
