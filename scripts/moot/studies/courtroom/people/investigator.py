"""Raw NLS Investigator extracts as a table of people, by the variable map
`config/nlsy97_variables.yaml`.

A code below zero says why an answer is missing; such answers become missing values, and the
cleaning report counts every reason apart.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
import yaml
from pydantic import Field, ValidationError, model_validator

from moot.core.errors import UserError
from moot.core.input_files import check_values
from moot.core.strict_model import StrictModel
from moot.core.text_files import quote_value, read_text
from moot.core.types import Column
from moot.core.yaml_text import load_yaml
from moot.datasets import LoadContext
from moot.datasets.people.people_cases import People
from moot.studies.courtroom.people.nlsy97_columns import (
    CATEGORIES,
    FEATURES,
    FLAGS,
    PLAUSIBLE,
    TASK,
)
from moot.studies.courtroom.people.nlsy97_extracts import Extracts, read_extracts
from moot.studies.courtroom.people.nlsy97_narrative import RACES

Outcome = Literal["rearrest", "incarcerated_2002"]
Reading = Literal["number", "years_until_2002", "feet_and_inches", "count_events", "any_event"]
FOLDER = Path("nlsy97/investigator")
VARIABLES = Path("config/nlsy97_variables.yaml")
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

    folder = context.data_root / FOLDER
    extracts = read_extracts(folder, variables.identifier, check_codes, faulty)
    extract = extracts.frame
    frame = pd.DataFrame(
        {"id": "nlsy97-" + extract[variables.identifier].astype("str")}, index=extract.index
    )
    cleaning: Counter[str] = Counter({"respondents read": len(extract), **extracts.cleaning})
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
