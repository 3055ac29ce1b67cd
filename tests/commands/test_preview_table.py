"""The table of a preview: words, totals, and hours by the speed of a model."""

import math
from typing import Any

import pandas as pd
import pytest

from moot.commands.preview_table import (
    ESTIMATE_NOTE,
    NOTHING_LEFT,
    UNKNOWN_CALLS,
    preview_text,
)

ROW: dict[str, Any] = {
    "experiment": "mine",
    "model": "served",
    "debates": 5,
    "calls_in_ledger": 48,
    "calls_to_make": 32,
    "prompt_tokens": 12_345,
    "completion_tokens": 6_789,
    "usd_likely": 0.5,
    "usd": 1.25,
    "hours": 1.5,
    "has_typical_speed": False,
    "waves": pd.NA,
    "answers_by_people": pd.NA,
    "needs": "",
}


def make_frame(*changes: dict[str, Any]) -> pd.DataFrame:
    """Return rows of a preview, and their totals."""
    frame = pd.DataFrame([ROW | change for change in changes], dtype=object)
    total = (
        frame[["debates", "calls_in_ledger", "calls_to_make", "usd_likely", "usd", "hours"]]
        .astype("float64")
        .sum(min_count=1)
        .to_dict()
    )
    total |= {"experiment": "total", "model": "", "needs": ""}
    total["has_typical_speed"] = bool(frame["has_typical_speed"].any())
    frame.loc[len(frame)] = ROW | total
    return frame


def cells_of(text: str, experiment: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(experiment))


def test_a_row_has_counts_dollars_and_hours() -> None:
    text = preview_text(make_frame({}, {"experiment": "second", "model": "other"}))
    expected = ["mine", "served", "5", "48", "32", "0.50", "1.25", "1.5"]
    assert cells_of(text, "mine") == expected
    assert cells_of(text, "total")[-2:] == ["2.50", "3.0"]
    assert "Tokens of these calls: 12,345 read and at most 6,789 written." in text
    for word in ("<NA>", "nan", "NaN", "None", "_", "usd"):
        assert word not in text.partition("\n\n")[0]


def test_a_total_that_leaves_out_unknown_calls_says_so() -> None:
    unknown = {"experiment": "again", "calls_to_make": math.nan, "needs": "results/transcripts/x"}
    assert UNKNOWN_CALLS in preview_text(make_frame({}, unknown))
    assert UNKNOWN_CALLS not in preview_text(make_frame({}))


def test_a_preview_of_one_free_model_fits_a_terminal() -> None:
    names = ("debate-reviews-of-2024", "debate-reviews-of-2024-arm=alone")
    free = {"usd": 0.0, "usd_likely": 0.0, "hours": math.nan}
    text = preview_text(make_frame(*({"experiment": name, **free} for name in names)))
    assert max(map(len, text.splitlines())) <= 80
    assert "dollars" not in text.casefold() and "served" not in text
    assert "Dollars" in preview_text(make_frame({}))


@pytest.mark.parametrize(
    ("hours", "total"),
    [
        ((1.0, math.nan), "at least 1.0"),
        ((math.nan, math.nan), "unknown"),
        ((0.0004, 0.0004), "less than 0.1"),
        ((0.1, 0.02), "7.2"),
        ((0.0, 0.0), "0.0"),
        ((120.25, 1000.0), "1,120.2"),
    ],
    ids=str,
)
def test_totals_say_where_hours_are_unknown(hours: tuple[float, ...], total: str) -> None:
    frame = make_frame(*({"experiment": f"e{value}", "hours": value} for value in hours))
    last = next(line for line in preview_text(frame).splitlines() if line.startswith("total"))
    assert last.endswith(f"  {total}")


@pytest.mark.parametrize(
    ("change", "heading"),
    [
        ({"waves": 3}, "waves"),
        ({"answers_by_people": 2}, "by people"),
        ({"needs": "results/transcripts/a/b/0.parquet"}, "to be built first"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_columns_without_a_value_are_left_out(change: dict[str, Any], heading: str) -> None:
    assert heading not in preview_text(make_frame({}))
    assert heading in preview_text(make_frame(change))


def test_a_finished_run_has_no_calls_left() -> None:
    assert preview_text(make_frame({"calls_to_make": 0})).endswith(NOTHING_LEFT)
    assert NOTHING_LEFT not in preview_text(make_frame({"calls_to_make": 0, "needs": "a file"}))


def test_an_estimate_is_marked_and_explained() -> None:
    text = preview_text(make_frame({"has_typical_speed": True}, {"experiment": "x"}))
    assert cells_of(text, "mine")[-1] == "~1.5" and cells_of(text, "x")[-1] == "1.5"
    assert cells_of(text, "total")[-1] == "~3.0" and text.endswith(ESTIMATE_NOTE)
    assert "~" not in preview_text(make_frame({}))
    bound = preview_text(make_frame({"hours": 0.0008, "has_typical_speed": True}))
    assert bound.count("  less than 0.1") == 2 and ESTIMATE_NOTE not in bound
