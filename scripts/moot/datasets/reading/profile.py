"""What a table of cases looks like: its probable columns, its labels, and what may be wrong.

`init`, `doctor` and `preview` show the same profile in the same words.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import pandas as pd

from moot.core.text_files import quote_value
from moot.core.types import Column

MIN_LABELS, MAX_LABELS = 2, 12
_MAX_LISTED = 20
_MAX_ID_CHARS = 60
_MAX_REPEATED_IDS = 0.1
"""The share of rows with an earlier id, which are then faults."""
_MAX_REPEATED_TEXTS = 0.5
_TARGET_NAMES = re.compile(
    "label|target|truth|gold|outcome|verdict|decision|answer|class|stance|correct|result|winner"
    "|ruling|judge?ment|disposition",
    re.IGNORECASE,
)
_DECIMAL_COMMA = r"[+-]?[0-9]+,[0-9]{1,2}"
_SHORT_WORD = re.compile(r"\b\w{1,4}\b")
"""Words such as won and not, which have too many neighbours."""
_MIN_RATIO = 0.8
_DISTINCTIVE_PARTS = re.compile(r"\d+|[+<>=*#%]|^\W*[-−]|[-−]$|[^\x00-\x7f]{2}")
"""Numbers, signs and other scripts, whose labels may differ in a single character."""


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The probable columns of a table; "" where nothing in the table suggests one.

    Attributes:
        table: its rows.
        text: the column with the longest texts.
        target: the column of labels.
        id: the first column if its cells hardly repeat; those that do are then faults.
        is_target_named: whether the name of the column of labels suggested it.
    """

    table: pd.DataFrame
    text: str = ""
    target: str = ""
    id: str = ""
    is_target_named: bool = False

    @property
    def labels(self) -> dict[str, str]:
        """The label of each value of the target; a misspelt value has the label of the right one.

        Sorted by value.
        """
        rows_by_label = group_rows(self.table[self.target])
        misspelt = find_misspelt(rows_by_label)
        words = sorted(word for word in rows_by_label if word)
        return {word: misspelt.get(word, word) for word in words}


def profile_table(table: pd.DataFrame, *, text: str = "", target: str = "") -> TableProfile:
    """Return the profile of a table; `text` and `target` replace the guesses."""
    text = text or _guess_text(table)
    guessed_target, is_named = _guess_target(table, text)
    target = target or guessed_target
    used_columns = {text, target}
    return TableProfile(table, text, target, _guess_id(table, used_columns), is_named)


def _guess_text(table: pd.DataFrame) -> str:
    """Return the column with the longest cells."""
    lengths = {str(name): float(table[name].str.len().mean()) for name in table}
    return max(lengths, key=lambda name: lengths[name], default="")


def _guess_target(table: pd.DataFrame, text: str) -> tuple[str, bool]:
    """Return the column that is probably the answer, and whether its name says so.

    It is one of few values: the first whose name says so, else the last one.
    """
    candidates = list_categories(table, {text})
    named_columns = [name for name in candidates if _TARGET_NAMES.search(name)]
    return (named_columns or candidates[-1:] or [""])[0], bool(named_columns)


def list_categories(table: pd.DataFrame, used_columns: Collection[str] = ()) -> list[str]:
    """Return the columns of few different values, each of some of the rows."""
    names = []
    for name in map(str, table):
        cells = table[name].str.strip()
        count = cells[cells != ""].nunique()
        if name not in used_columns and MIN_LABELS <= count <= MAX_LABELS:
            names.append(name)
    return names


def _guess_id(table: pd.DataFrame, used_columns: Collection[str]) -> str:
    """Return the first column if it has short cells that hardly repeat, else ""."""
    name = str(table.columns[0])
    ids = table[name].str.strip()
    is_short = ids.str.len().max() <= _MAX_ID_CHARS
    is_distinct = ids.duplicated().mean() <= _MAX_REPEATED_IDS
    has_all = bool((ids != "").all())
    return name if name not in used_columns and is_short and is_distinct and has_all else ""


def group_rows(cells: Column) -> dict[str, list[int]]:
    """Return each value of a column with the numbers of its rows; "" for blank cells."""
    rows_by_value: dict[str, list[int]] = {}
    for row, cell in cells.items():
        rows_by_value.setdefault(str(cell).strip(), []).append(int(str(row)))
    return rows_by_value


def find_doubts(table: pd.DataFrame, text: str, target: str) -> list[str]:
    """Return a sentence for everything in readable rows that may still be wrong.

    Args:
        table: all of its columns.
        text: the column of the texts.
        target: the column of the labels.
    """
    sentences = list(_find_misspelt_words(table[target]))
    is_repeated = table.duplicated()
    if is_repeated.any():
        rows = list_rows(table.index[is_repeated].tolist())
        sentences.append(f"Equal to an earlier row: {rows}. Remove them, if they are one case.")
    sentences += _find_repeated_texts(table[text])
    for number, name in enumerate(map(str, table), start=1):
        if (table[name].str.strip() == "").all():
            sentences.append(
                f"Column {number} ({quote_value(name)}) is empty. Fill it in, or remove it."
            )
    for name in list_categories(table, {text, target}):
        sentences += _find_misspelt_words(table[name])
    for name in map(str, table):
        sentences += _find_decimal_commas(table[name])
    return sentences


def _find_repeated_texts(cells: Column) -> Iterator[str]:
    """Yield a sentence for texts that most rows repeat: a row is then no case of its own."""
    texts = cells.str.strip()
    is_repeated = texts.duplicated() & (texts.str.len() > _MAX_ID_CHARS)
    if is_repeated.mean() > _MAX_REPEATED_TEXTS:
        yield (
            f"Column {quote_value(str(cells.name))}: {texts.nunique()} texts in {len(texts)} rows."
            " Keep one row a case; `loader: transcripts` reads a table with a row a turn."
        )


def list_rows(rows: Sequence[int]) -> str:
    """Return row numbers in words: `row 3`, or `rows 3, 7 and 12 more`."""
    listing = ", ".join(map(str, rows[:_MAX_LISTED]))
    remaining = len(rows) - _MAX_LISTED
    return (
        f"row{'s' * (len(rows) > 1)} {listing}{f' and {remaining} more' if remaining > 0 else ''}"
    )


def _find_misspelt_words(cells: Column) -> Iterator[str]:
    rows_by_word = group_rows(cells)
    rows_by_word.pop("", None)
    misspelt = find_misspelt(rows_by_word)
    column = f"Column {quote_value(str(cells.name))}"
    for word, frequent_word in misspelt.items():
        yield (
            f"{column}: {quote_value(word)} ({list_rows(rows_by_word[word])}) is spelt nearly like"
            f" {quote_value(frequent_word)} ({len(rows_by_word[frequent_word])} rows). Correct it,"
            " if they are one word."
        )


def find_misspelt(rows_by_word: Mapping[str, Sequence[int]]) -> dict[str, str]:
    """Return each word that is spelt nearly like a more frequent one, with that word."""
    words = sorted(rows_by_word, key=lambda word: -len(rows_by_word[word]))
    misspelt: dict[str, str] = {}
    for position, word in enumerate(words):
        frequent_words = [earlier for earlier in words[:position] if earlier not in misspelt]
        similar_words = [earlier for earlier in frequent_words if are_spelt_alike(word, earlier)]
        if similar_words:
            misspelt[word] = similar_words[0]
    return misspelt


def are_spelt_alike(first: str, second: str) -> bool:
    """Return whether two words could be one.

    They are equal but for case, spaces and punctuation, or differ in few letters after the first
    one: legal and illegal are two words.
    """
    if _DISTINCTIVE_PARTS.findall(first) != _DISTINCTIVE_PARTS.findall(second):
        return False
    word, similar_word = (re.sub(r"[\W_]+", "", text.casefold()) for text in (first, second))
    if word == similar_word:
        return word != ""
    short_words, other_short_words = (_SHORT_WORD.findall(text) for text in (first, second))
    if short_words != other_short_words or word[:1] != similar_word[:1]:
        return False
    return SequenceMatcher(None, word, similar_word).ratio() >= _MIN_RATIO


def _find_decimal_commas(cells: Column) -> Iterator[str]:
    """Yield a sentence for numbers with a decimal comma among numbers without one."""
    words = cells.str.strip()
    has_comma = words.str.fullmatch(_DECIMAL_COMMA)
    is_number = pd.to_numeric(words, errors="coerce").notna()
    if has_comma.any() and is_number.sum() > has_comma.sum():
        row = words.index[has_comma][0]
        yield (
            f"Column {quote_value(str(cells.name))}: {quote_value(words[row])}"
            f" ({list_rows(words.index[has_comma].tolist())}) has a decimal comma among numbers"
            " with points, so that the column is read as words. Write a point."
        )
