"""The NLSY97 recidivism table: its columns and their values, what is asked of a case, and how the table is cleaned."""

from pathlib import Path

import pandas as pd

from moot.core.cases import Task
from moot.core.input_files import booleans, check_values, whole_numbers
from moot.datasets.people.nlsy97_narrative import (
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
NUMBERS = ("age", "experience02", "hhsize97", "numberofarrestsby2002", "num_weight", "height_total_inches")
FLAGS = tuple(name for name in FEATURES if name not in CATEGORIES and name not in NUMBERS)
PLAUSIBLE = {"height_total_inches": (48, 84, "inches"), "num_weight": (80, 700, "pounds")}

TASK = Task(
    noun="the defendant",
    question="Will the defendant be arrested again within three years?",
    labels=("no", "yes"),
    positive="yes",
    meaning={
        "no": "the defendant will not be arrested again within three years",
        "yes": "the defendant will be arrested again within three years",
    },
    background="The facts describe a young adult in the United States, arrested at least once, as of the year 2002; "
    "they come from a survey that people answered about themselves.",
    roles={"prosecutor": "the prosecutor", "defense": "the defense attorney", "judge": "the judge"},
)


def clean(path: Path, table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, int]]:
    """Check and type the published columns; say what was found.

    Args:
        path: named in messages.
        table: text columns as `moot.core.input_files.read_csv` gives them.

    Returns:
        The frame (id, label, features: bool, Int64, category) and the cleaning report, description to count.
        Impossible heights and weights
        become missing; a blank in marijuana_anydrug means "none", and "Unknown" stays a value of its own.
    """
    cleaning = {"rows read": len(table)}
    frame = pd.DataFrame({"id": whole_numbers(path, table["id"]).astype("str")})
    frame["label"] = booleans(path, table[LABEL]).map({True: "yes", False: "no"})
    for name in FEATURES:
        if name in NUMBERS:
            frame[name] = whole_numbers(path, table[name], blank=name in PLAUSIBLE)
        elif name in FLAGS:
            frame[name] = booleans(path, table[name])
        else:
            check_values(path, table[name], CATEGORIES[name])
            frame[name] = pd.Categorical(table[name], categories=list(CATEGORIES[name]))
    frame["marijuana_anydrug"] = frame["marijuana_anydrug"].cat.rename_categories({"": "none"})
    for name, (lowest, highest, unit) in PLAUSIBLE.items():
        cleaning |= drop_impossible(frame, name, lowest, highest, unit)
    cleaning["marijuana_anydrug blank, read as no drugs"] = int((table["marijuana_anydrug"] == "").sum())
    for name in ("parentrelations", "urbanrural"):
        cleaning[f"{name} Unknown, kept as a value"] = int((table[name] == "Unknown").sum())
    return frame, cleaning


def drop_impossible(frame: pd.DataFrame, name: str, lowest: int, highest: int, unit: str) -> dict[str, int]:
    """Make values outside the plausible range missing, in place, and say how many there were."""
    impossible = ((frame[name] < lowest) | (frame[name] > highest)).fillna(value=False)
    frame.loc[impossible, name] = pd.NA
    return {f"{name} outside {lowest} to {highest} {unit}, made missing": int(impossible.sum())}
