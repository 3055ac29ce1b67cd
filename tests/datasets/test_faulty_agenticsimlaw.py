"""Faults of AgenticSimLaw's published files are named with their rows."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.debate_records import RecordedDebate, check_records
from saved_tables import save_table

COUNT, FAULTY = 20, 3
FOLDER = Path("recorded/agenticsimlaw")
Row = dict[str, Any]
Changes = Mapping[int, Row]
"""The changed values of a row, by its number from 0."""
UNCHANGED: Changes = {}


def vignette(number: int) -> Row:
    return {
        "y_arrestedafter2002": ("True", "False")[number % 2],
        "sex": "male",
        "race": "white",
        "age": 20,
    }


def answer(number: int) -> Row:
    return {
        "model_name": "m",
        "case_id": number,
        "repeat_id": 1,
        "prediction": ("YES", "NO")[number % 2],
        "confidence": 70,
        "ground_truth": ("True", "False")[number % 2],
        "yes_votes": 2,
        "no_votes": 1,
    }


BAD_ANSWERS: list[Row] = [
    {"prediction": "perhaps"},
    {"case_id": "x"},
    {"case_id": -1},
    {"case_id": ""},
    {"case_id": COUNT},
    {"case_id": 10**12},
    {"repeat_id": "first"},
    {"confidence": "high"},
    {"confidence": 101},
    {"ground_truth": "perhaps"},
    {"ground_truth": "True"},
    {"yes_votes": "two"},
    {"no_votes": -1},
]


def write_files(
    root: Path, *, vignettes: Changes = UNCHANGED, answers: Changes = UNCHANGED
) -> None:
    """Write both files, with changes of some of their rows."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, make, changes in (("people", vignette, vignettes), ("answers", answer, answers)):
        rows = [make(number) | changes.get(number, {}) for number in range(COUNT)]
        save_table(folder / f"{name}.csv", rows)


def read_records(root: Path, **options: Any) -> tuple[Loaded, list[RecordedDebate]]:
    """Load the people and the answers, and check the answers as a run does."""
    entry = LOADERS["agenticsimlaw"]
    keys = {"source": "local", "vignettes": "people.csv", "records": {"debate": ["answers.csv"]}}
    validated = entry.options.model_validate({**keys, **options})
    context = LoadContext("records", root, Path(), 1)
    loaded = entry.load(validated, context)
    assert entry.records
    debates = list(entry.records(validated, context))
    check_records("records", debates, loaded.cases, loaded.task)
    return loaded, debates


def test_files_without_faults_are_read_whole(tmp_path: Path) -> None:
    write_files(tmp_path)
    loaded, debates = read_records(tmp_path)
    assert len(loaded.cases) == len(debates) == COUNT
    assert loaded.cleaning == {"people": COUNT}
    assert {debate.repeat for debate in debates} == {0}


@pytest.mark.parametrize("change", BAD_ANSWERS, ids=str)
def test_a_bad_answer_is_named(tmp_path: Path, change: Row) -> None:
    write_files(tmp_path, answers={FAULTY: change})
    [column] = change
    pattern = rf"answers\.csv: row 4, column '{column}': found .*expected"
    with pytest.raises(UserError, match=pattern):
        read_records(tmp_path)


@pytest.mark.parametrize("value", ["perhaps", "", "2"])
def test_a_bad_vignette_is_named(tmp_path: Path, value: str) -> None:
    write_files(tmp_path, vignettes={FAULTY: {"y_arrestedafter2002": value}})
    with pytest.raises(UserError, match=r"people\.csv: row 4, column 'y_arrestedafter2002'"):
        read_records(tmp_path)


def test_rows_of_the_wrong_length_and_repeated_answers_are_named(tmp_path: Path) -> None:
    write_files(tmp_path, answers={9: {"case_id": f"{FAULTY} ", "ground_truth": "False"}})
    with pytest.raises(UserError, match=r"row 10, .*'m, 3, 1' is in rows 4, 10"):
        read_records(tmp_path)
    path = tmp_path / FOLDER / "answers.csv"
    lines = path.read_text().splitlines()
    lines[FAULTY + 1], lines[FAULTY + 3] = "3,a", "1,2,3,4,5,6,7,8,9"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"(?s)row 4: found 2 fields.*row 6: found 9 fields"):
        read_records(tmp_path)
