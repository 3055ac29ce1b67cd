"""Puts the turns of a table in order, debate by debate."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from moot.core.log import LOG
from moot.datasets.turn_checker import TurnChecker
from moot.datasets.turn_columns import TurnColumns


def refuse_repeated_turns(rows: pd.DataFrame, check: TurnChecker, names: TurnColumns) -> None:
    """Note the turns that a debate has twice; several judges may follow one turn."""
    if names.turn and not names.judge:
        check.refuse(
            rows[names.turn],
            rows.duplicated(["(debate)", "(turn)"]),
            "each turn of a debate once",
            "Remove the repeated row, or number the turns of each debate.",
        )


def sort_turns(
    rows: pd.DataFrame, file: Path, names: TurnColumns
) -> tuple[pd.DataFrame, Mapping[str, int]]:
    """Return the rows in order, debate by debate, and counts of irregularities in that order."""
    keys = pd.DataFrame({"debate": rows["(debate)"].to_numpy()}, rows.index)
    account = dict[str, int]()
    if names.turn:
        keys["turn"] = rows["(turn)"]
        turns = keys.drop_duplicates().groupby("debate")["turn"]
        has_gap = turns.max() - turns.min() + 1 != turns.size()
        account["debates with a gap in the numbers of turns"] = int(has_gap.sum())
    positions = _sorted_positions(keys)
    if names.time:
        keys["time"] = rows["(time)"]
        is_earlier = keys.iloc[positions].groupby("debate")["time"].diff() < 0
        account["turns with an earlier time than the preceding turn"] = int(is_earlier.sum())
        positions = _sorted_positions(keys)
    if names.role and names.speaker:
        roles = rows.groupby(["(debate)", names.speaker])[names.role].nunique()
        account["speakers in several roles"] = int((roles > 1).sum())
    for description, count in account.items():
        if count:
            LOG.warning("%s: %d %s; they are kept.", file, count, description)
    if names.text:
        account["turns without words"] = int((rows[names.text].str.strip() == "").sum())
    return rows.iloc[positions], account


def _sorted_positions(keys: pd.DataFrame) -> "pd.Index[int]":
    """Return the positions of the rows, sorted by all columns."""
    return keys.reset_index(drop=True).sort_values([*keys], kind="stable").index
