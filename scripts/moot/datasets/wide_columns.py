"""Tables with the rounds, or the speakers, of a debate side by side in columns.

A name such as `r{round}_answer` stands for the columns r1_answer, r2_answer, ...; a row then holds
one turn for each round. `{speaker}` likewise stands for the names of speakers in columns.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.text_files import quote_value

ROUND, SPEAKER = "{round}", "{speaker}"
"""Parts of a column's name that differ between turns; also the columns that hold these parts."""
_PATTERNS = {ROUND: "(?P<round>[0-9]+)", SPEAKER: "(?P<speaker>.+?)"}
_PLACEHOLDER = re.compile(r"\{(?:round|speaker)\}")


def is_wide(name: str) -> bool:
    """Return whether the name of a column stands for several columns."""
    return name not in (ROUND, SPEAKER) and bool(_PLACEHOLDER.search(name))


def find_placeholders(names: Iterable[str]) -> set[str]:
    """Return the placeholders in the names of columns, each of which must have the same ones.

    Raises:
        ValueError: two names have different placeholders.
    """
    placeholders: dict[frozenset[str], str] = {}
    for name in filter(is_wide, names):
        placeholders.setdefault(frozenset(_PLACEHOLDER.findall(name)), name)
    if len(placeholders) > 1:
        shown = " and ".join(map(quote_value, list(placeholders.values())[:2]))
        raise ValueError(f"{shown} have different placeholders; expected the same in each")
    return set(next(iter(placeholders), frozenset()))


def unfold_turns(path: Path, frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return a row for each turn of a table with turns side by side.

    The turns of a round follow the turns of earlier rounds. A turn whose columns are all blank is
    left out, unless its row has no other turn.

    Args:
        path: the file, for messages.
        frame: strings, indexed by row; rows that become several turns keep their number.
        names: the names of columns; those without a placeholder are repeated in each turn.

    Returns:
        The rows with a column for each name, and the columns `{round}` and `{speaker}` where names
        have these placeholders.

    Raises:
        UserError: no column fits a name.
    """
    wide_names = list(filter(is_wide, names))
    if not wide_names:
        return frame
    columns = {name: _matching_columns(path, name, list(map(str, frame))) for name in wide_names}
    keys = list(dict.fromkeys(chain.from_iterable(columns.values())))
    keys.sort(key=lambda key: int(key[0] or 0))
    turns = [_turns_of_key(frame, columns, key) for key in keys]
    is_blank = [(turn[wide_names] == "").all(axis="columns") for turn in turns]
    is_wholly_blank = pd.concat(is_blank, axis="columns").all(axis="columns")
    kept = [turn[~blank] for turn, blank in zip(turns, is_blank, strict=True)]
    return pd.concat([turns[0][is_wholly_blank], *kept])


def _matching_columns(path: Path, name: str, header: Sequence[str]) -> dict[tuple[str, str], str]:
    """Return the columns that a name stands for, by round and speaker."""
    pattern = re.escape(name)
    for placeholder, group in _PATTERNS.items():
        escaped = re.escape(placeholder)
        pattern = pattern.replace(escaped, group, 1).replace(escaped, f"(?P={placeholder[1:-1]})")
    columns: dict[tuple[str, str], str] = {}
    for column in header:
        match = re.fullmatch(pattern, column)
        if match:
            parts = match.groupdict()
            columns[parts.get("round", ""), parts.get("speaker", "")] = column
    if not columns:
        raise UserError(
            f"{path}: no column like {quote_value(name)}; found {len(header)} columns:"
            f" {quote_value(', '.join(header))}. Correct the name, with {ROUND} for the number of"
            f" the round, or {SPEAKER} for the name of the speaker."
        )
    return columns


def _turns_of_key(
    frame: pd.DataFrame, columns: Mapping[str, Mapping[tuple[str, str], str]], key: tuple[str, str]
) -> pd.DataFrame:
    """Return the turns of one round and speaker, a row for each row of the table."""
    round_number, speaker = key
    cells: dict[str, object] = {ROUND: round_number, SPEAKER: speaker}
    for name, columns_of_key in columns.items():
        column = columns_of_key.get(key)
        cells[name] = frame[column] if column else ""
    return frame.assign(**cells)  # type: ignore[arg-type]
