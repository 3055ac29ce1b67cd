"""Test that faults of published files are named with file and row, all at once."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded

Record = dict[str, Any]
COUNT, FAULTY = 40, 3
TEXT = "In case {}, the rent of house {} was paid to the owner on day {}, and the lease ended."


def post(number: int) -> Record:
    return {
        "new_id": str(number),
        "post": TEXT.format(number, number * 7, number * 3),
        "new_topic": "rent",
        "topic_str": "rent",
        "label": str(number % 3),
        "type_idx": "1",
        "seen?": str(number % 2),
    }


def judgment(number: int) -> Record:
    return {
        "fact": f"被告人于{number}日在{number * 7}号房屋盗窃人民币{number * 3}元。",
        "meta": {"relevant_articles": [264 + number % 2], "accusation": ["盗窃"]},
    }


MAKERS: Mapping[str, tuple[Callable[[int], Record], str]] = {
    "vast": (post, "vast/vast_test.csv"),
    "cail18": (judgment, "cail18/cail2018_sample.jsonl"),
}


def to_lines(path: Path, records: list[Record]) -> list[str]:
    """Write records as lines of JSON, or of a CSV file with a header."""
    if path.suffix == ".jsonl":
        return [json.dumps(record, ensure_ascii=False) for record in records]
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(records[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return stream.getvalue().splitlines()


def make_lines(name: str, changes: Mapping[int, Record]) -> list[str]:
    """Return the lines of a file of records, with changes of some of them, by number from 0."""
    make, path = MAKERS[name]
    records = [make(number) | changes.get(number, {}) for number in range(COUNT)]
    return to_lines(Path(path), records)


def load(folder: Path, name: str, lines: list[str]) -> Loaded:
    path = folder / MAKERS[name][1]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for other in ("vast_train.csv", "vast_dev.csv") if name == "vast" else ():
        posts = [post(number) for number in range(100, 110)]
        (path.parent / other).write_text("\n".join(to_lines(path, posts)) + "\n")
    entry = LOADERS[name]
    options = entry.options.model_validate({"source": "local"})
    return entry.load(options, LoadContext(name, folder, Path(), 1))


def check_refusal(folder: Path, name: str, lines: list[str], *places: str) -> None:
    """Require that a file is refused with each place in one message."""
    with pytest.raises(UserError) as error:
        load(folder, name, lines)
    message = str(error.value)
    assert Path(MAKERS[name][1]).name in message
    assert all(re.search(place, message) for place in places), message


@pytest.mark.parametrize(
    "change",
    [{"fact": ""}, {"fact": 3}, {"meta": None}, {"meta": {"relevant_articles": [True]}}],
)
def test_a_bad_value_is_named_with_its_record(tmp_path: Path, change: Record) -> None:
    check_refusal(tmp_path, "cail18", make_lines("cail18", {FAULTY: change}), "(row|record) 4")


def test_the_faults_of_all_columns_and_records_are_named(tmp_path: Path) -> None:
    changes = {1: {"label": "3"}, 4: {"label": "4", "seen?": ""}, 7: {"post": " "}}
    places = ("row 2, column 'label'", "row 5, .*'label'", "row 5, .*'seen", "row 8, .*'post'")
    check_refusal(tmp_path, "vast", make_lines("vast", changes), *places)
    lines = make_lines("vast", {1: {"new_id": "8 "}, 4: {"label": "4"}})
    check_refusal(tmp_path, "vast", lines, "'8' is in rows 2, 9", "row 5, .*'label'")
    lines = make_lines("cail18", {2: {"fact": ""}})
    check_refusal(tmp_path, "cail18", [*lines, "{bad", "null"], "record 41", "record 42")
    check_refusal(tmp_path, "cail18", make_lines("cail18", {2: {"fact": 3}, 5: {"meta": None}}),
                  "record 3", "record 6")  # fmt: skip
