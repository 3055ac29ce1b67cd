"""Tables of users: read as text, and checked once for the faults of such files.

A frame is indexed by the 1-based row (record) of its file, so that every later message can name the
row. All functions raise `UserError` with one message: file, row, column, found, expected, remedy.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.text_files import UTF16_MARKS, describe_remedy, quote_value, read_text
from moot.core.types import Column

_FIELD_LIMIT = 2**31 - 1  # court opinions exceed the csv module's 128 kB
_LINE = re.compile(
    r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z"
)  # a text stream takes four bytes per character
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[ \t]*(?:\r\n|\r|\n)', re.IGNORECASE)
"""A first line that names the separator for Excel."""
_CHARS_SEEN, _LINES_SEEN = 10_000, 20
_RECORDS_PER_FRAME = 20_000
_MAX_PROBLEMS = 20


def read_csv(  # noqa: PLR0913 - keywords of a file format
    path: Path,
    columns: Sequence[str],
    *,
    unique: str = "",
    encoding: str = "utf-8-sig",
    delimiter: str = ",",
    get: str = "",
    allows_repeated_columns: bool = False,
    faults: Faults | None = None,
    broken_records: list[list[str]] | None = None,
) -> pd.DataFrame:
    """Read a CSV file whose first row has the column names.

    Values are not converted; a blank cell is "".

    Args:
        columns: the required columns; others are read as well, for the caller to use or ignore.
        unique: a column whose values may not repeat or be blank.
        encoding: of the file; a byte-order mark is ignored.
        get: how to obtain the file, for the message if it is missing or damaged.
        allows_repeated_columns: whether a column that is not in `columns` may occur twice.
        faults: gets a message for each row of the wrong length, which is left out. Default: such a
            row is an error.
        broken_records: gets the fields of each row that is left out.

    Returns:
        A frame of strings, indexed by row: 1 is the first row below the header.

    Raises:
        UserError: the file does not exist, is not text, has another encoding, is empty, or has no
            data rows; a column is missing or repeated; a row has the wrong length (a truncated
            file); quotes are broken; an id is repeated or blank.
    """
    text = read_text(path, encoding=encoding, get=get)
    csv.field_size_limit(_FIELD_LIMIT)
    reader = csv.reader(
        _iterate_lines(text),
        delimiter=delimiter,
        strict=True,
        skipinitialspace=_has_spaced_quotes(text, delimiter),
    )
    filled_records = filter(None, reader)  # without blank lines
    records: list[list[str]] = []
    parts: list[pd.DataFrame] = []
    row_count, row_numbers = 0, list[int]()
    try:
        header = next(filled_records, [])
        check_header(
            path, header, columns, delimiter, allows_repeated_columns=allows_repeated_columns
        )
        for record in filled_records:
            row_count += 1
            fields = _fit_to_header(record, header)
            problem = _describe_problem(fields, header, get)
            if problem:
                message = f"{path}: row {row_count} (line {reader.line_num}): {problem}"
                if faults is None:
                    raise UserError(message)
                faults.add(message)
                if broken_records is not None:
                    broken_records.append(fields)
                continue
            records.append(fields)
            row_numbers.append(row_count)
            if len(records) == _RECORDS_PER_FRAME:  # a frame takes a quarter of the memory
                parts.append(pd.DataFrame(records, columns=header, dtype="str"))
                records = []
    except csv.Error as fault:
        place = f"{path}: row {row_count + 1} (line {reader.line_num})"
        raise UserError(_describe_broken_quotes(place, str(fault), text, get)) from fault
    if faults and faults.messages and not row_numbers:
        raise UserError(faults.messages[0])
    if not row_count:
        raise UserError(
            f"{path}: found a header without rows; expected at least one row of data. "
            f"{describe_remedy(get)}"
        )
    frame = pd.concat([*parts, pd.DataFrame(records, columns=header, dtype="str")])
    frame.index = pd.Index(row_numbers, name="row")
    if unique:
        check_unique(path, frame[unique])
    return frame


def _iterate_lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, without a first line that names the separator."""
    separator_line = _SEPARATOR_LINE.match(text)
    start = separator_line.end() if separator_line else 0
    for line in _LINE.finditer(text, start):
        yield line[0]


def _describe_broken_quotes(place: str, fault: str, text: str, get: str) -> str:
    """Return the message for quotes that the csv module cannot read."""
    is_open = "end of data" in fault
    problem = "the file ends inside quotes (a truncated file?)" if is_open else fault
    remedy = describe_remedy(get)
    if '\\"' in text:
        remedy = 'Within quotes write a quotation mark twice (""), not with a backslash.'
    return f"{place}: {problem}; expected every quoted field to be closed. {remedy}"


def _has_spaced_quotes(text: str, delimiter: str) -> bool:
    """Return whether spaces stand between delimiters and quoted fields: `facts, "a, b"`."""
    mark = re.escape(delimiter)
    lines = text[:_CHARS_SEEN].splitlines()[:_LINES_SEEN]
    pattern = re.compile(rf'{mark} +"[^"\n]*" *(?={mark}|$)')
    return any(pattern.search(line) for line in lines)


def find_delimiter(path: Path) -> str:
    """Return the separator of the header's fields.

    It is a comma, a semicolon (spreadsheets in much of Europe), a tab or a vertical bar. A first
    line `sep=;` names it.
    """
    first_line = _first_line(path)
    named_separator = _SEPARATOR_LINE.match(first_line)
    if named_separator:
        return named_separator[1]
    return max(",;\t|", key=re.sub(r'"[^"]*"', "", first_line).count)


def has_tabs(path: Path) -> bool:
    """Return whether the first line holds a tab, or no other separator."""
    line = _first_line(path)
    return "\t" in line or not re.search("[,;|]", line)


def _first_line(path: Path) -> str:
    """Return the first line that is not blank; "" if the file cannot be read."""
    with suppress(OSError):
        with path.open("rb") as stream:
            encoding = "utf-16" if stream.read(2) in UTF16_MARKS else "utf-8-sig"
        with path.open(encoding=encoding, errors="replace") as file:
            return next(filter(str.strip, file), "")
    return ""


def check_unique(
    path: Path, values: Column, remedy: str = "Remove the duplicate rows or rename them."
) -> None:
    """Require that no value is blank or occurs twice; `values` is a column of a frame read here."""
    text = values.astype("str")
    is_blank, is_repeated = text.str.strip() == "", text.duplicated()
    problems = [
        f"{describe_cell(path, row, values.name)}: blank; expected an id. Give every row its own."
        for row in values.index[is_blank]
    ]
    first_rows = {value: row for row, value in reversed(list(text.items()))}
    problems += [
        f"{describe_cell(path, row, values.name)}: {quote_value(text.loc[row])} is in row"
        f" {first_rows[text.loc[row]]}"
        f" already; expected every {values.name} once ({is_repeated.sum()} repeated). {remedy}"
        for row in values.index[is_repeated & ~is_blank]
    ]
    _raise_problems(path, problems)


def check_values(
    path: Path, values: Column, allowed_values: Sequence[object], remedy: str = "Correct the row."
) -> None:
    """Require that every value is allowed.

    "" must be among the allowed values if a blank has a meaning.
    """
    expected_values = ", ".join("blank" if value == "" else str(value) for value in allowed_values)
    refuse_values(
        path, values, ~values.isin(list(allowed_values)), f"one of: {expected_values}", remedy
    )


def refuse_values(
    path: Path,
    values: Column,
    is_wrong: "pd.Series[bool]",
    expected: str,
    remedy: str = "Correct the row.",
) -> None:
    """Raise `UserError` with a line for each wrong value of a column, if there is any."""
    if not is_wrong.any():
        return
    summary = f" ({is_wrong.sum()} of {len(values)} rows are wrong)" if len(values) > 1 else ""
    wrong_values = values[is_wrong.to_numpy()]
    complaints = dict.fromkeys(
        f"{describe_cell(path, row, values.name)}: found {quote_value(value)}"
        for row, value in wrong_values.items()
    )
    _raise_problems(
        path, [f"{place}, expected {expected}{summary}. {remedy}" for place in complaints]
    )


def _raise_problems(path: Path, problems: Sequence[str]) -> None:
    """Raise `UserError` with a line for each problem, or for the first ones of many."""
    if problems:
        remainder = (
            [f"{path}: and {len(problems) - _MAX_PROBLEMS} more."]
            if len(problems) > _MAX_PROBLEMS
            else []
        )
        raise UserError("\n".join([*problems[:_MAX_PROBLEMS], *remainder]))


def parse_whole_numbers(
    path: Path, values: Column, *, allows_blank: bool = False, minimum: int | None = None
) -> Column:
    """Return the column as Int64.

    A blank becomes missing if `allows_blank` allows it, and is an error otherwise.
    """
    text = values.str.strip()
    is_number = text.str.fullmatch(r"[+-]?[0-9]{1,18}")
    numbers = text.where(is_number).astype("Int64")
    is_valid = is_number | (text == "") if allows_blank else is_number
    if minimum is not None:
        is_valid &= (numbers >= minimum).fillna(value=True)
    expected = (
        "a whole number"
        + ("" if minimum is None else f" of at least {minimum}")
        + " or blank" * allows_blank
    )
    refuse_values(path, values, ~is_valid, expected)
    return numbers


def parse_booleans(path: Path, values: Column) -> Column:
    """Return the column as bool, from True and False in any case."""
    folded = values.str.strip().str.lower()
    check_values(
        path, values.where(~folded.isin(["true", "false"]), folded.str.title()), ["True", "False"]
    )
    return folded == "true"


def check_splits(
    name: str, labels: Sequence[str], targets: Mapping[str, str], splits: Mapping[str, str]
) -> None:
    """Require each of `labels` in every split of a data set.

    `targets` and `splits` are by case id.
    """
    for split_name in ("train", "validation", "test"):
        label_counts = Counter(
            targets[case_id] for case_id, case_split in splits.items() if case_split == split_name
        )
        for label in labels:
            if not label_counts[label]:
                counts_text = (
                    ", ".join(f"{count} {target}" for target, count in sorted(label_counts.items()))
                    or "no case at all"
                )
                raise UserError(
                    f"data set '{name}': the {split_name} split has no case of label '{label}'"
                    " (found"
                    f" {counts_text}; {len(targets)} cases in all); expected one of each label at"
                    " least."
                    " Use more cases."
                )


def describe_cell(path: Path, row: object, column: object) -> str:
    """Describe a cell's place in a table, for messages."""
    return f"{path}: row {row}, column '{column}'"


def check_header(
    path: Path,
    header: Sequence[str],
    columns: Sequence[str],
    delimiter: str = "",
    *,
    allows_repeated_columns: bool = False,
) -> None:
    """Require that a table has all of `columns`, and no column twice.

    With `allows_repeated_columns`, a column that is not in `columns` may occur twice.
    """
    repeated = [name for position, name in enumerate(header) if name in header[:position]]
    if allows_repeated_columns:
        repeated = [name for name in repeated if name in columns]
    if repeated:
        raise UserError(
            f"{path}: column {quote_value(repeated[0])} occurs twice in the header; expected every"
            " column once. Remove or rename one of them."
        )
    missing = [name for name in columns if name not in header]
    if missing:
        nearest = get_close_matches(missing[0], header, n=1, cutoff=0.7)
        hint = (
            f" (did you rename it to {quote_value(nearest[0])}?)"
            if nearest
            else _separator_hint(header, delimiter)
        )
        raise UserError(
            f"{path}: missing column{'s' if len(missing) > 1 else ''} {', '.join(missing)}{hint};"
            f" found {len(header)} columns: {quote_value(', '.join(header))}. Add the column, or"
            " use the"
            " file as it was published."
        )


def _separator_hint(header: Sequence[str], delimiter: str) -> str:
    """Suggest which separator a header with a single field may have."""
    if len(header) != 1 or not delimiter:
        return ""
    [field] = header
    if delimiter in field:
        return " (are whole lines in quotes? Then each line is one field: remove the outer quotes)"
    names = {";": "semicolons", "\t": "tabs", "|": "vertical bars", ",": "commas"}
    separator = next((name for mark, name in names.items() if mark in field), "")
    return (
        f" (are fields separated by {separator}? Expected {names.get(delimiter, delimiter)})"
        if separator
        else ""
    )


def _fit_to_header(record: list[str], header: Sequence[str]) -> list[str]:
    """Cut blank fields beyond the header, and add missing ones for columns without a name.

    Spreadsheets and scripts end lines with delimiters, sometimes only in the header or only in the
    rows.
    """
    fields = record
    while len(fields) > len(header) and not fields[-1].strip():
        fields = fields[:-1]
    while len(fields) < len(header) and not any(header[len(fields) :]):
        fields = [*fields, ""]
    return fields


def _describe_problem(record: Sequence[str], header: Sequence[str], get: str) -> str:
    """Describe a row of the wrong length, or one that repeats the header, as in files that were
    joined; "" for any other row.
    """
    if len(record) != len(header):
        is_short = len(record) < len(header)
        cause = "the row ends early (a truncated file?)" if is_short else "a delimiter too many"
        if len(header) == 1:
            cause += f" (is {quote_value(header[0])} a title above the header? Then remove it)"
        return (
            f"found {len(record)} fields, expected {len(header)}: {cause}. {describe_remedy(get)}"
        )
    cells = zip(record, header, strict=True)
    if len(header) > 1 and all(_plain(cell) == _plain(name) for cell, name in cells):
        return (
            "repeats the header; expected a row of data. Remove the row, which joined files have."
        )
    return ""


def _plain(cell: str) -> str:
    return cell.strip().lstrip("\ufeff")
