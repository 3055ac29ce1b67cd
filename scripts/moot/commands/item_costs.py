"""What each selected item of the papers costs, from the preview of a run."""

from pathlib import Path

import pandas as pd

from moot.core.types import Fields
from moot.papers.selection import (
    has_lean_design,
    is_of_design,
    needed_experiments,
    selected_items,
)

COUNTS = ("debates", "calls_in_ledger", "calls_to_make", "prompt_tokens", "completion_tokens")


def costs_of_items(frame: pd.DataFrame, config: Fields, shipped: Path) -> str:
    """Return a table of the selected items with their calls, tokens and US dollars as text.

    Items that share experiments each have the whole of their costs, so the rows do not add up to
    the run. "" if the configuration selects no item.

    Args:
        frame: The preview: one row an experiment and model, then the total.
        config: The merged configuration.
        shipped: The project's folder.
    """
    rows = []
    experiments = frame["experiment"].astype(str)
    for item in selected_items(config, shipped):
        names = needed_experiments([item], shipped, is_lean=has_lean_design(config))
        is_needed = experiments.map(lambda name, names=names: is_of_design(name, names))
        sums = frame.loc[is_needed, [*COUNTS, "usd"]].sum()
        rows.append(
            {"item": item.name, **{name: int(sums[name]) for name in COUNTS}, "usd": sums["usd"]}
        )
    if not rows:
        return ""
    return (
        "\nBy item (items may share debates):\n" + pd.DataFrame(rows).to_string(index=False) + "\n"
    )
