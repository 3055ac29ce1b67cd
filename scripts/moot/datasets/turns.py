"""Read tables with a row per turn or per answer, and check everything that can be wrong with them.

The checks note all faults first. Debates with a fault are left out if they are few; otherwise one
error lists the faults. A file or a row that cannot be read is an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from moot.core.errors import UserError
from moot.core.text_files import quote_value
from moot.core.types import Column
from moot.datasets.debate_records import PERCENT
from moot.datasets.reading.checks import RowChecker, read_whole_numbers
from moot.datasets.reading.tables import read_table
from moot.datasets.turn_columns import TranscriptsOptions, TurnColumns
from moot.datasets.words_in_files import check_label_count, find_label, is_listed

PUBLIC_MARKS = ("", "public", "all")
"""Values of the column `visibility` that mean: everybody can read the turn."""
_MAX_RATING = 10
"""The highest value of usual scales of rating, which are not per cent."""
_ADD_OR_CORRECT = "Correct the row, or add its value to `labels` or `no_answer`."


class WordLabels(NamedTuple):
    """The meanings of words.

    Attributes:
        label_of_word: the label that each answer means; None for a word that means no answer.
        label_of_truth: the label that each true answer means.
        labels: all labels; of two, the negative one first.
    """

    label_of_word: Mapping[str, str | None]
    label_of_truth: Mapping[str, str | None]
    labels: tuple[str, ...]


def read_labels(rows: pd.DataFrame, check: RowChecker, options: TranscriptsOptions) -> WordLabels:
    """Find the meanings of the words in the columns with answers and true labels."""
    names = options.columns
    label_of_word = _read_column(rows, check, options, names.answer, options.labels)
    truth_labels = options.truth_labels or options.labels
    label_of_truth = _read_column(rows, check, options, names.truth, truth_labels)
    labels = _list_labels({**label_of_word, **label_of_truth}, options)
    _check_labels(labels, options)
    return WordLabels(label_of_word, label_of_truth, labels)


def _read_column(
    rows: pd.DataFrame,
    check: RowChecker,
    options: TranscriptsOptions,
    column: str,
    labels: Mapping[str, str],
) -> dict[str, str | None]:
    """Return the label of each word of a column; None for a word without one.

    Words that mean neither a label nor a missing answer are noted by `check`.
    """
    if not column:
        return {}
    rows[column] = rows[column].str.strip()
    label_of_word = {word: _label(word, options, labels) for word in sorted(rows[column].unique())}
    unknown_words = [
        word
        for word, label in label_of_word.items()
        if label is None and not _means_no_answer(word, options)
    ]
    expected = f"one of {', '.join(labels) or 'a label'}"
    check.refuse(rows[column], rows[column].isin(unknown_words), expected, _ADD_OR_CORRECT)
    return label_of_word


def _list_labels(
    label_of_word: Mapping[str, str | None], options: TranscriptsOptions
) -> tuple[str, ...]:
    """Return the labels of the options, else the labels in the table, sorted.

    Of two labels, `positive` is the last.
    """
    present = {label for label in label_of_word.values() if label is not None}
    labels = list(dict.fromkeys(options.labels.values() or sorted(present)))
    if len(labels) == 2:
        labels.sort(key=lambda label: label == options.positive)
    return tuple(labels)


def _label(word: str, options: TranscriptsOptions, labels: Mapping[str, str]) -> str | None:
    """Return the label that a word means; None if it means none."""
    if _means_no_answer(word, options):
        return None
    return find_label(word, labels) if labels else word.strip().casefold()


def _means_no_answer(word: str, options: TranscriptsOptions) -> bool:
    """Return whether a cell holds no answer: most turns of a debate leave it blank."""
    return not word or is_listed(word, options.no_answer)


def _check_labels(labels: Sequence[str], options: TranscriptsOptions) -> None:
    """Require some labels but not too many, and that `positive` and `truth` are labels."""
    check_label_count(options.path, options.columns.answer or options.columns.truth, len(labels))
    if not labels:
        raise UserError(
            f"{options.path}: no answers, and no labels. List the possible answers in `labels`."
        )
    for option, label in (("positive", options.positive), ("truth", options.truth)):
        if label and label not in labels:
            raise UserError(
                f"{options.path}: {option} is {quote_value(label)}; expected one of"
                f" {', '.join(labels)}."
            )


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
        faults: a line for each fault of the debates that are left out.
    """

    rows: pd.DataFrame
    words: WordLabels
    positive: str
    account: Mapping[str, int]
    faults: Sequence[str]


def read_turns(options: TranscriptsOptions) -> Turns:
    """Read and check the files.

    A few debates with a fault (the option `faulty`) are left out and counted.

    Raises:
        UserError: a missing file or column, or one that cannot be read; or, in more debates than
            `faulty` allows, a turn without a debate or a speaker, a repeated turn, an unreadable
            number, an unknown label, a belief outside 0 to 1, or
            rows that contradict each other about one case. Each message names file, row, column,
            the value and what was expected.
    """
    files, names = options.files, options.columns
    check = RowChecker(files, options.faulty, "debates" if names.debate else "answers")
    rows = check.read(partial(_read_file, options=options))
    _check_filled(rows, check, names)
    _add_columns(rows, check, names)
    _check_constant(rows, check, options)
    _read_beliefs(rows, check, options)
    words = read_labels(rows, check, options)
    rows_read, debates = len(rows), rows["(debate)"].nunique()
    _refuse_repeated_turns(rows, check, names)
    rows = check.without_faulty(rows, group="(debate)")
    # the rows of a debate may lie apart
    order = ["(debate)", "(turn)"] if names.turn else ["(debate)"]
    rows = rows.sort_values(order, kind="stable")
    usable = rows["(debate)"].nunique()
    account = {
        "rows read": rows_read,
        check.noun: usable,
        f"{check.noun} left out because of faults": debates - usable,
    }
    positive = options.positive or (words.labels[1] if len(words.labels) == 2 else "")
    account["answers that contradict the belief stated with them"] = _count_contradictions(
        rows, names, words, positive
    )
    counts = {description: count for description, count in account.items() if count}
    return Turns(rows, words, positive, counts, check.lines)


def _read_file(path: Path, options: TranscriptsOptions) -> pd.DataFrame:
    """Return the rows of one file, with the columns that the options name."""
    columns = list(dict.fromkeys([*options.columns.column_names, *options.case_columns]))
    table = read_table(path, columns, sheet=options.sheet, turns=options.turns)
    if options.turns and options.columns.debate:
        return _move_verdicts_to_end(table, options)
    if options.turns:
        table.index = pd.RangeIndex(1, len(table) + 1, name="row")  # each object is an answer
    return table


def _move_verdicts_to_end(table: pd.DataFrame, options: TranscriptsOptions) -> pd.DataFrame:
    """Move what a record says outside its turns about a verdict to a row after its last turn."""
    verdict_columns = options.record_columns
    if not verdict_columns:
        return table
    verdicts = table[~table.index.duplicated(keep="last")].copy()
    names = options.columns
    kept = {*verdict_columns, names.turn, names.round}
    for column in verdicts:
        if str(column).startswith(options.turns_prefix) and column not in kept:
            verdicts[column] = ""
    turns = table.assign(**dict.fromkeys(verdict_columns, ""))
    turns_columns = [name for name in map(str, turns) if name.startswith(options.turns_prefix)]
    has_turn = (turns[turns_columns] != "").any(axis="columns")  # a debate may have no turn
    return pd.concat([turns[has_turn], verdicts]).sort_index(kind="stable")


def _check_filled(rows: pd.DataFrame, check: RowChecker, names: TurnColumns) -> None:
    """Require a debate, a case and a speaker in each row."""
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


def _add_columns(rows: pd.DataFrame, check: RowChecker, names: TurnColumns) -> None:
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


def _judge_repeats(rows: pd.DataFrame, check: RowChecker, names: TurnColumns) -> Column:
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
    if names.judge and not names.turn:
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


def _check_constant(rows: pd.DataFrame, check: RowChecker, options: TranscriptsOptions) -> None:
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
    """Return the values of a column, and in each row the first value of its group.

    Blank values are missing.
    """
    values = rows[column].where(rows[column].str.strip() != "")
    return values, values.groupby(rows[group], sort=False).transform("first")


def _read_beliefs(rows: pd.DataFrame, check: RowChecker, options: TranscriptsOptions) -> None:
    """Make beliefs shares and confidences per cent; a blank cell is missing."""
    names = options.columns
    if names.belief:
        rows[names.belief] = _read_numbers(rows[names.belief], check, 0, 1)
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


def _read_numbers(cells: Column, check: RowChecker, lowest: float, highest: float) -> Column:
    is_filled = cells.str.strip() != ""
    words = cells.where(is_filled).str.replace(",", ".")  # decimal commas
    numbers = pd.to_numeric(words, errors="coerce").astype("float64")
    is_faulty = is_filled & ~numbers.between(lowest, highest)
    check.refuse(cells, is_faulty, f"a number from {lowest:g} to {highest:g}")
    return numbers


def _count_contradictions(
    rows: pd.DataFrame, names: TurnColumns, words: WordLabels, positive: str
) -> int:
    """Return how many answers name another label than the belief beside them."""
    if not (names.answer and names.belief):
        return 0
    answers = rows[names.answer].map(words.label_of_word)
    agrees, beliefs = answers == positive, rows[names.belief]
    contradicts = (agrees & (beliefs < 1 / 2)) | (~agrees & answers.notna() & (beliefs > 1 / 2))
    return int(contradicts.sum())


def _whole_numbers(
    cells: Column, check: RowChecker, allows_blank: "pd.Series[bool] | None" = None
) -> Column:
    """Return the cells as integers (1.0 is 1, a blank cell is 0); notes those that are not."""
    numbers = read_whole_numbers(cells)
    is_faulty = numbers.isna()
    if allows_blank is not None:
        is_faulty &= ~((cells.str.strip() == "") & allows_blank)
    check.refuse(cells, is_faulty, "a whole number")
    return numbers.fillna(0).astype("int64")


def _refuse_repeated_turns(rows: pd.DataFrame, check: RowChecker, names: TurnColumns) -> None:
    """Note the turns that a debate has twice; several judges may follow one turn."""
    if names.turn and not names.judge:
        check.refuse(
            rows[names.turn],
            rows.duplicated(["(debate)", "(turn)"]),
            "each turn of a debate once",
            "Remove the repeated row, or number the turns of each debate.",
        )
