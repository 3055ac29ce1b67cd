"""Raw NLS Investigator extracts as a table of people, by the variable map
`config/nlsy97_variables.yaml`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pandas as pd

from moot.core.errors import UserError
from moot.datasets import LoadContext
from moot.datasets.people.people_cases import People
from moot.studies.courtroom.people.nlsy97_columns import FEATURES, PLAUSIBLE, TASK
from moot.studies.courtroom.people.nlsy97_extracts import Extracts, read_extracts
from moot.studies.courtroom.people.nlsy97_variables import (
    VARIABLES,
    Variable,
    VariableMap,
    decode,
    read_variables,
)

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
    extracts = read_extracts(folder, variables, check_codes, faulty)
    extract = extracts.frame
    respondents = extract[variables.identifier[0]].astype("str")
    frame = pd.DataFrame({"id": "nlsy97-" + respondents}, index=extract.index)
    cleaning: Counter[str] = Counter({"respondents read": len(extract), **extracts.cleaning})
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
