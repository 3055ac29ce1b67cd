"""Debates in unusual files: turns side by side, a second file, nested and keyed values."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from debate_tables import read_transcripts
from moot.core.errors import UserError
from moot.core.user_tables import read_user_table
from moot.datasets import LOADERS, LoadContext
from moot.datasets.debate_records import RecordedDebate
from moot.datasets.transcripts import TranscriptsOptions
from saved_tables import ENDINGS, save_table

YES_NO = {"labels": {"no": "no", "yes": "yes"}}


def utterances_of(debate: RecordedDebate) -> list[tuple[str, int, str, str | None]]:
    return [
        (utterance.speaker, utterance.round, utterance.text, utterance.prediction)
        for utterance in debate.utterances
    ]


def wide_rows() -> list[dict[str, Any]]:
    """Two members of two groups, with three rounds side by side; one speaks twice only."""
    rows = []
    for group, member in product("gh", ("Ann", "Bob")):
        row: dict[str, Any] = {"group": group, "who": member, "gold": "yes"}
        for number in (1, 2, 10):
            is_absent = (group, member, number) == ("h", "Bob", 10)
            row[f"r{number}_says"] = "" if is_absent else f"{member} in {number}."
            row[f"r{number}_answer"] = "" if is_absent else ("no" if number == 1 else "yes")
        rows.append(row)
    return rows


WIDE = {
    "debate": "group",
    "speaker": "who",
    "text": "r{round}_says",
    "answer": "r{round}_answer",
    "truth": "gold",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_rounds_side_by_side_are_turns(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"wide{ending}"
    save_table(path, wide_rows())
    loaded, debates = read_transcripts(path, columns=WIDE, **YES_NO)
    assert [case.target for case in loaded.cases] == ["yes", "yes"]
    assert loaded.cleaning["rows read"] == 11
    by_case = {debate.case_id: debate for debate in debates if debate.utterances}
    assert utterances_of(by_case["g"]) == [
        ("Ann", 1, "Ann in 1.", "no"),
        ("Bob", 1, "Bob in 1.", "no"),
        ("Ann", 2, "Ann in 2.", "yes"),
        ("Bob", 2, "Bob in 2.", "yes"),
        ("Ann", 10, "Ann in 10.", "yes"),
        ("Bob", 10, "Bob in 10.", "yes"),
    ]
    assert len(by_case["h"].utterances) == 5
    answers = {
        (debate.method, debate.case_id, debate.judge): debate.prediction for debate in debates
    }
    assert answers["first answers", "g", "Ann"] == "no" and answers["debate", "h", "Bob"] == "yes"


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (
            ["Round 1 - Ann", "Round 1 - Bob", "Round 2 - Ann"],
            {"text": "Round {round} - {speaker}"},
        ),
        (["Ann_r1", "Bob_r1", "Ann_r2"], {"text": "{speaker}_r{round}"}),
        (["text.Ann.1", "text.Bob.1", "text.Ann.2"], {"text": "text.{speaker}.{round}"}),
        (["(Ann) [1]", "(Bob) [1]", "(Ann) [2]"], {"text": "({speaker}) [{round}]"}),
    ],
)
def test_speakers_side_by_side_are_turns(
    tmp_path: Path, header: list[str], names: dict[str, str]
) -> None:
    row = {"debate": "d", **dict(zip(header, ["One.", "Two.", "Three."], strict=True))}
    save_table(tmp_path / "wide.csv", [row])
    _, [debate] = read_transcripts(tmp_path / "wide.csv", columns=names, truth="yes", **YES_NO)
    assert utterances_of(debate) == [
        ("Ann", 1, "One.", None),
        ("Bob", 1, "Two.", None),
        ("Ann", 2, "Three.", None),
    ]


def test_beliefs_of_rounds_side_by_side(tmp_path: Path) -> None:
    rows = [{"case": "c", "p1": 0.4, "p2": 0.9}, {"case": "e", "p1": 0.2, "p2": None}]
    save_table(tmp_path / "wide.parquet", rows)
    columns = {"debate": "", "case": "case", "belief": "p{round}"}
    _, debates = read_transcripts(tmp_path / "wide.parquet", columns=columns, **YES_NO)
    assert [(debate.case_id, debate.score) for debate in debates] == [("c", 0.9), ("e", 0.2)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": "turn{round}_says"}, "no column like 'turn{round}_says'; found 9 columns"),
        ({"answer": "x{round}"}, "no column like 'x{round}'"),
    ],
)
def test_a_name_that_no_column_fits_is_named(
    tmp_path: Path, columns: dict[str, str], message: str
) -> None:
    save_table(tmp_path / "wide.csv", wide_rows())
    with pytest.raises(UserError, match=message):
        read_transcripts(tmp_path / "wide.csv", columns=WIDE | columns, **YES_NO)


def test_names_with_other_placeholders_are_refused() -> None:
    columns = {"text": "{speaker}_r{round}", "answer": "r{round}"}
    with pytest.raises(ValidationError, match="have different placeholders"):
        TranscriptsOptions.model_validate({"path": "a.csv", "columns": columns})


def test_a_wrong_cell_of_a_round_names_its_row(tmp_path: Path) -> None:
    rows = wide_rows()
    rows[2]["r2_answer"] = "perhaps"
    save_table(tmp_path / "wide.csv", rows)
    with pytest.raises(
        UserError, match=r"wide.csv: row 3, column 'r\{round\}_answer': found 'perh"
    ):
        read_transcripts(tmp_path / "wide.csv", columns=WIDE, **YES_NO)


TURNS = [
    {"talk": 1, "who": "Ann", "says": "It is.", "meta": {"side": 1, "case": {"year": 2019}}},
    {"talk": 1, "who": "Judge", "says": "Hm.", "meta": {"side": None, "case": {"year": 2019}}},
    {"talk": 2, "who": "Bob", "says": "It is not.", "meta": {"side": 0, "case": {"year": 2020}}},
]
TURN_COLUMNS = {"debate": "talk", "speaker": "who", "text": "says", "truth": "won"}
ONE_ZERO = {"labels": {"0": "no", "1": "yes"}}
CASES = [{"nr": 1, "won": 1, "court": "A"}, {"nr": 2, "won": 0, "court": "B"}]


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_truth_is_in_a_second_file(tmp_path: Path, ending: str) -> None:
    save_table(tmp_path / "turns.jsonl", TURNS)
    save_table(tmp_path / f"cases{ending}", [*CASES, {"nr": 3, "won": 1, "court": "C"}])
    loaded, _ = read_transcripts(
        tmp_path / "turns.jsonl",
        columns={**TURN_COLUMNS, "attributes": ["court", "meta.case.year"]},
        case_table={"path": tmp_path / f"cases{ending}", "id": "nr"},
        **ONE_ZERO,
    )
    assert [(case.case_id, case.target) for case in loaded.cases] == [("1", "yes"), ("2", "no")]
    assert [dict(case.attributes) for case in loaded.cases] == [
        {"court": "A", "meta.case.year": "2019"},
        {"court": "B", "meta.case.year": "2020"},
    ]
    assert tmp_path / f"cases{ending}" in loaded.sources


KEYED = {
    "nested": ({"1": {"meta": {"won": 1}}, "2": {"meta": {"won": 0}}}, "meta.won"),
    "flat": ({"1": {"won": "1"}, "2": {"won": "0"}}, "won"),
    "values": ({"1": 1, "2": 0}, "(value)"),
    "with more": ({"1": {"won": 1}, "2": {"won": 0}, "3": {"won": None}}, "won"),
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", KEYED)
def test_the_truth_is_in_an_object_by_case(tmp_path: Path, name: str, indent: int | None) -> None:
    document, truth = KEYED[name]
    save_table(tmp_path / "turns.jsonl", TURNS)
    (tmp_path / "cases.json").write_text(json.dumps(document, indent=indent))
    loaded, debates = read_transcripts(
        tmp_path / "turns.jsonl",
        columns={**TURN_COLUMNS, "truth": truth, "side": "meta.side"},
        case_table={"path": tmp_path / "cases.json", "id": "(key)"},
        **ONE_ZERO,
    )
    assert [case.target for case in loaded.cases] == ["yes", "no"]
    sides = [(utterance.parsed or {}).get("side", "") for utterance in debates[0].utterances]
    assert sides == ["1", ""], "null for a judge is a blank cell"


@pytest.mark.parametrize(
    ("cases", "message"),
    [
        ([CASES[0]], "row 3, column 'talk': found '2', expected a case of .*cases.json"),
        ([*CASES, {"nr": 2, "won": 1, "court": "B"}], "case '2' has rows with different values"),
        ([{"nr": 1, "court": "A"}, {"nr": 2, "court": "B"}], "missing column won"),
        ([{"id": 1, "won": 1}], "missing column nr"),
        ([{**CASES[0], "won": "perhaps"}, CASES[1]], "found 'perhaps', expected one of 0, 1"),
    ],
)
def test_a_fault_in_the_second_file_is_named(
    tmp_path: Path, cases: list[dict[str, Any]], message: str
) -> None:
    save_table(tmp_path / "turns.jsonl", TURNS)
    save_table(tmp_path / "cases.json", cases)
    with pytest.raises(UserError, match=message):
        read_transcripts(
            tmp_path / "turns.jsonl",
            columns=TURN_COLUMNS,
            case_table={"path": tmp_path / "cases.json", "id": "nr"},
            **ONE_ZERO,
        )


def test_a_case_with_contradictory_rows_does_not_stop_the_others(tmp_path: Path) -> None:
    save_table(tmp_path / "turns.jsonl", TURNS)
    save_table(tmp_path / "cases.csv", [*CASES, {**CASES[1], "won": 1}])
    case_table = {"path": tmp_path / "cases.csv", "id": "nr"}
    loaded, _ = read_transcripts(
        tmp_path / "turns.jsonl",
        columns=TURN_COLUMNS,
        case_table=case_table,
        faulty=0.5,
        **ONE_ZERO,
    )
    assert [case.case_id for case in loaded.cases] == ["1"]
    assert loaded.cleaning["debates left out because of faults"] == 1


@pytest.mark.parametrize("meaning", ["answer", "text", "side"])
def test_a_name_of_two_columns_in_two_files_is_refused(tmp_path: Path, meaning: str) -> None:
    """The answer of a turn was read from the column with the truth, and was always right."""
    columns = {**TURN_COLUMNS, meaning: "won"}
    with pytest.raises(ValidationError, match="column 'won' describes the case and its turns"):
        read_transcripts(
            tmp_path / "turns.jsonl",
            columns=columns,
            case_table={"path": tmp_path / "cases.csv", "id": "nr"},
            **ONE_ZERO,
        )


def test_repeated_rows_of_a_case_that_agree_are_one(tmp_path: Path) -> None:
    save_table(tmp_path / "turns.jsonl", TURNS)
    save_table(tmp_path / "cases.csv", [*CASES, CASES[0]])
    case_table = {"path": tmp_path / "cases.csv", "id": "nr"}
    loaded, _ = read_transcripts(
        tmp_path / "turns.jsonl", columns=TURN_COLUMNS, case_table=case_table, **ONE_ZERO
    )
    assert [case.target for case in loaded.cases] == ["yes", "no"]


@pytest.mark.parametrize("indent", [None, 1])
def test_debates_by_key_are_rows(tmp_path: Path, indent: int | None) -> None:
    turns = [{"speaker": "Ann", "text": "One."}, {"speaker": "Bob", "text": "Two."}]
    shapes = {
        "lists": ({"d1": turns, "d2": turns[:1]}, {"debate": "(key)"}),
        "objects": (
            {"d1": {"talk": turns}, "d2": {"talk": turns[:1]}},
            {"debate": "(key)", "speaker": "talk.speaker", "text": "talk.text"},
        ),
    }
    for name, (document, columns) in shapes.items():
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(document, indent=indent))
        _, debates = read_transcripts(path, columns=columns, truth="yes", **YES_NO)
        assert [debate.case_id for debate in debates] == ["d1", "d2"]
        assert [len(debate.utterances) for debate in debates] == [2, 1]


NESTED_CELLS = {
    "a list": [{"name": "Ann", "says": "One."}, {"name": "Bob", "says": "Two."}],
    "an object of objects": {"1": {"name": "Ann", "says": "One."}, "2": {"name": "Bob"}},
    "an object": {"name": "Ann", "says": "One."},
}


@pytest.mark.parametrize("cell", NESTED_CELLS)
@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv"])
def test_a_missing_column_inside_another_is_shown(tmp_path: Path, ending: str, cell: str) -> None:
    nested = NESTED_CELLS[cell]
    value = json.dumps(nested) if ending == ".csv" else nested
    save_table(tmp_path / f"a{ending}", [{"id": 1, "log": value}, {"id": 2, "log": value}])
    with pytest.raises(UserError, match=r"Column 'log' holds nested values; name them log\.name"):
        read_user_table(tmp_path / f"a{ending}", ["name"])


def test_a_nested_column_without_the_missing_name_is_not_shown(tmp_path: Path) -> None:
    rows = [{"id": 1, "usage": {"tokens": 3}}, {"id": 2, "usage": None}]
    save_table(tmp_path / "a.jsonl", rows)
    with pytest.raises(UserError, match="missing column speaker") as error:
        read_user_table(tmp_path / "a.jsonl", ["speaker"])
    assert "holds nested" not in str(error.value)


RELAY = [
    {"name": "Lawyer", "says": "The rent was paid.", "agrees": False},
    {"name": "Neighbour", "says": "I agree.", "agrees": True},
]
RELAY_COLUMNS = {"debate": "id", "speaker": "log.name", "text": "log.says", "answer": "final"}


def relay_rows(shape: str) -> list[dict[str, Any]]:
    """Two records with their turns and their final answers, which belong to no speaker."""
    logs: dict[str, Any] = {
        "a list": RELAY,
        "a list with null": [RELAY[0], None, RELAY[1]],
        "an object": {"1": RELAY[0], "2": RELAY[1]},
        "text": json.dumps(RELAY),
        "deeper": {"turns": RELAY},
    }
    log = logs[shape]
    return [
        {"id": "e1", "log": log, "final": "YES", "truths": ["YES", "SURE"]},
        {"id": "e2", "log": log, "final": "NO", "truths": ["YES", "SURE"]},
    ]


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".csv", ".parquet"])
@pytest.mark.parametrize("shape", ["a list", "a list with null", "an object", "text", "deeper"])
def test_a_final_answer_of_a_record_is_one_answer(tmp_path: Path, shape: str, ending: str) -> None:
    rows = relay_rows(shape)
    if ending in (".csv", ".parquet"):
        logs = [row["log"] for row in rows]
        texts = [log if isinstance(log, str) else json.dumps(log) for log in logs]
        rows = [{**row, "log": text} for row, text in zip(rows, texts, strict=True)]
    if ending == ".csv":
        rows = [{**row, "truths": json.dumps(row["truths"])} for row in rows]
    path = tmp_path / f"a{ending}"
    save_table(path, rows)
    inner = "log.turns" if shape == "deeper" else "log"
    columns = {
        **RELAY_COLUMNS,
        "speaker": f"{inner}.name",
        "text": f"{inner}.says",
        "truth": "truths.0",
    }
    loaded, debates = read_transcripts(path, columns=columns, labels={"NO": "no", "YES": "yes"})
    assert [(case.case_id, case.target) for case in loaded.cases] == [("e1", "yes"), ("e2", "yes")]
    assert [(debate.method, debate.case_id, debate.judge) for debate in debates] == [
        ("debate", "e1", ""),
        ("debate", "e2", ""),
    ]
    assert [debate.prediction for debate in debates] == ["yes", "no"]
    assert utterances_of(debates[0]) == [
        ("Lawyer", 0, "The rent was paid.", None),
        ("Neighbour", 0, "I agree.", "yes"),
    ]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("has_judge", [True, False])
def test_a_verdict_next_to_the_list_of_turns_is_one_answer(
    tmp_path: Path, indent: int | None, has_judge: bool
) -> None:
    for number, verdict in enumerate(["YES", "NO"]):
        document = {"verdict": verdict, "arbiter": "gpt", "turns": RELAY, "seconds": 3}
        (tmp_path / f"talk {number}.json").write_text(json.dumps(document, indent=indent))
    columns = {"debate": "(file)", "speaker": "name", "text": "says", "answer": "verdict"}
    columns |= {"judge": "arbiter"} if has_judge else {}
    _, debates = read_transcripts(tmp_path, columns=columns, labels={"NO": "no", "YES": "yes"})
    assert [(debate.case_id, debate.prediction, debate.judge) for debate in debates] == [
        ("talk 0", "yes", "gpt" if has_judge else ""),
        ("talk 1", "no", "gpt" if has_judge else ""),
    ]
    speakers = [utterance[0] for utterance in utterances_of(debates[0])]
    assert speakers == ["Lawyer", "Neighbour", *(["gpt"] if has_judge else [])]


def test_beliefs_of_a_judge_after_each_turn_have_no_text(tmp_path: Path) -> None:
    rows = [
        {"debate": "d", "speaker": speaker, "text": f"{speaker} speaks.", "judge": "J", "p": belief}
        for speaker, belief in (("Ann", 0.5), ("Bob", 0.7), ("J", 0.9), ("the judge", 0.2))
    ]
    save_table(tmp_path / "a.csv", rows)
    columns = {"judge": "judge", "belief": "p", "round": ""}
    _, debates = read_transcripts(
        tmp_path / "a.csv", columns=columns | {"turn": ""}, positive="yes", **YES_NO
    )
    utterances = [
        (utterance.speaker.partition(" · ")[0], utterance.text, utterance.private)
        for utterance in debates[0].utterances
    ]
    assert utterances == [
        ("Ann", "Ann speaks.", False),
        ("J", "", True),
        ("Bob", "Bob speaks.", False),
        ("J", "", True),
        ("J", "J speaks.", True),
        ("J", "the judge speaks.", True),
    ]


def test_a_fault_inside_a_record_names_the_row_of_the_file(tmp_path: Path) -> None:
    rows = relay_rows("a list")
    rows[1]["final"] = "perhaps"
    save_table(tmp_path / "a.jsonl", rows)
    with pytest.raises(UserError, match=r"a.jsonl: row 2, column 'final': found 'perhaps'"):
        read_transcripts(
            tmp_path / "a.jsonl", columns=RELAY_COLUMNS, labels={"NO": "no", "YES": "yes"}
        )


def test_cases_inside_rows_have_separate_ids(tmp_path: Path) -> None:
    rows = [{"log": RELAY, "y": "yes"}, {"log": RELAY[:1], "y": "no"}]
    save_table(tmp_path / "a.jsonl", rows)
    entry = LOADERS["table"]
    options = entry.options.model_validate(
        {"path": tmp_path / "a.jsonl", "text": "log.says", "target": "y"}
    )
    loaded = entry.load(options, LoadContext("mine", Path("data"), Path(), 7))
    assert [case.case_id for case in loaded.cases] == ["row-1", "row-2", "row-3"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_single_record_is_read_like_a_list(tmp_path: Path, indent: int | None) -> None:
    rows = relay_rows("a list")
    (tmp_path / "one.json").write_text(json.dumps(rows[0], indent=indent))
    labels = {"NO": "no", "YES": "yes"}
    for columns in (RELAY_COLUMNS, {**RELAY_COLUMNS, "speaker": "name", "text": "says"}):
        _, [debate] = read_transcripts(tmp_path / "one.json", columns=columns, labels=labels)
        assert (debate.prediction, len(debate.utterances)) == ("yes", 2)


@pytest.mark.parametrize("perhaps", [None, 2])
def test_answers_in_a_list_inside_a_document_are_separate_answers(
    tmp_path: Path, perhaps: int | None
) -> None:
    """As promptfoo writes them: all of them became one answer of the document."""
    results = []
    for number in range(6):
        output = "perhaps" if number == perhaps else "yes"
        result = {"testIdx": number // 2, "promptIdx": number % 2, "response": {"output": output}}
        results.append({**result, "provider": {"id": "openai:x"}, "vars": {"want": "yes"}})
    document = {"evalId": "e", "results": {"version": 3, "results": results, "stats": {}}}
    (tmp_path / "t.json").write_text(json.dumps(document))
    names = {
        "case": "testIdx",
        "method": "promptIdx",
        "model": "provider.id",
        "answer": "response.output",
        "truth": "vars.want",
    }
    columns = {meaning: f"results.results.{name}" for meaning, name in names.items()}
    loaded, debates = read_transcripts(
        tmp_path / "t.json", columns={"debate": "", **columns}, faulty=0.2, **YES_NO
    )
    count = 6 if perhaps is None else 5
    assert len(debates) == loaded.cleaning["answers"] == count
    assert {(debate.model, debate.prediction) for debate in debates} == {("openai:x", "yes")}
    assert {debate.method for debate in debates} == {"0", "1"} and len(loaded.cases) == 3
