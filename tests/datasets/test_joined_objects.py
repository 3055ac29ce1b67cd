"""Test JSON objects that follow each other without an array and without lines of their own."""

import json
from itertools import product
from pathlib import Path

import pytest

from moot.core.errors import UserError
from moot.core.json_tables import read_objects

ROWS = [{"id": n, "text": f'Case {n}: {{}}, [1], "a" and }}{{.'} for n in range(4)]
COMPACT = [json.dumps(row) for row in ROWS]
INDENTED = [json.dumps(row, indent=1) for row in ROWS]


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
@pytest.mark.parametrize(
    ("objects", "separator"),
    [
        *product([COMPACT], ["", " ", ", ", ",\n"]),
        *product([INDENTED], ["", "\n", "\n\n", ",\n"]),
    ],
)
def test_joined_objects_are_rows(
    tmp_path: Path, name: str, objects: list[str], separator: str
) -> None:
    path = tmp_path / name
    path.write_text(separator.join(objects) + "\n")
    assert read_objects(path).to_dict("records") == ROWS


@pytest.mark.parametrize(
    "text",
    [
        COMPACT[0] + COMPACT[1][:-5],
        COMPACT[0] + "[1]",
        COMPACT[0] + COMPACT[1] + "x",
        '{"a": 1}{"b": 1, "b": 2}',
    ],
)
def test_a_broken_object_among_joined_ones_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(UserError, match=r"t\.json"):
        read_objects(path)
