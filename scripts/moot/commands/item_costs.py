"""The cost of each selected item of the papers, from the preview of a run."""

import math
from pathlib import Path

import pandas as pd

from moot.commands.preview_table import COLUMNS, UNKNOWN
from moot.core.types import Fields, JsonObject
from moot.papers.selection import (
    has_lean_design,
    is_of_design,
    needed_experiments,
    selected_items,
)

SUMS = ("debates", "calls_in_ledger", "calls_to_make", "prompt_tokens", "completion_tokens", "usd")
PRINTED = [column for column in COLUMNS if column.name in (*SUMS, "hours")]


def costs_of_items(frame: pd.DataFrame, config: Fields, shipped: Path) -> str:
    """Return a table of the selected items with their calls, tokens, US dollars and hours as text.

    If items share experiments, each has the full cost of them, so the rows do not add up to the
    run. "" if the configuration selects no item.

    Args:
        frame: The preview: one row per experiment and model, then the total.
        config: The merged configuration.
        shipped: The project's folder.
    """
    rows = sum_by_item(frame, config, shipped)
    if not rows:
        return ""
    texts = []
    for row in rows:
        cells = {"item": row["item"]}
        for column in PRINTED:
            heading = column.heading.replace("\n", " ")
            value = row[column.name]
            cells[heading] = UNKNOWN if math.isnan(value) else column.format(value)
        texts.append(cells)
    table = pd.DataFrame(texts).to_string(index=False)
    return f"\nBy item (items may share debates):\n{table}\n"


def sum_by_item(frame: pd.DataFrame, config: Fields, shipped: Path) -> list[JsonObject]:
    """Return the sums of each selected item's runs: `item`, the columns of `SUMS`, and `hours`.

    The hours are NaN if the speed of a model is unknown.
    """
    experiments = frame["experiment"].astype(str)
    is_lean = has_lean_design(config)
    rows: list[JsonObject] = []
    for item in selected_items(config, shipped):
        names = needed_experiments([item], shipped, is_lean=is_lean)
        of_item = frame[[is_of_design(name, names) for name in experiments]]
        sums = of_item[[*SUMS]].sum()
        hours = of_item["hours"].sum(skipna=False) if len(of_item) else 0.0
        rows.append({"item": item.name, **{name: float(sums[name]) for name in SUMS}})
        rows[-1]["hours"] = float(hours)
    return rows
