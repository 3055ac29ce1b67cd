"""The first commands of docs/claims.md run unchanged, and their answers are the answers on the
page.

Slow: only this test detects a command of the page that no longer runs, or has another answer.
"""

import importlib
import re
import shlex
from functools import cache
from typing import Any

import pandas as pd
import pytest

from moot.commands.reference import with_part
from moot.report import TABLES
from moot.report.published import read_published
from moot.report.published_claims import read_claims
from project_copy import PROJECT, Workflow, unedited_copy

PAGE = PROJECT / "docs" / "claims.md"
CLAIMS = PROJECT / "data" / "published" / "claims.csv"
PUBLISHED = PROJECT / "data" / "published" / "published_results.csv"
SECTIONS = re.split(r"^## \d+\. ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]
COMMAND = re.compile(r"^```bash\nsnakemake (.*)\n```$", re.MULTILINE)
ROW = re.compile(
    r"^\| ([^|]+) \| ([^|]+) \| ([-\d.]+) \| \[([-\d.]+), ([-\d.]+)\] \| (\d+) \|$", re.MULTILINE
)


@pytest.fixture(scope="module")
def workflow(tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    return Workflow(tmp_path_factory.mktemp("claims"), "", project=unedited_copy())


@cache
def questions_of(command: str, workflow: Workflow) -> pd.DataFrame:
    """The table of questions that a command builds, in one folder for all, as the page says."""
    words = [
        str(workflow.project / word) if word.startswith("config/") else word
        for word in shlex.split(command)
    ]
    if (workflow.work / "results").exists():
        words.append("replace_results=true")
    process = workflow.snakemake(*words)
    assert process.returncode == 0, process.stdout[-4000:]
    return pd.read_csv(workflow.work / "results/tables/comparison/questions.csv")


def test_the_page_equals_the_output_of_its_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    script: Any = importlib.import_module("claims")
    text = PAGE.read_text("utf-8")
    assert with_part(text, "claims", script.render_page()) == text, "run `make docs`"


def test_every_claim_that_one_number_judges_has_a_command() -> None:
    assert all(COMMAND.search(section) for section in SECTIONS)
    tested = [section for section in SECTIONS if "No model is asked." in section]
    assert len(tested) >= 10 and all(ROW.search(section) for section in tested)


def test_every_claim_that_models_judge_has_a_cost() -> None:
    parts = list[str]()
    for section in SECTIONS:
        parts += section.split("```bash")[1:]
    asking = [part for part in parts if "No model is asked." not in part]
    assert asking and all(
        re.search(r"at most US\$ [\d,.]+ .*: [\d,]+ calls", part) for part in asking
    )


@pytest.mark.parametrize(
    ("table", "has_published"),
    [
        ("conference/judge_difference", False),
        ("conference/objective_and_grades", False),
        ("conference/table5_agreement_detection", True),
        ("courtroom/stability", True),
        ("feedback/table5_smoothing", True),
    ],
)
def test_the_page_says_of_a_table_whether_it_shows_published_values(
    table: str, has_published: bool
) -> None:
    values = "published values and values of the run" if has_published else "values of the run"
    page = " ".join(PAGE.read_text("utf-8").split())
    assert f"the table `{table}` has {values}." in page


TABLES_OF_CLAIMS = [section for section in SECTIONS if "No single number judges it" in section]


@pytest.mark.parametrize("section", TABLES_OF_CLAIMS)
def test_the_experiments_of_a_claim_are_those_that_fill_its_table(
    section: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    script: Any = importlib.import_module("claims")
    match = re.search(r"results/tables/([\w/]+)\.csv.*run=\[([^\]]+)\]", section)
    assert match
    table, run = match[1], match[2].split(",")
    plan = script.configuration(script.PAPER, run, {})
    assert plan.can_fill(TABLES[table])
    whole = script.configuration(script.PAPER, ["paper-*"], {})
    assert set(run) == set(script.with_needed(whole, list(script.SIDE_BY_SIDE[table])))


def test_phases_of_the_appellate_study_are_compared_with_their_own_counts() -> None:
    claims = [claim for claim in read_claims(CLAIMS) if "seldom change" in claim.question]
    published = {str(claim.first[0]): claim.published for claim in claims}
    assert published == {"synthetic_panel": 0.0333, "panel": 0.0383}
    rows = read_published(PUBLISHED)
    values = rows[rows["metric"] == "opinion_changes"].set_index("row")["value"]
    for claim, phase in zip(claims, ("synthetic", "multiagent"), strict=True):
        assert claim.published == pytest.approx(values[phase] / 600, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 5))
def test_a_command_gives_the_answer_on_the_page(number: int, workflow: Workflow) -> None:
    section = SECTIONS[number - 1]
    table = questions_of(COMMAND.findall(section)[0], workflow)
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
