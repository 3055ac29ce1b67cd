"""The table that `snakemake preview` prints."""

import math

import pandas as pd

from moot.core.amount_text import LESS_THAN, amount_text, dollars_text
from moot.core.types import Json

UNKNOWN = "unknown"
DOLLARS_NOTE = (
    'Dollars "at most" count the longest replies; the likely ones follow from stored\n'
    "replies of the same kind, else from data/published/reply_lengths.csv.\n"
)
NOTE = (
    "A model without price is free. Times follow from each model's speed, its\n"
    "concurrency and its limits, one experiment after the other.\n"
)
ESTIMATE_MARK = "~"
ESTIMATE_NOTE = f"{ESTIMATE_MARK}: by the model's speed on one quiet core of another machine.\n"
UNKNOWN_CALLS = (
    "The total leaves out rows without a number of calls, which depends on debates to come.\n"
)
NOTHING_LEFT = "No call is left: the ledger has all replies.\n"
_HEADINGS = {
    "experiment": "experiment",
    "model": "model",
    "debates": "debates",
    "calls_in_ledger": "stored",
    "calls_to_make": "calls to make",
    "usd_likely": "dollars",
    "usd": "at most",
    "hours": "hours",
    "waves": "waves",
    "answers_by_people": "answers by people",
    "needs": "to be built first",
}


def preview_text(frame: pd.DataFrame) -> str:
    """Return a preview as a table for a terminal, with its notes.

    A blank column is left out, that of the model if there is one model, and those of dollars if all
    is free.

    Args:
        frame: the preview: one row an experiment and model, then the total.
    """
    table = pd.DataFrame(index=frame.index)
    for name, heading in _HEADINGS.items():
        table[heading] = [_cell_text(name, value) for value in frame[name]]
    is_short = 0 < frame["hours"].iloc[-1] < 1
    durations = frame["hours"] * 60 if is_short else frame["hours"]
    # two blanks keep "less than 0.1" apart from the number before it
    table["hours"] = [f" {text}" for text in _duration_texts(durations, frame["has_typical_speed"])]
    is_free = not (frame["usd"].fillna(0) > 0).any()
    if is_free:
        table = table.drop(columns=["dollars", "at most"])
    if frame["model"][:-1].nunique() == 1:
        table = table.drop(columns="model")
    has_estimate = table["hours"].str.contains(ESTIMATE_MARK).any()
    table = table.loc[:, (table != "").any()]
    for heading in {"experiment", "model"} & {*table}:
        table[heading] = table[heading].str.ljust(max(table[heading].str.len().max(), len(heading)))
    if is_short:
        table = table.rename(columns={"hours": "minutes"})
    total = frame.iloc[-1]
    is_complete = not total["calls_to_make"] and not frame["needs"].astype(bool).any()
    notes = NOTHING_LEFT
    if not is_complete:
        notes = _describe_tokens(total) + ("" if is_free else DOLLARS_NOTE) + NOTE
    if frame["calls_to_make"].isna().any():
        notes = UNKNOWN_CALLS + notes
    if has_estimate:
        notes += ESTIMATE_NOTE
    return f"{table.to_string(index=False)}\n\n{notes}"


def _cell_text(name: str, value: Json) -> str:
    if pd.isna(value):
        return ""
    if name.startswith("usd"):
        return dollars_text(float(value))
    return value if isinstance(value, str) else f"{value:,.0f}"


def _describe_tokens(total: "pd.Series[float]") -> str:
    return (
        f"Tokens of these calls: {total['prompt_tokens']:,.0f} read and at most"
        f" {total['completion_tokens']:,.0f} written.\n"
    )


def _duration_texts(durations: "pd.Series[float]", is_typical: "pd.Series[bool]") -> list[str]:
    """Return the hours or minutes of each row; the total says where it leaves out unknown ones.

    A tilde marks a duration that rests on a model's typical speed. A bound has no mark.
    """
    rows = []
    for duration, has_typical_speed in zip(durations, is_typical, strict=True):
        text = UNKNOWN if math.isnan(duration) else amount_text(duration, 1)
        has_mark = has_typical_speed and duration > 0 and not text.startswith(LESS_THAN)
        rows.append(f"{ESTIMATE_MARK}{text}" if has_mark else text)
    total = rows[-1]
    if UNKNOWN in rows[:-1]:
        says_nothing = total.startswith((LESS_THAN, UNKNOWN)) or not durations.iloc[-1]
        total = UNKNOWN if says_nothing else f"at least {total}"
    return [*rows[:-1], total]
