"""The first commands of docs/claims.md, run as they stand: they answer what the page says.

Slow; only it finds a command of the page that no longer runs, or answers otherwise.
"""

import importlib
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from moot.commands.reference import with_part
from project_copy import PROJECT, Workflow

PAGE = PROJECT / "docs" / "claims.md"
SECTIONS = re.split(r"^## \d+\. ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
COMMAND = re.compile(r"^```bash\nsnakemake (.*)\n```$", re.MULTILINE)
ROW = re.compile(
    r"^\| ([^|]+) \| ([^|]+) \| ([-\d.]+) \| \[([-\d.]+), ([-\d.]+)\] \| (\d+) \|$", re.MULTILINE
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("claims")


@cache
def questions_of(command: str, folder: Path) -> pd.DataFrame:
    """The table of questions that a command builds."""
    workflow = Workflow(folder / str(abs(hash(command))), "")
    words = [
        str(workflow.project / word) if word.startswith("config/") else word
        for word in shlex.split(command)
    ]
    process = workflow.snakemake(*words)
    assert process.returncode == 0, process.stdout[-4000:]
    return pd.read_csv(workflow.work / "results/tables/comparison/questions.csv")


def test_the_page_is_what_its_script_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    script: Any = importlib.import_module("claims")
    text = PAGE.read_text("utf-8")
    assert with_part(text, "claims", script.render_page()) == text, "run `make docs`"


def test_every_claim_that_one_number_judges_has_a_command() -> None:
    assert all(COMMAND.search(section) for section in SECTIONS)
    assert sum(len(ROW.findall(section)) for section in SECTIONS) > len(SECTIONS) / 2


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 5))
def test_a_command_answers_what_the_page_says(number: int, folder: Path) -> None:
    section = SECTIONS[number - 1]
    table = questions_of(COMMAND.findall(section)[0], folder)
    rows = table[(table["question"] == section.partition("\n")[0]) & table["this run"].notna()]
    table_rows = (
        rows[["model", "answer", "this run", "95 % low", "95 % high", "cases"]].to_numpy().tolist()
    )
    expected = [
        [model, answer, *map(float, numbers)] for model, answer, *numbers in ROW.findall(section)
    ]
    assert len(table_rows) == len(expected) > 0
    for row, expected_row in zip(table_rows, expected, strict=True):
        assert row[:2] == expected_row[:2]
        assert row[2:] == pytest.approx(expected_row[2:], abs=6e-4)
