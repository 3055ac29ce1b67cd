"""The generator of the shipped COMPAS sample: made-up people in the columns of ProPublica's
filtered table.
"""

import math
import random
from collections.abc import Mapping
from typing import Any

import pandas as pd

from moot.studies.courtroom.people.synthetic import (
    Shares,
    draw_normal,
    draw_value,
    select_highest,
    to_text_table,
)

COMPAS_SHARES: dict[str, Shares] = {
    "sex": {"Male": 81, "Female": 19},
    "race": {
        "African-American": 51,
        "Caucasian": 34,
        "Hispanic": 8,
        "Other": 5,
        "Asian": 1,
        "Native American": 1,
    },
    "juv_fel_count": {0: 97, 1: 2, 2: 1},
    "juv_misd_count": {0: 94, 1: 4, 2: 1, 3: 1},
    "juv_other_count": {0: 93, 1: 5, 2: 1, 3: 1},
    "priors_count": {
        0: 34,
        1: 18,
        2: 11,
        3: 8,
        4: 5,
        5: 4,
        6: 3,
        7: 3,
        8: 2,
        9: 2,
        11: 4,
        14: 3,
        19: 2,
        24: 1,
    },
    "c_charge_degree": {"F": 64, "M": 36},
}


def compas_table(seed: int, rows: int) -> pd.DataFrame:
    """Return a table in the columns of the filtered COMPAS table, as text; `decile_score` is a
    noisy decile of the risk.
    """
    draw = random.Random(f"compas {seed}")
    people = [_compas_person(draw) for _ in range(rows)]
    risks = [_compas_risk(person) for person in people]
    rearrested = select_highest(draw, risks, round(rows * 0.455))
    guesses = [risk + 0.8 * draw_normal(draw) for risk in risks]
    ranks = {
        position: rank
        for rank, position in enumerate(sorted(range(rows), key=lambda index: guesses[index]))
    }
    for position, person in enumerate(people):
        person.update(
            decile_score=1 + 10 * ranks[position] // rows,
            two_year_recid=int(position in rearrested),
        )
    return to_text_table(people)


def _compas_person(draw: random.Random) -> dict[str, Any]:
    age = 18 + round(24 * math.exp(0.55 * draw_normal(draw)) * (0.1 + 0.9 * draw.random()))
    return {"age": min(age, 80)} | {
        name: draw_value(draw, shares) for name, shares in COMPAS_SHARES.items()
    }


def _compas_risk(person: Mapping[str, Any]) -> float:
    risk = (
        0.13 * min(person["priors_count"], 15)
        - 0.04 * (person["age"] - 34)
        + 0.3 * (person["sex"] == "Male")
    )
    juvenile = person["juv_fel_count"] + person["juv_misd_count"] + person["juv_other_count"]
    return float(risk + 0.4 * min(juvenile, 3) + 0.2 * (person["c_charge_degree"] == "F"))
