"""Read tables with a row per turn or per answer, and check everything that can be wrong with them.

The checks note all faults first. Debates with a fault are left out if they are few; otherwise one
error lists the faults.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.types import Column
from moot.core.utterance_kinds import CONCLUSION
from moot.datasets.case_table import find_cases_without_row, look_up_case, read_case_table
from moot.datasets.debate_records import PERCENT
from moot.datasets.reading.tables import read_table, select_rows
from moot.datasets.turn_checker import TurnChecker
from moot.datasets.turn_columns import TranscriptsOptions, TurnColumns
from moot.datasets.turn_labels import WordLabels, read_labels

PUBLIC_MARKS = ("", "public", "all")
"""Values of the column `visibility` that mean: everybody can read the turn."""
LACKS_TURN = "(lacks turn)"
"""The column that holds whether a row of the debate cannot be read; in files with such rows."""
_MAX_RATING = 10
"""The highest value of usual scales of rating, which are not per cent."""
_ROUNDING = 0.02
"""How far the sum of the stated probabilities of all labels may be from 1."""


@dataclass(frozen=True, slots=True)
class Turns:
    """A checked table of turns.

    Attributes:
        rows: the turns in order, debate by debate. It has the columns that `TurnColumns` names:
            strings, with beliefs and confidences as numbers. It also has `(debate)` (the number of
            the debate from 0; in a table of answers the number of the row), `(case)`, `(method)`,
            `(round)`, `(repeat)` and `(judge_repeat)`. The index is the number of the file and the
            row.
        words: the labels that words mean.
        positive: the label that binary scores call positive.
        account: counts, by short description.
    """

    rows: pd.DataFrame
    words: WordLabels
    positive: str
    account: Mapping[str, int]


def read_turns(options: TranscriptsOptions) -> Turns:
    """Read and check the files.

    A few debates with a fault (the option `faulty`) are left out and counted.

    Raises:
        UserError: a missing file or column; or, in more debates than `faulty` allows, a file that
            cannot be read, a turn without a debate or a speaker, a repeated turn, an unreadable
            number, time or JSON object, an unknown label, a belief outside 0 to 1, beliefs that do
            not add up to 1, or rows that contradict each other about one case. Each message names
            file, row, column, the value and what was expected.
    """
    files, names = options.files, options.columns
    check = TurnChecker(files, options.faulty, "debates" if names.debate else "answers")
    cases = pd.DataFrame()
    if options.case_table:
        cases = read_case_table(options.case_table, options.case_columns, check.faults)
    rows = _read_files(check, options, set(cases.columns))
    _extract(rows, check, options)
    _add_case_columns(rows, check, options, cases)
    _check_filled(rows, check, names)
    _refuse_incomplete_debates(rows, check, names)
    _add_columns(rows, check, names)
    _check_constant(rows, check, options)
    _read_beliefs(rows, check, options)
    words = read_labels(rows, check, options)
    rows_read, debates = len(rows), rows["(debate)"].nunique()
    rows = check.without_faulty(rows, debates)
    _refuse_repeated_turns(rows, check, names)
    rows = check.without_faulty(rows, debates)
    rows, order_account = _sort_turns(rows, files[0], names)
    usable = rows["(debate)"].nunique()
    account = {
        "rows read": rows_read,
        check.noun: usable,
        f"{check.noun} left out because of faults": debates + check.unreadable - usable,
        **order_account,
    }
    positive = options.positive or (words.labels[1] if len(words.labels) == 2 else "")
    account["answers that contradict the belief stated with them"] = _count_contradictions(
        rows, names, words, positive
    )
    counts = {description: count for description, count in account.items() if count}
    return Turns(rows, words, positive, counts)


def _read_files(
    check: TurnChecker, options: TranscriptsOptions, case_columns: set[str]
) -> pd.DataFrame:
    """Read the rows of all files, without the columns of the table of cases.

    A file or a row that cannot be read counts as one debate that is left out, unless no file can
    be read.
    """
    tables = dict[int, pd.DataFrame]()
    for number, file in enumerate(check.files):
        with check.faults.noting():
            broken_rows = Faults()
            tables[number] = _read_file(file, options, case_columns, broken_rows)
            check.unreadable += len(broken_rows.messages)
            check.faults.add_all(broken_rows)
    unreadable_files = len(check.files) - len(tables)
    check.unreadable += unreadable_files
    if not tables:
        message = check.faults.messages[0]
        if unreadable_files > 1:
            message += f"\nNone of the {unreadable_files} files can be read."
        raise UserError(message)
    return pd.concat(tables, names=["file", "row"])


def _read_file(
    path: Path, options: TranscriptsOptions, case_columns: set[str], faults: Faults
) -> pd.DataFrame:
    """Return one file, with the columns that the options name and that are not `case_columns`."""
    added = set(case_columns)
    for pattern in options.extract.values():
        added |= set(re.compile(pattern).groupindex)
    named = dict.fromkeys([*options.columns.column_names, *options.case_columns])
    columns = [name for name in named if name not in added]
    needed_columns = dict.fromkeys([*columns, *options.extract, *options.where])
    table = read_table(
        path, list(needed_columns), kind=options.format, turns=options.turns, faults=faults
    )
    if options.turns and options.columns.debate:
        table = _move_verdicts_to_end(table, options)
    elif options.turns:
        table.index = pd.RangeIndex(1, len(table) + 1, name="row")  # each object is an answer
    if faults.messages and options.columns.debate in table:
        table[LACKS_TURN] = _find_incomplete_debates(table, options.columns.debate)
    return select_rows(path, table, options.where)


def _move_verdicts_to_end(table: pd.DataFrame, options: TranscriptsOptions) -> pd.DataFrame:
    """Move what a record says outside its turns about a verdict to a row after its last turn."""
    verdict_columns = options.record_columns
    if not verdict_columns:
        return table
    verdicts = table[~table.index.duplicated(keep="last")].copy()
    names = options.columns
    kept = {*verdict_columns, names.turn, names.time, names.round}
    for column in verdicts:
        if str(column).startswith(options.turns_prefix) and column not in kept:
            verdicts[column] = ""
    turns = table.assign(**dict.fromkeys(verdict_columns, ""))
    turns_columns = [name for name in map(str, turns) if name.startswith(options.turns_prefix)]
    has_turn = (turns[turns_columns] != "").any(axis="columns")  # a debate may have no turn
    return pd.concat([turns[has_turn], verdicts]).sort_index(kind="stable")


def _find_incomplete_debates(table: pd.DataFrame, debate: str) -> "pd.Series[bool]":
    """Return which rows belong to a debate with a gap between two of its rows."""
    numbers = pd.Series(table.index, table.index)
    has_gap = (numbers.shift(-1) - numbers > 1) & (table[debate].shift(-1) == table[debate])
    return table[debate].isin(table.loc[has_gap.to_numpy(), debate])


def _refuse_incomplete_debates(rows: pd.DataFrame, check: TurnChecker, names: TurnColumns) -> None:
    """Note the debates in which a row between two others cannot be read."""
    if LACKS_TURN in rows:
        is_incomplete = rows[LACKS_TURN].eq(other=True)
        remedy = "Correct the row that cannot be read."
        check.refuse(rows[names.debate], is_incomplete, "a debate with all its turns", remedy)


def _add_case_columns(
    rows: pd.DataFrame, check: TurnChecker, options: TranscriptsOptions, cases: pd.DataFrame
) -> None:
    """Add the columns of the table of cases to the turns of each case."""
    if options.case_table:
        names = options.columns
        ids = rows[names.case or names.debate]
        expected = f"a case of {options.case_table.path}"
        remedy = "Add the case there, or correct the row."
        check.refuse(ids, find_cases_without_row(ids, cases), expected, remedy)
        for column in cases:
            rows[column] = look_up_case(ids, cases, str(column))


def _extract(rows: pd.DataFrame, check: TurnChecker, options: TranscriptsOptions) -> None:
    """Add the columns that `extract` takes out of other columns."""
    for column, pattern in options.extract.items():
        groups = rows[column].str.extract(re.compile(pattern))
        no_match = groups.isna().all(axis="columns")
        check.refuse(rows[column], no_match, f"text that matches {pattern} of `extract`")
        rows[groups.columns] = groups.fillna("")


def _check_filled(rows: pd.DataFrame, check: TurnChecker, names: TurnColumns) -> None:
    """Require a debate, a case and a speaker in each row, and no kind that moot reserves."""
    for column, expected in (
        (names.debate, "a debate"),
        (names.case, "a case"),
        (names.speaker, "a speaker"),
    ):
        if column:
            is_blank = rows[column].str.strip() == ""
            if column == names.speaker and names.judge:
                is_blank &= rows[names.judge].str.strip() == ""
            check.refuse(rows[column], is_blank, expected, "Fill it in, or remove the row.")
    if names.kind:
        is_reserved = rows[names.kind].str.casefold() == CONCLUSION
        check.refuse(rows[names.kind], is_reserved, "another word, because moot reserves this one")


def _add_columns(rows: pd.DataFrame, check: TurnChecker, names: TurnColumns) -> None:
    """Add the columns in brackets, which order and identify the turns."""
    rows["(method)"] = rows[names.method].str.strip() if names.method else ""
    rows["(case)"] = rows[names.case or names.debate]
    debates = rows[names.debate] if names.debate else rows.index
    rows["(debate)"] = pd.factorize(debates)[0]
    rows["(round)"] = 0
    if names.round:
        may_be_blank = pd.Series(True, rows.index)
        rows["(round)"] = _whole_numbers(rows[names.round], check, may_be_blank)
    rows["(repeat)"] = _whole_numbers(rows[names.repeat], check) if names.repeat else 0
    rows["(judge_repeat)"] = _judge_repeats(rows, check, names)
    if names.turn:
        rows["(turn)"] = _whole_numbers(rows[names.turn], check)
    if names.time:
        rows["(time)"] = _times(rows[names.time], check)


def _judge_repeats(rows: pd.DataFrame, check: TurnChecker, names: TurnColumns) -> Column:
    """Number the answers of a judge to one debate from 0, by their column or by their order.

    A row without a judge may have no number.
    """
    if names.judge_repeat:
        may_be_blank = rows[names.judge].str.strip() == "" if names.judge else None
        repeats: Column = _whole_numbers(rows[names.judge_repeat], check, may_be_blank)
        has_repeat = rows[names.judge_repeat].str.strip() != ""
        first_repeat = repeats.where(has_repeat).min()
        repeats = (repeats - first_repeat).where(has_repeat, 0)
        return repeats.astype("int64")
    if names.judge and not (names.turn or names.time):
        return _count_judge_repeats(rows, names)
    return pd.Series(0, rows.index)


def _count_judge_repeats(rows: pd.DataFrame, names: TurnColumns) -> "pd.Series[int]":
    """Number the answers of a judge to one debate in the order of the rows, from 0.

    Answers after different rounds are no repeats: the judge states an answer after each round.
    """
    answer_keys = ["(case)", names.method, names.model, names.repeat]
    debate_keys = ["(debate)"] if names.debate else answer_keys
    round_keys = ["(round)"] if names.round else []
    keys = [*debate_keys, *round_keys, names.judge, names.persona]
    return rows.groupby([*filter(None, keys)]).cumcount()


def _check_constant(rows: pd.DataFrame, check: TurnChecker, options: TranscriptsOptions) -> None:
    """Require one case and method in all rows of a debate, and equal facts in all rows of a case.

    A value that only the first rows of a case state is filled in for the others.
    """
    names = options.columns
    if names.debate:
        for column in filter(None, (names.case, names.method)):
            values, first = _first_values(rows, column, names.debate)
            differs = values.notna() & (values != first)
            check.refuse(rows[column], differs, "the same in all rows of a debate")
    for column in options.case_columns:
        values, first = _first_values(rows, column, "(case)")
        rows[column] = values.fillna(first).fillna("")
        differs = values.notna() & (values != first)
        check.refuse(rows[column], differs, "the same in all rows of a case")


def _first_values(rows: pd.DataFrame, column: str, group: str) -> tuple[Column, Column]:
    """Return the values of a column, missing where blank; and in each row the first one of its
    group.
    """
    values = rows[column].where(rows[column].str.strip() != "")
    return values, values.groupby(rows[group], sort=False).transform("first")


def _read_beliefs(rows: pd.DataFrame, check: TurnChecker, options: TranscriptsOptions) -> None:
    """Make beliefs shares and confidences per cent; a blank cell is missing."""
    names = options.columns
    columns = list(names.beliefs.values())
    for column in columns:
        rows[column] = _read_numbers(rows[column], check, 0, 1)
    if names.confidence:
        lowest, highest = options.confidence_scale or (0, PERCENT)
        numbers = _read_numbers(rows[names.confidence], check, lowest, highest)
        if options.confidence_scale is None and numbers.max() <= _MAX_RATING:
            raise UserError(
                f"{options.path}: column '{names.confidence}' holds no number above"
                f" {numbers.max():g}; expected numbers from 0 to 100. State their scale, such as"
                " `confidence_scale: [0, 1]`."
            )
        rows[names.confidence] = (numbers - lowest) / (highest - lowest) * PERCENT
    if len(columns) > 1:
        total = rows[columns].sum(axis="columns", min_count=1)
        is_off = (total - 1).abs() > _ROUNDING
        shown = total.round(3).rename(" + ".join(columns))
        check.refuse(shown, is_off, "probabilities that add up to 1")


def _read_numbers(cells: Column, check: TurnChecker, lowest: float, highest: float) -> Column:
    is_filled = cells.str.strip() != ""
    words = cells.where(is_filled).str.replace(",", ".")  # decimal commas
    numbers = pd.to_numeric(words, errors="coerce").astype("float64")
    is_faulty = is_filled & ~numbers.between(lowest, highest)
    check.refuse(cells, is_faulty, f"a number from {lowest:g} to {highest:g}")
    return numbers


def _count_contradictions(
    rows: pd.DataFrame, names: TurnColumns, words: WordLabels, positive: str
) -> int:
    """Return how many answers name another label than the belief in one label beside them."""
    if not names.answer or len(names.beliefs) != 1:
        return 0
    [(label, column)] = names.beliefs.items()
    answers = rows[names.answer].map(words.label_of_word)
    agrees = answers == (label or positive)
    beliefs = rows[column]
    contradicts = (agrees & (beliefs < 1 / 2)) | (~agrees & answers.notna() & (beliefs > 1 / 2))
    return int(contradicts.sum())


def _whole_numbers(
    cells: Column, check: TurnChecker, allows_blank: "pd.Series[bool] | None" = None
) -> Column:
    """Return the cells as integers (1.0 is 1, a blank cell is 0); notes those that are not."""
    numbers = cells.str.strip().str.replace(r"\.0+$", "", regex=True)
    is_number = numbers.str.fullmatch(r"-?[0-9]{1,18}")
    is_faulty = ~is_number
    if allows_blank is not None:
        is_faulty &= ~((numbers == "") & allows_blank)
    check.refuse(cells, is_faulty, "a whole number")
    return numbers.where(is_number, "0").astype("int64")


def _times(cells: Column, check: TurnChecker) -> "pd.Series[float]":
    """Return the cells as seconds since 1970 if they are dates, else as plain numbers."""
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.isna().any():
        dates = pd.to_datetime(cells, errors="coerce", utc=True, format="ISO8601")
        check.refuse(cells, dates.isna(), "a number, or a date and time such as 2026-01-31 14:05")
        numbers = (dates - pd.Timestamp(0, tz="UTC")) / pd.Timedelta(seconds=1)
    return numbers.astype("float64")


def _refuse_repeated_turns(rows: pd.DataFrame, check: TurnChecker, names: TurnColumns) -> None:
    """Note the turns that a debate has twice; several judges may follow one turn."""
    if names.turn and not names.judge:
        check.refuse(
            rows[names.turn],
            rows.duplicated(["(debate)", "(turn)"]),
            "each turn of a debate once",
            "Remove the repeated row, or number the turns of each debate.",
        )


def _sort_turns(
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
