"""Files of opinions: every shape of JSON, and few faulty records among many."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets.opinion_reading import read_opinions

TEXT = (
    "Ann Lee, Plaintiff-Appellant, v. Rex Moon, Defendant-Appellee. The plaintiff fell on the"
    " stairs of the house and sued the defendant, who had not lit them for a week."
)


def records(count: int) -> list[dict[str, Any]]:
    return [
        {"id": f"o{number}", "text": f"{TEXT} ({number})", "label": "Affirm"}
        for number in range(count)
    ]


SHAPES: dict[str, tuple[str, Callable[[list[dict[str, Any]]], str]]] = {
    "lines": ("a.jsonl", lambda rows: "".join(json.dumps(row) + "\n" for row in rows)),
    "lines with blank ones": ("a.jsonl", lambda rows: "\n\n".join(map(json.dumps, rows))),
    "lines in .json": ("a.json", lambda rows: "\n".join(map(json.dumps, rows))),
    "lines in .JSONL": ("a.JSONL", lambda rows: "\n".join(map(json.dumps, rows))),
    "an array": ("a.json", json.dumps),
    "an array over lines": ("a.json", lambda rows: json.dumps(rows, indent=1)),
    "an array in .jsonl": ("a.jsonl", json.dumps),
    "with a byte order mark": ("a.json", lambda rows: "\ufeff" + json.dumps(rows)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_opinions_are_read_from_every_shape_of_json(tmp_path: Path, shape: str) -> None:
    name, write = SHAPES[shape]
    (tmp_path / name).write_text(write(records(3)), encoding="utf-8")
    opinions = read_opinions(tmp_path / name, 0).opinions
    assert [opinion.opinion_id for opinion in opinions] == ["o0", "o1", "o2"]
    assert [opinion.source_row for opinion in opinions] == [1, 2, 3]


def test_a_single_record_may_hold_lists(tmp_path: Path) -> None:
    record = {**records(1)[0], "citations": [{"cite": "1 A.2d 3"}], "judges": ["Ann Lee"]}
    (tmp_path / "a.json").write_text(json.dumps(record, indent=2))
    assert [opinion.opinion_id for opinion in read_opinions(tmp_path / "a.json", 0).opinions] == [
        "o0"
    ]


FAULTS: dict[str, tuple[Any, str]] = {
    "no text": ({"id": "x"}, "missing field 'text'"),
    "text null": ({"id": "x", "text": None}, "missing field 'text'"),
    "text blank": ({"id": "x", "text": " \n"}, "the opinion has 0 characters"),
    "text a number": ({"id": "x", "text": 5}, "field 'text': found 5, expected str"),
    "no id": ({"text": TEXT}, "missing field 'id'"),
    "id twice": ({"id": "o1", "text": TEXT}, "occurs before"),
    "an unknown outcome": ({"id": "x", "text": TEXT, "label": "Perhaps"}, "outcome 'perhaps'"),
    "a number": (5, "expected"),
    "a text": ("An opinion.", "expected"),
    "null": (None, "expected"),
    "a list": ([1], "expected"),
}


@pytest.mark.parametrize("shape", ["lines", "an array", "lines in .json"])
@pytest.mark.parametrize("fault", FAULTS)
def test_one_faulty_record_leaves_the_others(tmp_path: Path, fault: str, shape: str) -> None:
    record, message = FAULTS[fault]
    name, write = SHAPES[shape]
    rows = [*records(4), record]
    (tmp_path / name).write_text(write(rows), encoding="utf-8")
    with pytest.raises(UserError, match=message) as error:
        read_opinions(tmp_path / name, 0)
    assert "record 5" in str(error.value) and "1 of 5 opinions" in str(error.value)
    opinions, left_out = read_opinions(tmp_path / name, 0.2)
    assert (len(opinions), left_out) == (4, 1)


@pytest.mark.parametrize("content", ["[{]", "not json", '"text"', "5"])
def test_a_file_without_records_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UserError, match="a record with `id` and `text`"):
        read_opinions(tmp_path / "a.json", 0)
