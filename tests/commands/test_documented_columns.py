"""The page of options documents every column of recorded debates, and every key of each loader."""

import re
from pathlib import Path

import pytest

from moot.commands.registered import columns_table, describe_registered
from moot.datasets import LOADERS
from moot.datasets.column_meanings import COLUMN_MEANINGS
from moot.datasets.turn_columns import TurnColumns
from moot.report import TABLES

PROJECT = Path(__file__).resolve().parents[2]
TABLE_NAMES = {name.partition("/")[2] for name in TABLES}


def test_every_column_has_a_type_a_meaning_and_a_use() -> None:
    assert list(COLUMN_MEANINGS) == list(TurnColumns.model_fields)
    rows = columns_table().splitlines()[2:]
    assert len(rows) == len(TurnColumns.model_fields)
    for name, row in zip(TurnColumns.model_fields, rows, strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[0] == f"`{name}`" and all(cells), row


def test_the_uses_name_tables_and_keys_that_exist() -> None:
    known = {*TABLE_NAMES, *TurnColumns.model_fields, "rejudge", "labels", "no_answer"}
    for meaning in COLUMN_MEANINGS.values():
        assert set(re.findall(r"`(\w+)`", f"{meaning.cells} {meaning.enables}")) <= known


@pytest.mark.parametrize("loader", ["transcripts", "table", "opinions"])
def test_every_option_of_a_loader_is_in_its_table(loader: str) -> None:
    page = (PROJECT / "docs/reference.md").read_text(encoding="utf-8")
    section = re.split(r"\n##? ", page.partition(f"\n### {loader}\n")[2])[0]
    section = re.split(r"\n### ", section)[0]
    common = describe_registered().partition("Every data set takes:")[2].partition("###")[0]
    for name, field in LOADERS[loader].options.model_fields.items():
        assert f"| `{name}` |" in section or f"| `{name}` |" in common, name
        assert field.description


def test_the_columns_are_on_the_page() -> None:
    page = (PROJECT / "docs/reference.md").read_text(encoding="utf-8")
    assert columns_table() in page
