"""Test faults of debates in a user's table: one message for each, and few are left out."""

import copy
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from debate_tables import TRIAL, TRIALS, read_transcripts, write_table
from messages import refusal
from moot.core.errors import UserError
from moot.datasets.debate_records import record_rows


def test_without_answers_or_labels_the_message_gives_the_remedy(tmp_path: Path) -> None:
    with refusal():
        read_transcripts(
            write_table(tmp_path / "talk.csv", [{"debate": "d", "speaker": "Kim", "text": "Yes."}])
        )


def rows_with_change(row_index: int, **cells: object) -> list[dict[str, Any]]:
    rows = copy.deepcopy(TRIAL)
    rows[row_index] |= cells
    return rows


@pytest.mark.parametrize(
    "rows",
    [
        rows_with_change(1, nr=" "),
        rows_with_change(1, who=""),
        rows_with_change(1, turn=1),
        rows_with_change(1, turn="two"),
        rows_with_change(2, p="1.2"),
        rows_with_change(2, p="nan"),
        rows_with_change(1, gold="maybe"),
        rows_with_change(1, gold="yes"),
        rows_with_change(1, who="x") * 2,
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    with refusal():
        read_transcripts(write_table(tmp_path / "trials.csv", rows), **TRIALS)


def test_few_debates_with_a_fault_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [{**row, "nr": f"t{number}"} for number, row in product(range(300), TRIAL[:3])]
    for number, faulty_cells in ((4, {"gold": "maybe"}), (31, {"turn": 1}), (62, {"p": "7"})):
        rows[number] |= faulty_cells
    with refusal():
        read_transcripts(write_table(tmp_path / "trials.csv", rows), **TRIALS, faulty=0.004)
    loaded, debates = read_transcripts(write_table(tmp_path / "trials.csv", rows), **TRIALS)
    assert {f"t{number}" for number in range(300)} - {debate.case_id for debate in debates} == {
        "t1",
        "t10",
        "t20",
    }
    assert {case.case_id for case in loaded.cases} == {debate.case_id for debate in debates}
    assert loaded.cleaning == {
        "rows read": 900,
        "debates": 297,
        "debates left out because of faults": 3,
        "cases": 297,
    }
    fault = "row 32, column 'turn': found '1', expected each turn of a debate once"
    assert any(fault in line for line in loaded.faults)


def test_all_files_and_rows_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for number in range(4):
        write_table(tmp_path / f"{number}.csv", TRIAL[:3])
    with (tmp_path / "1.csv").open("a") as file:
        file.write("t3,1\n")
    (tmp_path / "2.csv").write_text("nr,words\na,So.\n")
    (tmp_path / "3.csv").write_text("")
    message = (
        r"(?s)1.csv: row 4: found 2 fields.*2.csv: missing columns turn.*merge.*3.csv: .*empty"
    )
    with pytest.raises(UserError, match=message):
        read_transcripts(tmp_path, **TRIALS, faulty=1)


def test_each_row_of_a_broken_file_is_named_once(tmp_path: Path) -> None:
    lines = [",".join(TRIAL[0]), "t1,1", "t1,2", ",".join(map(str, TRIAL[0].values()))]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    with pytest.raises(UserError) as error:
        read_transcripts(tmp_path / "a.csv", **TRIALS)
    rows = [line.partition(": ")[2][:5] for line in str(error.value).splitlines()]
    assert rows == ["row 1", "row 2"]


def test_hostile_text_is_read_literally(tmp_path: Path) -> None:
    hostile = "</script>{{ 7*7 }} \u202e\\input{/etc/passwd}"
    path = write_table(
        tmp_path / "talk.csv",
        [{"debate": "../../d", "speaker": hostile, "text": hostile}],
    )
    _, debates = read_transcripts(path, labels={"n": "no", "y": "yes"})
    [row, _] = record_rows(debates)
    assert (row["speaker"], row["text"], row["case_id"]) == (hostile, hostile, "../../d")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"persona": "p"}}, "name the column of the judge too"),
        ({"columns": {"speaker": ""}}, "name one of them"),
        ({"columns": {"debate": ""}}, "nor that of the case is named"),
        ({"columns": {"repeat": "r"}}, "repeat belongs to a table of answers"),
        ({"columns": 5}, "Input should be"),
        ({"labels": {"/(/": "x"}}, "'\\(' is not a regular expression"),
        ({"labels": {"a": "x"}, "positive": "y"}, "positive names the label 'y'"),
        ({"labels": {"a": "x ("}, "positive": "y"}, "positive names the label 'y'"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        read_transcripts(Path("any.csv"), **options)
