"""Synthetic people: tables in the published columns, drawn by a seed, about no real person.

The shares of each value are the published shares, rounded; the dependence of the outcome
on the features has a plausible strength (a good model reaches an AUC near 0.7), but is not an
estimate. Only `random.Random.random` and `choices` are used, whose sequences are stable in Python,
so a seed gives the same table everywhere.
"""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from moot.core.types import Fields, JsonObject

Shares = Mapping[Any, float]

NLSY97_SHARES: dict[str, Shares] = {
    "sex": {"male": 72, "female": 28},
    "age": {18: 19, 19: 21, 20: 21, 21: 21, 22: 18},
    "race": {
        "white": 47,
        "black": 30,
        "hispanic": 19,
        "asian or pacific islander": 2,
        "mixed-race": 1,
        "american indian, eskimo or aleut": 1,
    },
    "married02": {
        "never married, not cohabiting": 75,
        "never married, cohabiting": 16,
        "married, spouse present": 6,
        "married, spouse absent": 1,
        "separated, not cohabiting": 1,
        "divorced, not cohabiting": 1,
    },
    "experience02": {0: 21, 1: 32, 2: 24, 3: 15, 4: 6, 5: 2},
    "hhsize97": {2: 6, 3: 18, 4: 31, 5: 24, 6: 12, 7: 5, 8: 2, 9: 1, 10: 1},
    "parentrelations": {
        "biological mother, marital status unknown": 43,
        "both biological parents": 28,
        "Unknown": 13,
        "other adults, biological parent status unknown, not group quarters": 5,
        "biological dad, marital status unknown": 5,
        "biological mother, other parent present": 4,
        "adoptive parent(s)": 1,
        "biological father, other parent present": 1,
    },
    "urbanrural": {"urban": 60, "Unknown": 27, "rural": 13},
    "homelessness": {False: 95, True: 5},
    "faminjail": {False: 87, True: 13},
    "foodstamp": {False: 90, True: 10},
    "victim": {False: 87, True: 13},
    "askgod": {True: 69, False: 31},
    "godhasnothingtodo": {False: 72, True: 28},
    "depression": {
        "none of the time": 56,
        "some of the time": 33,
        "most of the time": 8,
        "all of the time": 3,
    },
    "numberofarrestsby2002": {1: 54, 2: 20, 3: 8, 4: 6, 5: 3, 6: 2, 7: 2, 8: 1, 9: 1, 10: 2, 13: 1},
}
_SCHOOLING_AT_18: Shares = {
    "enrolled in grades 1-12, not a high school graduate": 26,
    "not enrolled, no high school degree, no GED": 38,
    "not enrolled, high school degree": 14,
    "not enrolled, GED": 9,
    "enrolled in a 4-year college": 7,
    "enrolled in a 2-year college": 5,
    "not enrolled, some college": 1,
}
_SCHOOLING_LATER: Shares = {
    "enrolled in grades 1-12, not a high school graduate": 4,
    "not enrolled, no high school degree, no GED": 30,
    "not enrolled, high school degree": 25,
    "not enrolled, GED": 14,
    "not enrolled, some college": 11,
    "enrolled in a 4-year college": 9,
    "enrolled in a 2-year college": 6,
    "not enrolled, 4-year college graduate": 1,
}
_HEIGHT = {"male": (70.2, 2.9), "female": (64.4, 2.6)}  # inches: mean, standard deviation
_BODY_MASS = {"male": 24.6, "female": 24.4}  # median body-mass index
_TYPING_ERRORS = {
    "height_total_inches": (-27, 38, 87, 92, 93),
    "num_weight": (3, 6, 12, 12, 12, 12, 55, 56, 56, 59, 60),
}
_PUBLISHED_ROWS, _PUBLISHED_REARRESTED = 1412, 393


def generate_nlsy97(seed: int, rows: int = _PUBLISHED_ROWS) -> pd.DataFrame:
    """Generate a table in the columns of the published NLSY97 recidivism table, as text.

    It includes typing errors and blanks.

    Args:
        seed: determines the table.
        rows: the number of people; the share of rearrested ones is the published 393 of 1412.
    """
    draw = random.Random(f"nlsy97 {seed}")  # noqa: S311
    people = [_draw_person(draw) for _ in range(rows)]
    risks = [_rearrest_risk(person) for person in people]
    rearrested = select_highest(draw, risks, round(rows * _PUBLISHED_REARRESTED / _PUBLISHED_ROWS))
    for position, person in enumerate(people):
        person.update(id=position + 1, y_arrestedafter2002=position in rearrested)
    for column, errors in _TYPING_ERRORS.items():
        for error in errors[: round(len(errors) * rows / _PUBLISHED_ROWS)]:
            people[int(draw.random() * rows)][column] = error
    return to_text_table(people)


def _draw_person(draw: random.Random) -> JsonObject:
    person = {name: draw_value(draw, shares) for name, shares in NLSY97_SHARES.items()}
    person["college02"] = draw_value(
        draw, _SCHOOLING_AT_18 if person["age"] == 18 else _SCHOOLING_LATER
    )
    person["marijuana_anydrug"] = draw_value(
        draw, {"marijuana_anydrug": 70, "marijuana": 2, "": 28}
    )
    cocaine = {"marijuana_anydrug": 0.42, "marijuana": 1.0, "": 0.0}[person["marijuana_anydrug"]]
    person["cocaine"] = draw.random() < cocaine
    person["convictedby2002"] = draw.random() < min(
        0.9, 0.4 + 0.1 * person["numberofarrestsby2002"]
    )
    person.update(_draw_measures(draw, person["sex"]))
    return person


def _draw_measures(draw: random.Random, sex: str) -> dict[str, int]:
    mean, deviation = _HEIGHT[sex]
    height = round(mean + deviation * draw_normal(draw))
    body_mass = _BODY_MASS[sex] * math.exp(0.19 * draw_normal(draw))
    weight = round(body_mass * height**2 / 703)  # the body-mass index in inches and pounds
    return {"height_total_inches": min(max(height, 56), 80), "num_weight": max(weight, 90)}


def _rearrest_risk(person: Fields) -> float:
    schooling = str(person["college02"])
    risk = 0.6 * (person["sex"] == "male") + 0.13 * min(person["numberofarrestsby2002"], 8)
    risk += 0.8 * person["homelessness"] + 0.3 * person["faminjail"] + 0.25 * person["victim"]
    risk += (
        0.5 * (person["marijuana_anydrug"] != "")
        + 0.25 * person["cocaine"]
        + 0.2 * person["convictedby2002"]
    )
    risk += (
        0.5 * ("no GED" in schooling)
        - 0.6 * ("college" in schooling)
        - 0.8 * ("spouse present" in person["married02"])
    )
    risk += 0.3 * (person["depression"] == "most of the time") + 0.25 * (
        person["urbanrural"] == "rural"
    )
    return float(
        risk - 0.1 * (person["age"] - 20) - 0.1 * person["experience02"] - 0.1 * person["askgod"]
    )


def select_highest(draw: random.Random, risks: Sequence[float], count: int) -> set[int]:
    """Return the `count` rows of highest risk after logistic noise.

    This is a logistic model with an exact number of positives.
    """
    uniforms = [draw.random() or 0.5 for _ in risks]
    noisy = [
        risk + math.log(uniform / (1 - uniform))
        for risk, uniform in zip(risks, uniforms, strict=True)
    ]
    return set(sorted(range(len(noisy)), key=lambda position: (-noisy[position], position))[:count])


def draw_value(draw: random.Random, shares: Shares) -> Any:
    """Return a value drawn with the probability of its share."""
    return draw.choices(list(shares), weights=list(shares.values()))[0]


def draw_normal(draw: random.Random) -> float:
    """Return a number drawn from the standard normal distribution."""
    return math.sqrt(-2 * math.log(1 - draw.random())) * math.cos(2 * math.pi * draw.random())


def _as_text(person: Fields) -> dict[str, str]:
    return {name: str(value) for name, value in person.items()}


def to_text_table(people: Sequence[Fields]) -> pd.DataFrame:
    """Return the people as a table of text, with rows numbered from 1."""
    frame = pd.DataFrame(map(_as_text, people), dtype="str")
    frame.index = pd.RangeIndex(1, len(people) + 1, name="row")
    return frame
