"""Test that a planted effect of the words of sex is recovered without bias and covered.

It has 200 worlds. Slow: only this test detects a biased estimate or interval whose
formula looks correct.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.analyses.counterfactual.tables import PREDICTION, TellingPair, _compare
from moot.stats.arrays import as_numbers
from planted_answers import (
    LIKED,
    SEEDS,
    TASK,
    answer,
    assert_recovered,
    case_with_sex,
    probability_of_yes,
)

pytestmark = pytest.mark.slow


def test_a_planted_effect_of_the_words_of_sex_is_recovered() -> None:
    """60 people are described as men and as women; answers prefer YES where it says "man"."""
    people = [f"c{number:03d}" for number in range(60)]
    recorded = {name: ("man", "woman")[number // 2 % 2] for number, name in enumerate(people)}
    told_man = [probability_of_yes(label, LIKED) for label in TASK.labels]
    told_woman = [probability_of_yes(label, 0.0) for label in TASK.labels]
    truth = float(np.mean(told_man) - np.mean(told_woman))
    estimates = []
    for seed in range(SEEDS):
        frames = []
        for exchanged in (False, True):
            answers = []
            for number, sex in enumerate(recorded.values()):
                other_sex = {"man": "woman", "woman": "man"}[sex]
                person = case_with_sex(number, other_sex if exchanged else sex)
                answers.append(answer(seed, person))
            index = pd.MultiIndex.from_product([people, [0]], names=["case_id", "repeat"])
            frames.append(
                pd.DataFrame({PREDICTION: as_numbers(np.array(answers) == "yes")}, index=index)
            )
        origin: Any = SimpleNamespace(clusters={name: name for name in people}, seed=seed)
        difference, _ = _compare(
            TellingPair("m", "m", *frames), PREDICTION, people, recorded, "man", origin
        )
        estimates.append((difference.difference, difference.low, difference.high))
    assert truth > 0.15
    assert_recovered(estimates, truth)
