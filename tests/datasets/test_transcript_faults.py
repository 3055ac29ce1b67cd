"""Test faults of debates in a user's table: one message for each, and few are left out."""

import copy
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from debate_tables import CHAT, CHATS, TRIAL, TRIAL_COLUMNS, TRIALS, read_transcripts, write_table
from moot.core.errors import UserError
from moot.datasets.debate_records import record_rows


def test_without_answers_or_labels_the_message_gives_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="List the possible answers in `labels`"):
        read_transcripts(
            write_table(tmp_path / "talk.csv", [{"debate": "d", "speaker": "Kim", "text": "Yes."}])
        )


def rows_with_change(row_index: int, **cells: object) -> list[dict[str, Any]]:
    rows = copy.deepcopy(TRIAL)
    rows[row_index] |= cells
    return rows


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (rows_with_change(1, nr=" "), "row 2, column 'nr': found ' ', expected a debate"),
        (rows_with_change(1, who=""), "row 2, column 'who': found '', expected a speaker"),
        (
            rows_with_change(1, turn=1),
            "row 2, column 'turn': found '1', expected each turn of a debate once",
        ),
        (
            rows_with_change(1, turn="two"),
            "row 2, column 'turn': found 'two', expected a whole number",
        ),
        (
            rows_with_change(2, p="1.2"),
            "row 3, column 'p': found '1.2', expected a number from 0 to 1",
        ),
        (
            rows_with_change(2, p="nan"),
            "row 3, column 'p': found 'nan', expected a number from 0 to 1",
        ),
        (
            rows_with_change(1, gold="maybe"),
            "row 2, column 'gold': found 'maybe', expected one of no, yes",
        ),
        (
            rows_with_change(1, gold="yes"),
            "row 2, column 'gold': found 'yes', expected the same in all rows of a case",
        ),
        (
            rows_with_change(1, who="x") * 2,
            "row 6, column 'turn': found '1', expected each turn of a debate once",
        ),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(UserError) as error:
        read_transcripts(write_table(tmp_path / "trials.csv", rows), **TRIALS)
    assert f"trials.csv: {message}" in str(error.value)


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    rows = copy.deepcopy(TRIAL)
    rows[1]["nr"], rows[2]["p"] = "", "7"
    with pytest.raises(UserError, match=r"(?s)row 2, column 'nr'.*row 3, column 'p'"):
        read_transcripts(write_table(tmp_path / "trials.csv", rows), **TRIALS)


def test_few_debates_with_a_fault_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [{**row, "nr": f"t{number}"} for number, row in product(range(300), TRIAL[:3])]
    for number, faulty_cells in ((4, {"gold": "maybe"}), (31, {"turn": 1}), (62, {"p": "7"})):
        rows[number] |= faulty_cells
    with pytest.raises(
        UserError, match=r"(?s)'gold'.*'p'.*2 of 300 debates cannot be read; .* 0% .*`faulty`"
    ):
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
    assert "row 32, column 'turn': found '1', expected each turn of a debate once" in caplog.text


def test_few_unreadable_files_and_rows_without_an_extract_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(9):
        rows = [{**row, "nr": f"run {number}"} for row in TRIAL[:3]]
        write_table(
            tmp_path / f"{number}.csv", [*rows, {**TRIAL[0], "nr": "none"}] if number == 3 else rows
        )
    (tmp_path / "8.csv").write_text("")
    (tmp_path / "7.csv").write_text("nr,words\na,So.\n")
    options = {
        **TRIALS,
        "columns": {**TRIAL_COLUMNS, "case": "of"},
        "extract": {"nr": r"run (?P<of>\d)"},
    }
    with pytest.raises(
        UserError,
        match=r"(?s)7.csv: .*turn.*8.csv: .*empty.*3.csv: row 4, column 'nr'.*3 of 10 deb",
    ):
        read_transcripts(tmp_path, **options, faulty=0.2)
    loaded, debates = read_transcripts(tmp_path, **options, faulty=0.3)
    assert [debate.case_id for debate in debates] == list("0123456")
    assert (
        loaded.cleaning["debates left out because of faults"] == 3
        and "8.csv: the file is empty" in caplog.text
    )
    with pytest.raises(UserError, match=r"7.csv: .*\nNone of the 2 files can be read."):
        read_transcripts(tmp_path / "[78].csv", **options)


def test_probabilities_of_all_labels_add_up_to_one(tmp_path: Path) -> None:
    row = {"debate": "d", "speaker": "J", "text": "", "y": "0.7"}
    rows = [{**row, "n": "0.3"}, {**row, "n": "0.5"}]
    options = {"columns": {"belief": {"yes": "y", "no": "n"}}, "labels": {"n": "no", "y": "yes"}}
    with pytest.raises(
        UserError,
        match=r"row 2, column 'y \+ n': found 1.2, expected probabilities that add up to 1",
    ):
        read_transcripts(write_table(tmp_path / "b.csv", rows), **options)
    _, [debate] = read_transcripts(write_table(tmp_path / "b.csv", rows[:1]), **options)
    assert (debate.prediction, debate.score) == ("yes", 0.7)


@pytest.mark.parametrize("cell", ["{", "[1]", '{"Kim": ["q"]}', "[" * 100_000])
def test_invalid_json_answers_and_unknown_labels_are_named(tmp_path: Path, cell: str) -> None:
    path = write_table(tmp_path / "chat.csv", [*CHAT, {**CHAT[0], "now": cell}])
    options = {**CHATS, "labels": {"/b(,x)?/": "right", "/x/": "wrong"}}
    with pytest.raises(UserError, match=r"chat.csv: row 5, column 'now'") as error:
        read_transcripts(path, **options)
    assert len(str(error.value)) < 600


def test_gaps_in_turns_times_and_roles_are_counted_and_kept(tmp_path: Path) -> None:
    turns = [
        (1, "2026-01-01 10:00", "Kim", "chair"),
        (2, "2026-01-01 09:00", "Lee", ""),
        (4, "2026-01-01 11:00", "Kim", "guest"),
    ]
    table = pd.DataFrame(turns, columns=["turn", "at", "speaker", "role"])
    rows = table.assign(debate="d", text="So.").to_dict("records")
    path = write_table(tmp_path / "talk.csv", rows)
    loaded, [debate] = read_transcripts(
        path, labels={"n": "no", "y": "yes"}, columns={"turn": "turn", "time": "at", "role": "role"}
    )
    assert loaded.cleaning == {
        "rows read": 3,
        "debates": 1,
        "debates with a gap in the numbers of turns": 1,
        "turns with an earlier time than the preceding turn": 1,
        "speakers in several roles": 1,
        "cases": 1,
    }
    speakers = list(map(attrgetter("speaker"), debate.utterances))
    assert speakers == ["Kim", "Lee", "Kim"]
    _, [by_time] = read_transcripts(path, labels={"n": "no", "y": "yes"}, columns={"time": "at"})
    speakers_by_time = list(map(attrgetter("speaker"), by_time.utterances))
    assert speakers_by_time == ["Lee", "Kim", "Kim"]
    with pytest.raises(
        UserError, match=r"row 3, column 'at': found 'noon', expected a number, or a date and time"
    ):
        read_transcripts(
            write_table(path, [*rows[:2], {**rows[2], "at": "noon"}]),
            labels={"n": "no"},
            columns={"time": "at"},
        )


def test_hostile_text_is_read_literally(tmp_path: Path) -> None:
    hostile = "</script>{{ 7*7 }} \u202e\\input{/etc/passwd}"
    path = write_table(
        tmp_path / "talk.csv",
        [{"debate": "../../d", "speaker": hostile, "text": hostile, "k": "Conclusion"}],
    )
    _, debates = read_transcripts(path, labels={"n": "no", "y": "yes"})
    [row, _] = record_rows(debates)
    assert (row["speaker"], row["text"], row["case_id"]) == (hostile, hostile, "../../d")
    with pytest.raises(
        UserError, match="row 1, column 'k': found 'Conclusion', expected another word"
    ):
        read_transcripts(path, labels={"n": "no", "y": "yes"}, columns={"kind": "k"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": {"persona": "p"}}, "name the column of the judge too"),
        ({"columns": {"speaker": ""}}, "name one of them"),
        ({"columns": {"debate": ""}}, "nor that of the case is named"),
        ({"columns": {"repeat": "r"}}, "repeat belongs to a table of answers"),
        ({"columns": 5}, "Input should be"),
        ({"labels": {"/(/": "x"}}, "'\\(' is not a regular expression"),
        ({"labels": {"a": "x"}, "positive": "y"}, "'positive' is 'y'"),
        ({"labels": {"a": "x ("}, "positive": "y"}, "'positive' is 'y'"),
        ({"extract": {"who": "run.*"}}, "'run\\.\\*' has no named group; expected one such as"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        read_transcripts(Path("any.csv"), **options)
