"""Raw NLS Investigator extracts, made into a table of people.

They are read and checked; the map of variables is `config/nlsy97_variables.yaml`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Literal

import pandas as pd

from moot.core.errors import UserError
from moot.core.types import Column
from moot.datasets import LoadContext
from moot.datasets.people.people_cases import People
from moot.datasets.reading.checks import DataFaults, check_header, check_unique, parse_whole_numbers
from moot.datasets.reading.delimited import read_csv
from moot.studies.courtroom.nlsy97_variables import (
    FEATURES,
    PLAUSIBLE,
    TASK,
    VARIABLES,
    Variable,
    VariableMap,
    decode,
    plain_header,
    read_variables,
)

_GET = (
    "put your NLS Investigator extracts (CSV) there, see data/raw/README.md, or choose source"
    " 'local', 'download' or 'synthetic'."
)

CheckCodes = Callable[[Path, pd.DataFrame], None]
"""Raises `UserError` if a row has an unknown code; gets the file and its codes (Int64)."""


@dataclass(frozen=True, slots=True)
class Extracts:
    """All extracts joined: one row a respondent, Int64 codes."""

    folder: Path
    frame: pd.DataFrame
    files: tuple[Path, ...]


def read_extracts(folder: Path, variables: VariableMap, check_codes: CheckCodes) -> Extracts:
    """Read all CSV files of a folder, and join them by respondent.

    Args:
        folder: the folder of the extracts.
        variables: the names of their columns, which become reference numbers.
        check_codes: checks the codes of rows.

    Raises:
        UserError: there is no file, a row has a fault, or two files have different codes of a
            respondent in a column.
    """
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise UserError(f"{folder}: no CSV file there; {_GET}")
    faults, codes_by_file = DataFaults(), dict[Path, pd.DataFrame]()
    for path in files:
        with faults.noting():
            codes_by_file[path] = _read_file(path, variables, check_codes)
    for message in _find_contradictions(codes_by_file):
        faults.add(message)
    faults.check()
    frame = _join([*codes_by_file.values()])
    check_codes(folder, frame)  # a variable may need the columns of several files
    return Extracts(folder, frame, tuple(files))


def _read_file(path: Path, variables: VariableMap, check_codes: CheckCodes) -> pd.DataFrame:
    """Return the codes of a file by respondent, after their check."""
    numbers = variables.reference_numbers()
    identifier = variables.identifier[0]
    table = read_csv(path, [], get=_GET)
    table.columns = [numbers.get(plain_header(str(header)), header) for header in table]
    mapped = set(numbers.values()) & {*table.columns}
    check_header(path, [*table.columns], [identifier, *sorted(mapped)])
    faults, columns = DataFaults(), dict[str, Column]()
    with faults.noting():
        check_unique(path, table[identifier])
    for name in table:
        with faults.noting():
            columns[str(name)] = parse_whole_numbers(path, table[name], allows_blank=True)
    codes = pd.DataFrame(columns)
    with faults.noting():
        check_codes(path, codes)
    faults.check()
    return codes.set_index(identifier)


def _find_contradictions(codes_by_file: Mapping[Path, pd.DataFrame]) -> list[str]:
    """Return a message for each respondent of whom two files say different things."""
    messages: dict[int, str] = {}
    for (_, earlier), (path, codes) in combinations(codes_by_file.items(), 2):
        for name in earlier.columns.intersection(codes.columns):
            pairs = earlier[name].to_frame("earlier").join(codes[name].rename("later"), how="inner")
            pairs = pairs.dropna()
            for respondent, pair in pairs[pairs["earlier"] != pairs["later"]].iterrows():
                message = (
                    f"{path}: respondent {respondent}, column '{name}': found {pair['later']}, but"
                    f" another extract there says {pair['earlier']}; expected extracts of one"
                    " release. Extract anew."
                )
                messages.setdefault(int(str(respondent)), message)
    return [*messages.values()]


def _join(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return one row a respondent, with the columns of all tables.

    A cell is the value of the first table that has one.
    """
    frame, *further_tables = tables
    for codes in further_tables:
        columns = [*frame, *codes.columns.difference(frame.columns, sort=False)]
        frame = frame.combine_first(codes)[columns].astype("Int64")
    frame = frame.sort_index().reset_index()
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return frame


Outcome = Literal["rearrest", "incarcerated_2002"]
FOLDER = Path("nlsy97/investigator")
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


def read_people(context: LoadContext, outcome: Outcome) -> People:
    """Read the people of all extracts in the folder, with the available features and the outcome.

    Each respondent has one id in all extracts. This distinguishes people with equal features.

    Raises:
        UserError: there is no extract, a file is faulty, extracts contradict each other, a required
            column is missing in all of them, a code is unknown, or no person has a known outcome.
    """
    path = context.shipped / VARIABLES
    variables = read_variables(path)
    decoded = {**variables.variables, outcome: variables.outcomes[outcome]}

    def check_codes(file: Path, codes: pd.DataFrame) -> None:
        faults = DataFaults()
        for name, variable in decoded.items():
            if set(variable.names()) <= {*codes}:
                with faults.noting():
                    decode(file, codes[variable.names()], name, variable, variables)
        faults.check()

    folder = context.data_root / FOLDER
    extracts = read_extracts(folder, variables, check_codes)
    extract = extracts.frame
    respondents = extract[variables.identifier[0]].astype("str")
    frame = pd.DataFrame({"id": "nlsy97-" + respondents}, index=extract.index)
    cleaning: Counter[str] = Counter({"respondents read": len(extract)})
    for name, reason in variables.unmapped.items():
        cleaning[f"{name} left out: {reason}"] = 1
    for name, variable in variables.variables.items():
        absent_columns = _find_absent_columns(variable, extract)
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


def _select_people(
    extracts: Extracts,
    frame: pd.DataFrame,
    outcome: Outcome,
    variables: VariableMap,
    cleaning: Counter[str],
) -> People:
    variable = variables.outcomes[outcome]
    absent_columns = _find_absent_columns(variable, extracts.frame)
    if absent_columns or (variable.among and variable.among not in frame):
        columns = absent_columns or _find_absent_columns(
            variables.variables[variable.among], extracts.frame
        )
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


def _find_absent_columns(variable: Variable, extract: pd.DataFrame) -> list[str]:
    """Return the names of each column that a variable needs and the extract does not have."""
    return [" or ".join(names) for names in variable.spellings() if names[0] not in extract]


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
