"""The profile of a table of cases: `init`, `doctor` and `preview` find the same in it."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from in_process import default_configuration
from messages import refusal
from moot.commands.doctor import _check_data
from moot.commands.doctor_cases import describe_row_faults
from moot.commands.init import write_configuration
from moot.core.config import InitConfig
from moot.datasets.reading.profile import (
    are_spelt_alike,
    find_doubts,
    profile_table,
)
from moot.datasets.reading.tables import read_table
from moot.plan.plan import Plan
from project_copy import PROJECT
from user_tables import load

FAULTS = {
    "a text is missing": (
        {3: {"facts": " "}}, "row 3, column 'facts': found ' ', expected a text about the case",
    ),
    "a label is missing": (
        {4: {"outcome": ""}}, "row 4, column 'outcome': found '', expected one of accept, reject",
    ),
    "a label is misspelt": (
        {5: {"outcome": "accpet"}}, "Column 'outcome': 'accpet' (row 5) is spelt nearly like 'acc",
    ),
    "a label in capitals": (
        {5: {"outcome": "ACCEPT"}}, "Column 'outcome': 'ACCEPT' (row 5) is spelt nearly like 'acc",
    ),
    "an id is repeated": ({7: {"nr": "r2"}}, "column 'nr': 'r2' is in rows 2, 7; expected every"),
    "a row is repeated": ({8: {}}, "Equal to an earlier row: row 8."),
    "a group in capitals": ({1: {"level": "Senior"}}, "Column 'level': 'Senior' (row 1) is spelt"),
    "a decimal comma": ({2: {"score": "3,4"}}, "Column 'score': '3,4' (row 2) has a decimal comma"),
    "a column is empty": (
        {number: {"note": ""} for number in range(1, 13)}, "Column 6 ('note') is empty.",
    ),
}  # fmt: skip


def make_rows(changes: dict[int, dict[str, str]]) -> list[dict[str, str]]:
    rows = [
        {
            "nr": f"r{number}",
            "facts": f"Review {number} praises the method and doubts the data.",
            "outcome": ("accept", "reject")[number % 2],
            "level": ("senior", "junior")[number // 2 % 2],
            "score": f"{number}.5",
        }
        for number in range(1, 13)
    ]
    for number, change in changes.items():
        rows[number - 1] = {**rows[number - 1], **change} if change else rows[number - 2]
    return rows


def make_plan(path: Path, **options: Any) -> Plan:
    config = {
        "run": ["mine"],
        "models": {"served": {"model": "test", "base_url": "http://localhost:9"}},
        "datasets": {
            "own": {"loader": "table", "path": str(path), "text": "facts", "target": "outcome"}
            | options
        },
        "experiments": {"mine": {"dataset": "own", "models": ["served"], "protocol": "zero_shot"}},
    }
    return Plan.from_yaml(default_configuration(config), PROJECT)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_the_same_words_everywhere(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    changes, message = FAULTS[name]
    pd.DataFrame(make_rows(changes)).to_csv("reviews.csv", index=False)
    path = Path("reviews.csv")
    init_config = InitConfig(model="smollm2-135m", data="reviews.csv", usd=0)
    labels = ["accept", "reject", "accpet", "ACCEPT"]
    plan = make_plan(path, id="nr", labels=labels, faulty=0.2)
    findings = "".join(map(str, _check_data(plan)))
    reports = (
        write_configuration(init_config, None), findings, describe_row_faults(plan),
    )  # fmt: skip
    assert all(report.count(message) == 1 for report in reports), reports


def test_a_misspelt_label_gets_the_right_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    changes = {1: {"outcome": "ACCEPT"}, 2: {"outcome": "accpet"}, 4: {"outcome": "accpet"}}
    pd.DataFrame(make_rows(changes)).to_csv("reviews.csv", index=False)
    write_configuration(InitConfig(model="smollm2-135m", data="reviews.csv", usd=0), None)
    labels = yaml.safe_load(Path("my.yaml").read_text())["datasets"]["reviews"]["labels"]
    assert labels == {
        "ACCEPT": "accept", "accept": "accept", "accpet": "accept", "reject": "reject",
    }  # fmt: skip


def test_of_a_repeated_id_the_first_row_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "reviews.csv"
    pd.DataFrame(make_rows({7: {"nr": "r2"}, 9: {"nr": "r2"}})).to_csv(path, index=False)
    with refusal():
        load(path, id="nr")
    loaded = load(path, id="nr", faulty=0.2)
    assert [case.source_row for case in loaded.cases] == [1, 2, 3, 4, 5, 6, 8, 10, 11, 12]
    assert "left out: Row 1 is" not in caplog.text


def test_a_table_without_faults_has_none(tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    pd.DataFrame(make_rows({})).to_csv(path, index=False)
    table = read_table(path)
    profile = profile_table(table)
    assert (profile.text, profile.target, profile.id) == ("facts", "outcome", "nr")
    assert find_doubts(table, "facts", "outcome") == []


ALIKE = [
    ("tenant", "tennant"),
    ("tenant", "teannt"),
    ("landlord", "land lord"),
    ("in-favour", "In favour"),
    ("kläger", "klager"),
    ("yes", "Yes."),
    ("tenant", "tenan\u200bt"),
]
DIFFERENT = [
    ("guilty", "not guilty"),
    ("legal", "illegal"),
    ("grade 1", "grade 2"),
    ("type I", "type II"),
    ("male", "female"),
    ("1.0", "10"),
    ("C", "C++"),
    ("支持原告", "支持被告"),
]


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_typing_errors_are_seen_in_both_orders(first: str, second: str) -> None:
    assert are_spelt_alike(first, second) and are_spelt_alike(second, first)


@pytest.mark.parametrize(("first", "second"), DIFFERENT)
def test_labels_that_differ_by_intent_are_not_alike(first: str, second: str) -> None:
    assert not are_spelt_alike(first, second) and not are_spelt_alike(second, first)


def test_a_table_of_turns_repeats_its_texts() -> None:
    texts = [
        f"A patient of {n // 6 + 40} years with a lesion that was found by chance."
        for n in range(12)
    ]
    turns = pd.DataFrame({"facts": texts, "words": list("abcdefghijkl"), "truth": ["a", "b"] * 6})
    doubts = find_doubts(turns, "facts", "truth")
    assert doubts == [
        "Column 'facts': 2 texts in 12 rows. Keep one row a case; `loader: transcripts` reads a"
        " table with a row a turn."
    ]
