"""Files of opinions: every shape of JSON, and few faulty records among many."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets import LoadContext
from moot.studies.appellate.data_opinions import OpinionsOptions, load
from moot.studies.appellate.opinion_reading import read_opinions, read_usable_opinions

Context = Callable[..., LoadContext]
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
    "an object with one list": ("a.json", lambda rows: json.dumps({"results": rows, "next": None})),
    "with a byte order mark": ("a.json", lambda rows: "\ufeff" + json.dumps(rows)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_opinions_are_read_from_every_shape_of_json(tmp_path: Path, shape: str) -> None:
    name, write = SHAPES[shape]
    (tmp_path / name).write_text(write(records(3)), encoding="utf-8")
    opinions = read_opinions(tmp_path / name)
    assert [opinion.opinion_id for opinion in opinions] == ["o0", "o1", "o2"]
    assert [opinion.source_row for opinion in opinions] == [1, 2, 3]


def test_a_single_record_may_hold_lists(tmp_path: Path) -> None:
    record = {**records(1)[0], "citations": [{"cite": "1 A.2d 3"}], "judges": ["Ann Lee"]}
    (tmp_path / "a.json").write_text(json.dumps(record, indent=2))
    assert [opinion.opinion_id for opinion in read_opinions(tmp_path / "a.json")] == ["o0"]


FAULTS: dict[str, tuple[Any, str]] = {
    "no text": ({"id": "x"}, "missing field 'text'"),
    "text null": ({"id": "x", "text": None}, "missing field 'text'"),
    "text blank": ({"id": "x", "text": " \n"}, "the opinion is empty"),
    "text a number": ({"id": "x", "text": 5}, "field 'text': found 5, expected str"),
    "no id": ({"text": TEXT}, "missing field 'id'"),
    "id twice": ({"id": "o1", "text": TEXT}, "was taken by"),
    "an unknown outcome": ({"id": "x", "text": TEXT, "label": "Perhaps"}, "outcome 'perhaps'"),
    "a number": (5, "expected"),
    "a text": ("An opinion.", "expected"),
    "null": (None, "expected"),
    "a list": ([1], "expected"),
}


@pytest.mark.parametrize(
    "shape", ["lines", "an array", "lines in .json", "an object with one list"]
)
@pytest.mark.parametrize("fault", FAULTS)
def test_one_faulty_record_leaves_the_others(tmp_path: Path, fault: str, shape: str) -> None:
    record, message = FAULTS[fault]
    if shape == "an object with one list" and not isinstance(record, dict):
        shape = "an array"  # a list with other values than objects is no list of records
    name, write = SHAPES[shape]
    rows = [*records(4), record]
    (tmp_path / name).write_text(write(rows), encoding="utf-8")
    with pytest.raises(UserError, match=message) as error:
        read_opinions(tmp_path / name)
    assert "record 5" in str(error.value) and "1 of 5 opinions" in str(error.value)
    opinions, left_out = read_usable_opinions(tmp_path / name, 0.2)
    assert (len(opinions), left_out) == (4, 1)


def test_faulty_opinions_are_counted(tmp_path: Path, load_context: Context) -> None:
    facts = "The stairs had not been lit for a week. The plaintiff fell and broke an arm. "
    text = f"Plaintiff Ann Lee sued Defendant Rex Moon. {facts * 12}\n\nWe affirm the judgment."
    rows = [{**row, "text": text} for row in records(4)]
    (tmp_path / "a.json").write_text(json.dumps([*rows, {"id": "x"}]))
    options = OpinionsOptions(source="local", path="a.json", faulty=0.2, ner=False)
    loaded = load(options, load_context("opinions", data_root=tmp_path))
    assert loaded.cleaning["opinions left out because of faults"] == 1
    assert loaded.cleaning["opinions read"] == len(loaded.cases) == 4
    with pytest.raises(UserError, match="1 of 5 opinions cannot be read"):
        load(
            options.model_copy(update={"faulty": 0.01}),
            load_context("opinions", data_root=tmp_path),
        )


def test_an_unreadable_file_of_a_folder_is_one_fault(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text(TEXT)
    (tmp_path / "broken.json").write_text('[{"id": 1')
    opinions, left_out = read_usable_opinions(tmp_path, 0.25)
    assert (len(opinions), left_out) == (3, 1)
    with pytest.raises(UserError, match=r"broken.json: not JSON .*\n1 of 4 opinions"):
        read_usable_opinions(tmp_path, 0.2)
    with pytest.raises(UserError, match="not JSON"):
        read_opinions(tmp_path / "broken.json")


@pytest.mark.parametrize("content", ["[]", "[{]", "not json", '"text"', "5"])
def test_a_file_without_records_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(
        UserError, match=r"expected one Caselaw Access Project record|expected an ob"
    ):
        read_opinions(tmp_path / "a.json")
