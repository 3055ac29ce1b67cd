"""Raw NLS Investigator extracts as a table of people, by the variable map
`config/nlsy97_variables.yaml`.

An extract is a CSV file with a column a reference number (or question name) and a row a respondent,
codes throughout. Extracts of several files are joined by the respondent's identifier. A code below
zero says why an answer is missing; such answers become missing values, and the cleaning report
counts every reason apart.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, ValidationError, model_validator

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.input_files import check_values, parse_whole_numbers, read_csv
from moot.core.strict_model import StrictModel
from moot.core.text_files import quote_value, read_text
from moot.core.types import Column
from moot.core.yaml_text import load_yaml
from moot.datasets import LoadContext
from moot.datasets.debate_records import leave_out
from moot.datasets.faulty_rows import LEFT_OUT, read_usable_rows
from moot.datasets.people.people_cases import People
from moot.studies.courtroom.people.nlsy97_columns import (
    CATEGORIES,
    FEATURES,
    FLAGS,
    PLAUSIBLE,
    TASK,
)
from moot.studies.courtroom.people.nlsy97_narrative import RACES

Outcome = Literal["rearrest", "incarcerated_2002"]
Reading = Literal["number", "years_until_2002", "feet_and_inches", "count_events", "any_event"]
FOLDER = Path("nlsy97/investigator")
VARIABLES = Path("config/nlsy97_variables.yaml")
_REMEDY = (
    "put your NLS Investigator extracts (CSV, reference numbers as headers) there, see"
    " data/raw/README.md, or choose source 'local', 'download' or 'synthetic'."
)
_INCARCERATION = replace(
    TASK,
    question="Was the defendant in jail or prison at any time in 2002?",
    meaning={
        "no": "the defendant was not in jail or prison in 2002",
        "yes": "the defendant was in jail or prison at some time in 2002",
    },
    background=(
        "The facts describe a young adult in the United States; they come from a survey that people"
        " answered about themselves."
    ),
    notes=(
        (
            "outcome: incarcerated in 2002, among all respondents; not the rearrest outcome of the"
            " paper"
        ),
    ),
)


class MonthlyColumns(StrictModel):
    """One extract column a month, its name a strftime pattern."""

    column: str
    first: str
    last: str

    def columns(self) -> list[str]:
        """Return the columns' names in order of time."""
        return [
            str(month.strftime(self.column))
            for month in pd.period_range(self.first, self.last, freq="M")
        ]


class Variable(StrictModel):
    """How one column of the table is read from an extract; the file's header comment explains each
    key.
    """

    column: str = ""
    columns: tuple[str, ...] = ()
    months: MonthlyColumns | None = None
    codes: dict[int, bool | str] = Field(default_factory=dict)
    read: Reading | None = None
    optional: bool = False
    among: str = ""
    seen: Literal["codebook", "value labels", "public rename"]

    @model_validator(mode="after")
    def _check_source_and_reading(self) -> "Variable":
        if sum(map(bool, (self.column, self.columns, self.months))) != 1:
            raise ValueError("needs exactly one of column, columns, months")
        if bool(self.codes) == bool(self.read):
            raise ValueError("needs either codes or read")
        return self

    def names(self) -> list[str]:
        """Return the extract columns that it takes."""
        return self.months.columns() if self.months else list(self.columns or (self.column,))


class VariableMap(StrictModel):
    """The whole map, `config/nlsy97_variables.yaml`."""

    identifier: str
    missing: dict[int, str]
    previously: int
    variables: dict[str, Variable]
    outcomes: dict[str, Variable]


def read_people(context: LoadContext, outcome: Outcome, faulty: float = 0.0) -> People:
    """Read the people of all extracts in the folder, with the available features and the outcome.

    Each respondent has one id in all extracts. This distinguishes people with equal features.
    `faulty` is the largest share of rows with a fault that are left out.

    Raises:
        UserError: there is no extract, a file is faulty, extracts contradict each other, a required
            column is missing in all of them, a code is unknown, or no person has a known outcome.
    """
    path = context.shipped / VARIABLES
    variables = read_variables(path)
    decoded = {**variables.variables, outcome: variables.outcomes[outcome]}

    def check_codes(file: Path, codes: pd.DataFrame) -> None:
        for name, variable in decoded.items():
            if set(variable.names()) <= {*codes}:
                decode(file, codes[variable.names()], name, variable, variables)

    reader = ExtractReader(variables.identifier, check_codes, faulty)
    extracts = reader.read_folder(context.data_root / FOLDER)
    extract = extracts.frame
    frame = pd.DataFrame(
        {"id": "nlsy97-" + extract[variables.identifier].astype("str")}, index=extract.index
    )
    cleaning: Counter[str] = Counter({"respondents read": len(extract), **reader.cleaning})
    for name, variable in variables.variables.items():
        absent_columns = [column for column in variable.names() if column not in extract]
        if absent_columns and not variable.optional:
            raise _absent_column_error(extracts, name, absent_columns)
        if absent_columns:
            cleaning[f"{name} left out: no column {absent_columns[0]}"] = len(absent_columns)
        else:
            frame[name], missing = decode(
                extracts.folder, extract[variable.names()], name, variable, variables
            )
            cleaning.update(missing)
    for name in [name for name in PLAUSIBLE if name in frame]:
        frame[name], counts = PLAUSIBLE[name].check(frame[name])
        cleaning.update(counts)
    people = _select_people(extracts, frame, outcome, variables, cleaning)
    return replace(people, sources=(*extracts.files, path))


def read_variables(path: Path) -> VariableMap:
    """Return the variable map; raises `UserError` naming the entry at fault."""
    try:
        variables = VariableMap.model_validate(load_yaml(read_text(path)))
    except yaml.YAMLError as fault:
        raise UserError(
            f"{path}: not YAML ({' '.join(str(fault).split())}). Correct the file."
        ) from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(
            f"{path}: {place}: {first['msg']}; found {quote_value(first['input'])}. Correct the"
            " entry."
        ) from fault
    unknown_features = sorted(set(variables.variables) - set(FEATURES))
    if unknown_features:
        raise UserError(
            f"{path}: variables.{unknown_features[0]}: expected one of {', '.join(FEATURES)}."
        )
    return variables


@dataclass(frozen=True, slots=True)
class Extracts:
    """All extracts joined: one row a respondent, Int64 codes."""

    folder: Path
    frame: pd.DataFrame
    files: tuple[Path, ...]


CheckCodes = Callable[[Path, pd.DataFrame], None]
"""Raises `UserError` if a row has an unknown code; gets the file and its codes (Int64)."""


class ExtractReader:
    """Reads and joins extracts, without the respondents that have a fault in a file.

    Args:
        identifier: the column with the respondent.
        check_codes: checks the codes of rows.
        faulty: the largest share of rows with a fault that are left out.

    Attributes:
        cleaning: the number of rows that are left out.
    """

    def __init__(self, identifier: str, check_codes: CheckCodes, faulty: float = 0.0) -> None:
        self._identifier, self._check_codes, self._faulty = identifier, check_codes, faulty
        self.cleaning: dict[str, int] = {}

    def read_folder(self, folder: Path) -> Extracts:
        """Join all CSV files of a folder by respondent.

        A respondent with a fault in one file is left out of all.

        Raises:
            UserError: there is no file, or more rows than the share `faulty` have a fault. A column
                in two files must say the same in both.
        """
        files = sorted(folder.glob("*.csv"))
        if not files:
            raise UserError(f"{folder}: no CSV file there; {_REMEDY}")
        extracts = [self._read_file(path) for path in files]
        respondents = set[int]()
        unusable = set[int]()
        for extract in extracts:
            respondents |= extract.respondents
            unusable |= extract.unusable
        usable_codes = {
            extract.path: extract.codes[~extract.codes.index.isin(list(unusable))]
            for extract in extracts
        }
        contradictions = _find_contradictions(usable_codes)
        left_out = len(contradictions)
        if left_out:
            messages = list(contradictions.values())
            remedy = "Extract anew, or allow more."
            leave_out(messages, left_out, len(respondents), self._faulty, remedy, "respondents")
            self.cleaning[LEFT_OUT] = self.cleaning.get(LEFT_OUT, 0) + left_out
        frame = _join(usable_codes.values(), set(contradictions))
        usable = read_usable_rows(
            folder,
            lambda _: frame,
            lambda rows: self._check_codes(folder, rows),
            self._faulty,
            self.cleaning,
        )
        return Extracts(folder=folder, frame=usable, files=tuple(files))

    def _read_file(self, path: Path) -> "_Extract":
        """Read a file, and check its codes."""
        respondents = set[int]()
        unusable = set[int]()

        def read_rows(faults: Faults) -> pd.DataFrame:
            records: list[list[str]] = []
            table = read_csv(
                path, [self._identifier], get=_REMEDY, faults=faults, broken_records=records
            )
            respondents.update(_read_numbers(table[self._identifier]))
            for message, record in zip(faults.messages, records, strict=True):
                if len(record) != len(table.columns):
                    unusable.add(self._identify(list(table.columns), record, message))
            return table

        usable = read_usable_rows(
            path,
            read_rows,
            lambda rows: self._check_codes(path, _parse_codes(path, rows)),
            self._faulty,
            self.cleaning,
            unique=self._identifier,
        )
        codes = _parse_codes(path, usable).set_index(self._identifier)
        unusable |= respondents - {*codes.index}
        return _Extract(path, codes, respondents, unusable)

    def _identify(self, header: Sequence[str], record: Sequence[str], message: str) -> int:
        """Return the respondent of a row of the wrong length, which other files may have, too.

        Raises:
            UserError: the row does not begin with its respondent.
        """
        first_cell = record[0].strip()
        if header[0] != self._identifier or not first_cell.isdecimal():
            raise UserError(
                f"{message} Such a row can be left out (`faulty`) only if it begins with the number"
                f" of its respondent ('{self._identifier}'); found {quote_value(first_cell)} in"
                f" column '{header[0]}'."
            )
        return int(first_cell)


@dataclass(frozen=True, slots=True)
class _Extract:
    """One file.

    Attributes:
        path: the file.
        codes: the codes of its usable rows, by respondent.
        respondents: of all rows of the right length.
        unusable: the respondents of rows with a fault.
    """

    path: Path
    codes: pd.DataFrame
    respondents: set[int]
    unusable: set[int]


def _parse_codes(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """Return the whole numbers of a table of text."""
    return pd.DataFrame(
        {name: parse_whole_numbers(path, table[name], allows_blank=True) for name in table}
    )


def _read_numbers(cells: Column) -> set[int]:
    """Return the whole numbers among cells of text."""
    return {int(cell) for cell in cells.str.strip() if cell.isdecimal()}


def _find_contradictions(codes_by_file: Mapping[Path, pd.DataFrame]) -> dict[int, str]:
    """Return a message for each respondent of whom two files say different things."""
    messages: dict[int, str] = {}
    for (_, earlier), (path, codes) in combinations(codes_by_file.items(), 2):
        for name in earlier.columns.intersection(codes.columns):
            pairs = earlier[name].to_frame("one")
            common = pairs.join(codes[name].rename("other"), how="inner").dropna()
            for respondent, pair in common[common["one"] != common["other"]].iterrows():
                message = (
                    f"{path}: respondent {respondent}, column '{name}': found {pair['other']}, but"
                    f" another extract there says {pair['one']}; expected extracts of one release."
                    " Extract anew."
                )
                messages.setdefault(int(str(respondent)), message)
    return messages


def _join(tables: Iterable[pd.DataFrame], left_out: Collection[int]) -> pd.DataFrame:
    """Return one row a respondent, with the columns of all tables; the first of two equals."""
    frame_of_all: pd.DataFrame | None = None
    for codes in tables:
        if frame_of_all is None:
            frame_of_all = codes
        else:
            new_columns = codes.columns.difference(frame_of_all.columns, sort=False)
            frame_of_all = frame_of_all.join(codes[new_columns], how="outer")
    assert frame_of_all is not None  # noqa: S101
    frame = frame_of_all[~frame_of_all.index.isin(list(left_out))].sort_index().reset_index()
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return frame


def decode(
    path: Path, codes: pd.DataFrame, name: str, variable: Variable, variables: VariableMap
) -> tuple[Column, dict[str, int]]:
    """Return one column of the table from its extract columns (codes, Int64), and how often it is
    missing for which reason.
    """
    if variable.read in ("count_events", "any_event"):
        return _decode_events(codes, name, variable, variables)
    reasons = (
        pd.concat([codes[column].map(variables.missing) for column in codes])
        .groupby(level=0)
        .first()
    )
    cleaning = {
        f"{name} missing: {reason}": count
        for reason, count in sorted(Counter(reasons.dropna()).items())
    }
    blank = int(np.count_nonzero(codes.isna().any(axis=1) & reasons.isna()))
    cleaning |= {f"{name} missing: blank": blank} if blank else {}
    valid = codes.mask(codes.isin(list(variables.missing)))
    if variable.codes:
        return _map_codes(path, valid.iloc[:, 0], name, variable.codes), cleaning
    if (valid < 0).any(axis=None):
        column = str(valid.columns[(valid < 0).any()][0])
        raise _unknown_code_error(path, valid[column], column, [*variables.missing, "0 and above"])
    readings = {
        "number": lambda: valid.iloc[:, 0],
        "years_until_2002": lambda: 2002 - valid.iloc[:, 0],
        "feet_and_inches": lambda: 12 * valid.iloc[:, 0] + valid.iloc[:, 1],
    }
    return readings[str(variable.read)](), cleaning


def _map_codes(path: Path, valid: Column, name: str, codes: Mapping[int, bool | str]) -> Column:
    check_values(path, valid.dropna(), list(codes), "Add the code to config/nlsy97_variables.yaml.")
    if name in FLAGS:
        return valid.map(codes).astype("boolean")
    categories = RACES if name == "race" else [value or "none" for value in CATEGORIES[name]]
    return valid.map(codes).astype(pd.CategoricalDtype(list(categories)))


def _decode_events(
    codes: pd.DataFrame, name: str, variable: Variable, variables: VariableMap
) -> tuple[Column, dict[str, int]]:
    is_unknown = codes.isna() | (codes < 0)
    events = codes.mask(is_unknown | (codes == variables.previously), 0)
    total = events.sum(axis=1).astype("Int64")
    if variable.read == "count_events":
        is_unasked = is_unknown.all(axis=1)
        return total.mask(is_unasked), {
            f"{name} missing: not asked about any month": int(is_unasked.sum())
        }
    is_undecided = is_unknown.any(axis=1) & (total == 0)
    cleaning = {
        f"{name} unknown: no event seen, and some month not asked about": int(is_undecided.sum())
    }
    return (total > 0).astype("boolean").mask(is_undecided), cleaning


def _select_people(
    extracts: Extracts,
    frame: pd.DataFrame,
    outcome: Outcome,
    variables: VariableMap,
    cleaning: Counter[str],
) -> People:
    variable = variables.outcomes[outcome]
    absent_columns = [column for column in variable.names() if column not in extracts.frame]
    if absent_columns or (variable.among and variable.among not in frame):
        columns = absent_columns or variables.variables[variable.among].names()
        raise _absent_column_error(
            extracts,
            f"outcome {outcome}",
            columns,
            _suggest_outcomes(extracts.frame, outcome, variables),
        )
    occurred, missing = decode(
        extracts.folder, extracts.frame[variable.names()], outcome, variable, variables
    )
    cleaning.update(missing)
    is_selected = occurred.notna()
    if variable.among:
        is_eligible = frame[variable.among].fillna(0) > 0
        cleaning[f"respondents outside the question: {variable.among} is 0 or unknown"] = int(
            (~is_eligible).sum()
        )
        is_selected &= is_eligible
    cleaning["respondents kept"] = int(is_selected.sum())
    if not is_selected.any():
        raise UserError(
            f"{extracts.folder}: no person has a known '{outcome}'; expected some. Check the"
            " extract."
        )
    people = frame[is_selected].copy()
    people.insert(1, "label", occurred[is_selected].map({True: "yes", False: "no"}).astype("str"))
    task = TASK if outcome == "rearrest" else _INCARCERATION
    features = [name for name in FEATURES if name in people]
    source_note = (
        f"built from raw NLS Investigator extracts: {len(features)} of the {len(FEATURES)} features"
    )
    return People(
        people,
        features,
        replace(task, notes=(source_note, *task.notes)),
        dict(cleaning),
        are_distinct=True,
    )


def _suggest_outcomes(extract: pd.DataFrame, outcome: str, variables: VariableMap) -> str:
    alternatives = [
        name
        for name, candidate in variables.outcomes.items()
        if name != outcome and set(candidate.names()) <= {*extract}
    ]
    return f" These extracts allow outcome: {', '.join(alternatives)}." if alternatives else ""


def _absent_column_error(
    extracts: Extracts, name: str, columns: Sequence[str], hint: str = ""
) -> UserError:
    column_list = ", ".join(columns[:3]) + (
        f" and {len(columns) - 3} more" if len(columns) > 3 else ""
    )
    return UserError(
        f"{extracts.folder}: {name} needs column {column_list}, which none of {len(extracts.files)}"
        f" extracts has (found {len(extracts.frame.columns)} columns); expected it as a header. Add"
        f" it to your Investigator extract, or change {VARIABLES}.{hint}"
    )


def _unknown_code_error(
    path: Path, values: Column, column: str, codes: Sequence[object]
) -> UserError:
    row = values.index[values < 0][0]
    expected = ", ".join(map(str, codes))
    return UserError(
        f"{path}: row {row}, column '{column}': found code {values[row]}, expected one of:"
        f" {expected}."
    )
