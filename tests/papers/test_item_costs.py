"""The costs of items, from the preview of a run."""

import math
from pathlib import Path

import pandas as pd
import pytest

from moot.commands.item_costs import costs_of_items

PROJECT = Path(__file__).resolve().parents[2]


def preview_frame() -> pd.DataFrame:
    rows = [
        ("paper-zero-shot", 10, 0, 10, 100, 20, 0.5, 0.25),
        ("paper-cot", 10, 5, 5, 200, 40, 0.25, 0.5),
        ("paper-n-shot-cot", 10, 0, 10, 300, 60, 0.125, 0.5),
        ("paper-courtroom", 10, 0, 160, 4000, 800, 4.0, math.nan),
        ("paper-feedback-debaters-debaters=2", 3, 0, 30, 1, 1, 1.0, 1.0),
        ("paper-feedback-debaters-debaters=3", 3, 0, 40, 1, 1, 2.0, 2.0),
        ("total", 46, 5, 255, 4602, 922, 7.875, 4.25),
    ]
    columns = ["experiment", "debates", "calls_in_ledger", "calls_to_make"]
    return pd.DataFrame(
        rows, columns=[*columns, "prompt_tokens", "completion_tokens", "usd", "hours"]
    )


@pytest.mark.parametrize(
    ("item", "calls", "usd", "hours"),
    [
        ("courtroom/table4", "25", "0.88", "1.2"),
        ("courtroom/table5", "160", "4.00", "unknown"),
        ("courtroom/figure1", "0", "0.00", "0.0"),
        ("feedback/figure2", "70", "3.00", "3.0"),
    ],
)
def test_the_cost_of_an_item_is_that_of_its_experiments(
    item: str, calls: str, usd: str, hours: str
) -> None:
    text = costs_of_items(preview_frame(), {"papers": {"items": item}}, PROJECT)
    heading, row = text.strip().splitlines()[1:]
    assert heading.split()[-3:] == ["US", "dollars", "hours"]
    cells = row.split()
    assert cells[0] == item
    assert (cells[3], cells[-2], cells[-1]) == (calls, usd, hours)


def test_without_the_key_no_costs_of_items_are_printed() -> None:
    assert costs_of_items(preview_frame(), {}, PROJECT) == ""
