"""Several extracts of NLS Investigator: joined, or refused with the faults of all."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets import LoadContext, Loaded
from moot.studies.courtroom.data_nlsy97 import Nlsy97Options, load
from moot.studies.courtroom.nlsy97_extracts import FOLDER

COUNT, FAULTY = 24, 3
MakeContext = Callable[..., LoadContext]
PEOPLE = ["R0000100", "R0536300", "R0536402", "R1482600"]
MONTHS = [f"E80222{month:02}" for month in range(1, 13)]


def person(number: int) -> list[str]:
    return [str(number), str(1 + number % 2), str(1980 + number % 5), "1"]


def people_rows() -> list[list[str]]:
    return [person(number) for number in range(1, COUNT + 1)]


def month_rows() -> list[list[str]]:
    codes = ["0", "0", "1"]
    return [[str(number), *[codes[number % 3]] * 12] for number in range(1, COUNT + 1)]


def write_extract(folder: Path, name: str, header: list[str], rows: list[list[str]]) -> None:
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    lines = [",".join(row) for row in [header, *rows]]
    (folder / FOLDER / name).write_text("\n".join(lines) + "\n")


def write_extracts(
    folder: Path, people: list[list[str]] | None = None, months: list[list[str]] | None = None
) -> None:
    """Write the two extracts of all respondents."""
    write_extract(folder, "people.csv", PEOPLE, people or people_rows())
    write_extract(folder, "prison.csv", ["R0000100", *MONTHS], months or month_rows())


def read_people(context: LoadContext, **options: Any) -> Loaded:
    keys = {"source": "investigator", "outcome": "incarcerated_2002", **options}
    return load(Nlsy97Options.model_validate(keys), context)


def test_faults_of_all_files_are_named_at_once(tmp_path: Path, load_context: MakeContext) -> None:
    people, months = people_rows(), month_rows()
    people[FAULTY][1], months[FAULTY + 2][1:] = "7", ["0"]
    write_extracts(tmp_path, people, months)
    message = (
        r"(?s)people\.csv: row 4, column 'R0536300': found 7.*prison\.csv: row 6: found 2 fields"
    )
    with pytest.raises(UserError, match=message):
        read_people(load_context())


def test_faults_of_all_columns_are_named_at_once(tmp_path: Path, load_context: MakeContext) -> None:
    people, months = people_rows(), month_rows()
    people[0][0], people[1][1], people[2][2], people[4][3] = "2", "7", "many", "99"
    write_extracts(tmp_path, people, months)
    message = (
        r"(?s)'R0000100': '2' is in rows 1, 2.*row 3, column 'R0536402': found 'many'"
        r".*row 2, column 'R0536300': found 7"
    )
    with pytest.raises(UserError, match=message):
        read_people(load_context())


def test_many_contradictions_are_counted(tmp_path: Path, load_context: MakeContext) -> None:
    write_extracts(tmp_path)
    people = [[row[0], str(3 - int(row[1]))] for row in people_rows()]
    write_extract(tmp_path, "people_2.csv", PEOPLE[:2], people)
    with pytest.raises(UserError, match=r"respondent 20, .*\n\.\.\. and 4 more\.$"):
        read_people(load_context())


def test_extracts_that_divide_the_respondents_are_read_whole(
    tmp_path: Path, load_context: MakeContext
) -> None:
    write_extracts(tmp_path)
    whole = read_people(load_context())
    half = COUNT // 2
    write_extract(tmp_path, "people.csv", PEOPLE, people_rows()[:half])
    write_extract(tmp_path, "people_2.csv", PEOPLE, people_rows()[half:])
    parts = read_people(load_context())
    assert whole.features is not None and parts.features is not None
    assert [case.text for case in parts.cases] == [case.text for case in whole.cases]
    assert parts.features.equals(whole.features)
