"""The NLSY97 recidivism table: columns, values, the question about a case, and cleaning."""

from pathlib import Path

import pandas as pd

from moot.core.cases import Task
from moot.datasets.people.people_cases import PlausibleRange, typed_columns
from moot.datasets.reading.checks import parse_booleans, parse_whole_numbers
from moot.studies.courtroom.people.nlsy97_narrative import (
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
