"""Test that one bad record does not stop the others, in every loader of the user's files."""

import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from messages import refusal
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded

LABELS = {"labels": {"no": "no", "yes": "yes"}}
COUNT, FAULTY = 10, 3


def turn(number: int) -> dict[str, Any]:
    return {
        "debate": f"d{number}",
        "speaker": "a",
        "text": f"In case {number}, the rent was paid.",
        "answer": "yes",
        "truth": "yes",
    }


LOADER_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "transcripts": {"columns": {"answer": "answer", "truth": "truth"}},
    "answers": {"columns": {"debate": "", "case": "debate", "answer": "answer"}, "truth": "yes"},
    "table": {"text": "text", "target": "truth", "id": "debate"},
}


def read_lines(path: Path, loader: str, lines: list[str], **options: Any) -> tuple[Loaded, int]:
    path.write_text("\n".join(lines) + "\n")
    entry = LOADERS["transcripts" if loader == "answers" else loader]
    merged = {"path": path, **LABELS, **LOADER_OPTIONS[loader], **options}
    validated, context = entry.options.model_validate(merged), LoadContext("x", Path(), Path(), 1)
    loaded = entry.load(validated, context)
    return loaded, len(list(entry.records(validated, context))) if entry.records else COUNT - 1


BROKEN_LINES = [
    "{bad",
    "[1]",
    "null",
    '{"text": "\\ud800"}',
    '{"debate": "d3", "text": "cut of',
]
BAD_FIELDS: Mapping[str, list[dict[str, Any]]] = {
    "transcripts": [{"speaker": None}, {"debate": ""}, {"answer": "perhaps"}, {"truth": "hm"}],
    "answers": [{"debate": None}, {"answer": "perhaps"}],
    "table": [{"truth": None}, {"truth": "hm"}, {"text": " "}, {"debate": None}],
}
GRID = list(product(["table"], BROKEN_LINES))
for loader, changes in BAD_FIELDS.items():
    GRID += [(loader, json.dumps({**turn(FAULTY), **change})) for change in changes]


@pytest.mark.parametrize(("loader", "line"), GRID)
def test_a_bad_record_is_left_out_listed_and_counted(
    tmp_path: Path, loader: str, line: str
) -> None:
    lines = [json.dumps(turn(number)) for number in range(COUNT)]
    lines[FAULTY] = line
    path = tmp_path / "t.jsonl"
    with pytest.raises(UserError, match=r"t\.jsonl: (row|record) 4") as error:
        read_lines(path, loader, lines)
    assert f"1 of {COUNT}" in str(error.value) and "(`faulty` of the data set)" in str(error.value)
    loaded, answer_count = read_lines(path, loader, lines, faulty=0.1)
    assert len(loaded.cases) == answer_count == COUNT - 1
    left_out = [count for name, count in loaded.cleaning.items() if "left out" in name]
    (fault,) = loaded.faults
    assert left_out == [1] and "4" in fault and "t.jsonl" in fault


@pytest.mark.parametrize("line", BROKEN_LINES)
@pytest.mark.parametrize("loader", ["transcripts", "answers"])
def test_a_turn_that_cannot_be_read_is_an_error(tmp_path: Path, loader: str, line: str) -> None:
    """Nothing says which debate lacks it."""
    lines = [json.dumps(turn(number)) for number in range(COUNT)]
    lines[FAULTY] = lines[FAULTY + 2] = line
    with pytest.raises(UserError, match=r"(?s)t\.jsonl: .*4.*t\.jsonl: .*6"):
        read_lines(tmp_path / "t.jsonl", loader, lines, faulty=1)


@pytest.mark.parametrize("loader", LOADER_OPTIONS)
def test_a_file_with_only_bad_records_is_refused(tmp_path: Path, loader: str) -> None:
    with refusal():
        read_lines(tmp_path / "t.jsonl", loader, ['{"a', '{"b'], faulty=1)
