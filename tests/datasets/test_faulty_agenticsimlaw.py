"""One bad row of AgenticSimLaw's published files does not stop the others."""

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
BAD_VIGNETTES: list[Row] = [{"y_arrestedafter2002": value} for value in ("perhaps", "", "2")]


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
def test_a_bad_answer_is_left_out_and_listed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: Row
) -> None:
    write_files(tmp_path, answers={FAULTY: change})
    [column] = change
    pattern = rf"answers\.csv: row 4, column '{column}': found .*expected"
    with pytest.raises(UserError, match=pattern) as error:
        read_records(tmp_path)
    assert f"1 of {COUNT} rows cannot be read" in str(error.value)
    assert "(`faulty`)" in str(error.value)
    loaded, debates = read_records(tmp_path, faulty=0.1)
    assert len(loaded.cases) == COUNT and len(debates) == COUNT - 1
    assert f"vignette-{FAULTY}" not in {debate.case_id for debate in debates}
    assert "left out" in caplog.text and "answers.csv: row 4" in caplog.text


@pytest.mark.parametrize("change", BAD_VIGNETTES, ids=str)
def test_a_bad_vignette_is_left_out_with_its_answers(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, change: Row
) -> None:
    write_files(tmp_path, vignettes={FAULTY: change})
    with pytest.raises(UserError, match=r"people\.csv: row 4, column 'y_arrestedafter2002'"):
        read_records(tmp_path)
    loaded, debates = read_records(tmp_path, faulty=0.1)
    assert loaded.cleaning == {"rows left out because of faults": 1, "people": COUNT - 1}
    names = [f"vignette-{number}" for number in range(COUNT) if number != FAULTY]
    assert [case.case_id for case in loaded.cases] == names, "others keep their numbers"
    assert [debate.case_id for debate in debates] == names
    assert "answers.csv: 1 answers about vignettes that are left out" in caplog.text


@pytest.mark.parametrize("file", ["answers.csv", "people.csv"])
@pytest.mark.parametrize("line", ["3,a", "3", "1,2,3,4,5,6,7,8,9"])
def test_a_row_of_the_wrong_length_is_left_out(tmp_path: Path, file: str, line: str) -> None:
    write_files(tmp_path)
    path = tmp_path / FOLDER / file
    lines = path.read_text().splitlines()
    lines[FAULTY + 1] = line
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError, match=r"row 4: found \d fields"):
        read_records(tmp_path)
    loaded, debates = read_records(tmp_path, faulty=0.1)
    assert len(loaded.cases) == COUNT - (file == "people.csv")
    assert len(debates) == COUNT - 1
    assert f"vignette-{FAULTY}" not in {debate.case_id for debate in debates}


@pytest.mark.parametrize("spaces", ["", " "])
def test_the_first_answer_to_a_case_and_repeat_stays(tmp_path: Path, spaces: str) -> None:
    repeated = {"case_id": f"{FAULTY}{spaces}", "ground_truth": "False"}
    write_files(tmp_path, answers={9: repeated})
    with pytest.raises(UserError, match=r"row 10, .*'m, 3, 1' is in rows 4, 10"):
        read_records(tmp_path)
    _, debates = read_records(tmp_path, faulty=0.1)
    assert [debate.case_id for debate in debates].count(f"vignette-{FAULTY}") == 1
    assert "vignette-9" not in {debate.case_id for debate in debates}


@pytest.mark.parametrize(
    ("file", "change"), [("answers", BAD_ANSWERS[0]), ("vignettes", BAD_VIGNETTES[0])]
)
def test_more_faults_than_allowed_are_an_error(tmp_path: Path, file: str, change: Row) -> None:
    write_files(tmp_path, **{file: dict.fromkeys(range(0, COUNT, 2), change)})
    with pytest.raises(UserError, match=f"10 of {COUNT} rows cannot be read; expected at most 10%"):
        read_records(tmp_path, faulty=0.1)
