"""The variable map `config/nlsy97_variables.yaml`, and the columns that it decodes from codes.

A code below zero says why an answer is missing; such answers become missing values, and the
cleaning report counts every reason apart.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, ValidationError, model_validator

from moot.core.cases import Task
from moot.core.errors import UserError
from moot.core.strict_model import StrictModel
from moot.core.text_files import quote_value, read_text
from moot.core.types import Column
from moot.core.yaml_text import load_yaml
from moot.datasets.people.people_cases import PlausibleRange, typed_columns
from moot.datasets.reading.checks import check_values, parse_booleans, parse_whole_numbers
from moot.studies.courtroom.nlsy97_narrative import (
    AREAS,
    DEPRESSIONS,
    EDUCATIONS,
    GUARDIANS,
    MARITAL_STATUSES,
    PHRASES,
    RACES,
)

LABEL = "y_arrestedafter2002"
FEATURES = tuple(PHRASES)
CATEGORIES: dict[str, tuple[str, ...]] = {
    "sex": ("male", "female"),
    "race": tuple(RACES)[:6],
    "married02": MARITAL_STATUSES,
    "college02": EDUCATIONS,
    "parentrelations": GUARDIANS,
    "urbanrural": AREAS,
    "depression": DEPRESSIONS,
    "marijuana_anydrug": ("", "marijuana", "marijuana_anydrug"),
}
PLAUSIBLE = {  # the survey's people were born in 1980 to 1984
    "age": PlausibleRange(16, 24, "years"),
    "experience02": PlausibleRange(0, 30, "jobs"),
    "hhsize97": PlausibleRange(1, 30, "people"),
    "numberofarrestsby2002": PlausibleRange(0, 200, "arrests"),
    "height_total_inches": PlausibleRange(48, 84, "inches"),
    "num_weight": PlausibleRange(80, 700, "pounds"),
}
FLAGS = tuple(name for name in FEATURES if name not in CATEGORIES and name not in PLAUSIBLE)
MAY_BE_BLANK = ("height_total_inches", "num_weight")

TASK = Task(
    noun="the defendant",
    question="Will the defendant be arrested again within three years?",
    labels=("no", "yes"),
    positive="yes",
    meaning={
        "no": "the defendant will not be arrested again within three years",
        "yes": "the defendant will be arrested again within three years",
    },
    background=(
        "The facts describe a young adult in the United States, arrested at least once, as of the"
        " year 2002; they come from a survey that people answered about themselves."
    ),
    roles={"prosecutor": "the prosecutor", "defense": "the defense attorney", "judge": "the judge"},
)


def clean(path: Path, table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Check and type the published columns of text: id, label, features (bool, Int64, category).

    Also return the cleaning report: counts by description. A blank in marijuana_anydrug means
    "none", and "Unknown" stays a separate value.
    """
    frame, cleaning = typed_columns(path, table, FEATURES, CATEGORIES, PLAUSIBLE, MAY_BE_BLANK)
    frame.insert(0, "id", parse_whole_numbers(path, table["id"]).astype("str"))
    frame.insert(1, "label", parse_booleans(path, table[LABEL]).map({True: "yes", False: "no"}))
    frame["marijuana_anydrug"] = frame["marijuana_anydrug"].cat.rename_categories({"": "none"})
    cleaning["marijuana_anydrug blank, read as no drugs"] = int(
        (table["marijuana_anydrug"] == "").sum()
    )
    for name in ("parentrelations", "urbanrural"):
        cleaning[f"{name} Unknown, kept as a value"] = int((table[name] == "Unknown").sum())
    return frame, cleaning


VARIABLES = Path("config/nlsy97_variables.yaml")
Reading = Literal["number", "years_until_2002", "feet_and_inches", "count_events", "any_event"]


ColumnNames = Annotated[tuple[str, ...], Field(min_length=1)]
"""The names of an extract column: its reference number, and its question name if it is known."""


class MonthlyColumns(StrictModel):
    """One extract column a month, its names patterns of the month."""

    column: ColumnNames
    first: str
    last: str

    def columns(self) -> list[ColumnNames]:
        """Return the columns' names in order of time."""
        names: list[ColumnNames] = []
        for month in pd.period_range(self.first, self.last, freq="M"):
            parts = {"year": month.year, "since_1980": month.year - 1980, "month": month.month}
            names.append(tuple(name.format(**parts) for name in self.column))
        return names


class Variable(StrictModel):
    """How one column of the table is read from an extract.

    The header comment of the file of variables explains each key.
    """

    column: ColumnNames | None = None
    columns: tuple[ColumnNames, ...] = ()
    months: MonthlyColumns | None = None
    codes: dict[int, bool | str] = Field(default_factory=dict)
    read: Reading | None = None
    optional: bool = False
    among: str = ""
    seen: Literal["codebook", "value labels", "public rename", "neighbours"]

    @model_validator(mode="after")
    def _check_source_and_reading(self) -> "Variable":
        if sum(map(bool, (self.column, self.columns, self.months))) != 1:
            raise ValueError("needs exactly one of column, columns, months")
        if bool(self.codes) == bool(self.read):
            raise ValueError("needs either codes or read")
        return self

    def spellings(self) -> list[ColumnNames]:
        """Return the extract columns that it takes, each with all of its names."""
        if self.months:
            return self.months.columns()
        return [*self.columns] or [self.column or ()]

    def names(self) -> list[str]:
        """Return the reference numbers of the extract columns that it takes."""
        return [number for number, *_ in self.spellings()]


class VariableMap(StrictModel):
    """The whole map."""

    identifier: ColumnNames
    missing: dict[int, str]
    previously: int
    variables: dict[str, Variable]
    unmapped: dict[str, str]
    outcomes: dict[str, Variable]

    def reference_numbers(self) -> dict[str, str]:
        """Return the reference number of each name of a column, by the name's plain spelling."""
        numbers = dict.fromkeys(map(plain_header, self.identifier), self.identifier[0])
        for entry in (*self.variables.values(), *self.outcomes.values()):
            for names in entry.spellings():
                numbers |= dict.fromkeys(map(plain_header, names), names[0])
        return numbers


def plain_header(header: str) -> str:
    """Return the letters and digits of a header: the Investigator's formats differ in the marks.

    >>> plain_header("KEY!SEX_1997") == plain_header("key_sex_1997")
    True
    """
    return "".join(filter(str.isalnum, header)).upper()


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
    for part, names in (("variables", variables.variables), ("unmapped", variables.unmapped)):
        unknown_features = sorted(set(names) - set(FEATURES))
        if unknown_features:
            raise UserError(
                f"{path}: {part}.{unknown_features[0]}: expected one of {', '.join(FEATURES)}."
            )
    return variables


def decode(
    path: Path, codes: pd.DataFrame, name: str, variable: Variable, variables: VariableMap
) -> tuple[Column, dict[str, int]]:
    """Return one column of the table from its extract columns, and counts of missing values.

    The extract columns hold codes (Int64); values are counted by the reason that they are missing.
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


def _unknown_code_error(
    path: Path, values: Column, column: str, codes: Sequence[object]
) -> UserError:
    row = values.index[values < 0][0]
    expected = ", ".join(map(str, codes))
    return UserError(
        f"{path}: row {row}, column '{column}': found code {values[row]}, expected one of:"
        f" {expected}."
    )
