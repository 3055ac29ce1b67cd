"""One bad row of an NLS Investigator extract does not stop the others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets import LoadContext, Loaded
from moot.studies.courtroom.data_nlsy97 import Nlsy97Options, load
from moot.studies.courtroom.nlsy97_extracts import FOLDER

COUNT, FAULTY = 60, 3
RESPONDENT = FAULTY + 1
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


def write_single_extract(folder: Path, people: list[list[str]]) -> None:
    """Write all columns in one extract, so that no other has its respondents."""
    rows = [[*row, *months[1:]] for row, months in zip(people, month_rows(), strict=True)]
    write_extract(folder, "people.csv", [*PEOPLE, *MONTHS], rows)


def read_people(context: LoadContext, **options: Any) -> Loaded:
    keys = {"source": "investigator", "outcome": "incarcerated_2002", **options}
    return load(Nlsy97Options.model_validate(keys), context)


def ids(loaded: Loaded) -> set[str]:
    return {case.case_id.rpartition("-")[2] for case in loaded.cases}


def check_respondent_is_left_out(
    context: LoadContext, message: str, caplog: pytest.LogCaptureFixture, left_out: int = 1
) -> None:
    with pytest.raises(UserError, match=message) as error:
        read_people(context)
    assert f"{left_out} of {COUNT}" in str(error.value) and "(`faulty`)" in str(error.value)
    loaded = read_people(context, faulty=0.1)
    assert loaded.cleaning["rows left out because of faults"] == left_out
    assert str(RESPONDENT) not in ids(loaded)
    assert len(loaded.cases) == COUNT - left_out == loaded.cleaning["respondents read"]
    assert "left out" in caplog.text


def test_extracts_without_faults_are_read_whole(tmp_path: Path, load_context: MakeContext) -> None:
    write_extracts(tmp_path)
    loaded = read_people(load_context())
    assert len(loaded.cases) == COUNT
    assert "rows left out because of faults" not in loaded.cleaning


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        (1, "x", "row 4, column 'R0536300': found 'x', expected a whole number"),
        (1, "7", "row 4, column 'R0536300': found 7, expected one of"),
        (2, "-9", "row 4, column 'R0536402': found code -9"),
        (2, "1.5", "row 4, column 'R0536402': found '1.5'"),
        (3, "9", "row 4, column 'R1482600': found 9, expected one of"),
        (0, "", "row 4, column 'R0000100': blank"),
        (0, "four", "row 4, column 'R0000100': found 'four'"),
    ],
)
def test_a_bad_code_leaves_out_the_respondent(
    tmp_path: Path,
    load_context: MakeContext,
    caplog: pytest.LogCaptureFixture,
    column: int,
    value: str,
    message: str,
) -> None:
    rows = people_rows()
    rows[FAULTY][column] = value
    if column == 0:
        write_single_extract(tmp_path, rows)
    else:
        write_extracts(tmp_path, rows)
    check_respondent_is_left_out(load_context(), rf"people\.csv: {message}", caplog)


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


@pytest.mark.parametrize("name", ["people.csv", "prison.csv"])
@pytest.mark.parametrize("row", ["4", "4,1", "4" + ",0" * 20])
def test_a_row_of_the_wrong_length_leaves_out_the_respondent_of_all_files(
    tmp_path: Path,
    load_context: MakeContext,
    caplog: pytest.LogCaptureFixture,
    name: str,
    row: str,
) -> None:
    write_extracts(tmp_path)
    path = tmp_path / FOLDER / name
    lines = path.read_text().splitlines()
    lines[RESPONDENT] = row
    path.write_text("\n".join(lines) + "\n")
    check_respondent_is_left_out(load_context(), rf"{name}: row 4: found", caplog)


def write_smaller_extract(folder: Path, broken_row: str, *, ends_with_id: bool = False) -> None:
    """Write the extracts of all respondents, and one of the first half with a broken row."""
    write_extracts(folder)
    header = ["R0000100", *(f"Z{number}" for number in range(12))]
    rows = month_rows()[: COUNT // 2]
    if ends_with_id:
        header, rows = header[::-1], [row[::-1] for row in rows]
    rows[FAULTY] = broken_row.split(",")
    write_extract(folder, "extra.csv", header, rows)


@pytest.mark.parametrize("row", ["4", "4,1", " 4 ,1", "4" + ",0" * 20])
def test_a_broken_row_of_a_smaller_extract_leaves_out_its_respondent_alone(
    tmp_path: Path, load_context: MakeContext, caplog: pytest.LogCaptureFixture, row: str
) -> None:
    write_smaller_extract(tmp_path, row)
    loaded = read_people(load_context(), faulty=0.1)
    assert ids(loaded) == {str(number) for number in range(1, COUNT + 1)} - {str(RESPONDENT)}
    assert loaded.cleaning["rows left out because of faults"] == 1
    assert "extra.csv: row 4: found" in caplog.text


@pytest.mark.parametrize("row", [",1", "x,0,0", "?", "four,1", "-4,1"])
@pytest.mark.parametrize("faulty", [0, 0.1, 1])
def test_a_broken_row_that_lacks_its_respondent_refuses_the_extract(
    tmp_path: Path, load_context: MakeContext, row: str, faulty: float
) -> None:
    write_smaller_extract(tmp_path, row)
    message = r"extra\.csv: row 4: found .*only if it begins with the number"
    with pytest.raises(UserError, match=message) as error:
        read_people(load_context(), faulty=faulty)
    assert f"found '{row.partition(',')[0]}' in column 'R0000100'" in str(error.value)


@pytest.mark.parametrize(
    "row", ["0,0,0,0,0,0,0,0,0,0,0,0,0,4", "0,0,0,4", "," * 12 + "4,0", "," * 12 + "2,0", "4"]
)
def test_a_broken_row_refuses_an_extract_whose_first_column_is_not_the_respondent(
    tmp_path: Path, load_context: MakeContext, row: str
) -> None:
    write_smaller_extract(tmp_path, row, ends_with_id=True)
    message = r"extra\.csv: row 4: .*number of its respondent.*in column 'Z11'"
    with pytest.raises(UserError, match=message):
        read_people(load_context(), faulty=1)


def test_a_second_header_of_an_extract_is_of_no_respondent(
    tmp_path: Path, load_context: MakeContext
) -> None:
    write_smaller_extract(tmp_path, ",".join(month_rows()[FAULTY]))
    path = tmp_path / FOLDER / "extra.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[0]]) + "\n")
    assert len(read_people(load_context(), faulty=0.1).cases) == COUNT


def test_the_first_row_of_a_repeated_respondent_stays(
    tmp_path: Path, load_context: MakeContext
) -> None:
    rows = people_rows()
    rows[10][0] = str(RESPONDENT)
    write_single_extract(tmp_path, rows)
    with pytest.raises(UserError, match="row 11, column 'R0000100': '4' is in rows 4, 11"):
        read_people(load_context())
    loaded = read_people(load_context(), faulty=0.1)
    assert loaded.cleaning["rows left out because of faults"] == 1
    assert len(loaded.cases) == COUNT - 1
    assert str(RESPONDENT) in ids(loaded)


def test_a_respondent_of_whom_extracts_differ_is_left_out(
    tmp_path: Path, load_context: MakeContext, caplog: pytest.LogCaptureFixture
) -> None:
    write_extract(tmp_path, "people.csv", PEOPLE, people_rows())
    rows = [[*months, "1"] for months in month_rows()]
    rows = [[*row[:-1], people[1]] for row, people in zip(rows, people_rows(), strict=True)]
    rows[FAULTY][-1] = str(3 - int(rows[FAULTY][-1]))
    write_extract(tmp_path, "prison.csv", ["R0000100", *MONTHS, "R0536300"], rows)
    message = r"prison\.csv: respondent 4, column 'R0536300': found \d, but another extract"
    check_respondent_is_left_out(load_context(), message, caplog)


@pytest.mark.parametrize("name", ["people.csv", "prison.csv"])
def test_more_faults_than_allowed_are_an_error(
    tmp_path: Path, load_context: MakeContext, name: str
) -> None:
    people, months = people_rows(), month_rows()
    rows = people if name == "people.csv" else months
    for number in range(0, COUNT, 2):
        rows[number][1] = "x"
    write_extracts(tmp_path, people, months)
    with pytest.raises(UserError, match=f"30 of {COUNT} rows cannot be read; expected at most 10%"):
        read_people(load_context(), faulty=0.1)
