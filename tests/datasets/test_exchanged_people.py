"""Test people with one feature exchanged."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from moot.core.cases import Case
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded

Context = Callable[..., LoadContext]
SWAPPED = {"man": "woman", "he": "she", "his": "her", "him": "her", "himself": "herself"}


def load_people(context: Context, **options: Any) -> Loaded:
    entry = LOADERS["nlsy97"]
    options = {"source": "synthetic", "rows": 300, **options}
    return entry.load(entry.options.model_validate(options), context("nlsy97"))


def cases_of_test(loaded: Loaded) -> dict[str, Case]:
    return {case.case_id: case for case in loaded.cases if case.split == "test"}


NEUTRAL_WORDS = {
    "man": "PERSON", "woman": "PERSON", "he": "SUBJECT", "she": "SUBJECT", "his": "OTHER",
    "him": "OTHER", "her": "OTHER", "himself": "SELF", "herself": "SELF", "a": "ARTICLE",
    "an": "ARTICLE",
}  # fmt: skip


def neutral_words(text: str) -> list[str]:
    """Return the words of a narrative, with the same word for both sexes."""
    words = text.replace(".", "").replace(",", "").lower().split()
    return [NEUTRAL_WORDS.get(word, word) for word in words]


def test_exchanging_sex_changes_only_the_words_of_sex(load_context: Context) -> None:
    loaded_before = load_people(load_context)
    loaded_after = load_people(load_context, exchange="sex")
    originals, exchanged = cases_of_test(loaded_before), cases_of_test(loaded_after)
    assert originals.keys() == exchanged.keys()
    for case_id, case in originals.items():
        exchanged_case = exchanged[case_id]
        assert {case.attributes["sex"], exchanged_case.attributes["sex"]} == {"male", "female"}
        unchanged = {"text": case.text, "attributes": case.attributes}
        assert replace(exchanged_case, **unchanged) == case
        sexed = {"male": set(SWAPPED), "female": set(SWAPPED.values())}
        words = set(exchanged_case.text.lower().replace(".", "").replace(",", "").split())
        assert not words & (sexed[case.attributes["sex"]] - {"his", "her"}), exchanged_case.text
        assert neutral_words(case.text) == neutral_words(exchanged_case.text)
    others = [case for case in loaded_before.cases if case.split != "test"]
    assert others == [case for case in loaded_after.cases if case.split != "test"]
    assert loaded_before.features is not None and loaded_after.features is not None
    columns = loaded_before.features.columns.drop("sex")
    pd.testing.assert_frame_equal(loaded_before.features[columns], loaded_after.features[columns])
    changed = loaded_before.features["sex"].astype(str) != loaded_after.features["sex"].astype(str)
    assert (changed == (loaded_before.features["split"] == "test")).all()
    note = loaded_after.task.notes[-1]
    assert "counterfactual: in the test cases sex is exchanged between male and female" in note
    assert "height and weight" in note


def test_exchanging_race_does_not_change_people_of_other_races(load_context: Context) -> None:
    loaded_before = load_people(load_context)
    loaded_after = load_people(load_context, exchange="race")
    swapped = {"white": "black", "black": "white"}
    unchanged_count = 0
    for case_id, case in cases_of_test(loaded_before).items():
        race = case.attributes["race"]
        exchanged_case = cases_of_test(loaded_after)[case_id]
        assert exchanged_case.attributes["race"] == swapped.get(race, race)
        assert (exchanged_case.text == case.text) == (race not in swapped)
        unchanged_count += race not in swapped
    assert loaded_after.cleaning["test cases of another race, unchanged"] == unchanged_count > 0
    hispanic = load_people(load_context, exchange="race", exchange_values=["hispanic", "white"])
    assert hispanic.cleaning["test cases with race exchanged (hispanic, white)"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"exchange": "sex", "withhold": ["sex"]},
            "datasets.nlsy97.exchange: models do not read sex",
        ),
        (
            {"exchange": "race", "exchange_values": ["white", "blue"]},
            "found white and blue; expected two different values",
        ),
        (
            {"exchange": "race", "exchange_values": ["white", "white"]},
            "expected two different values of race",
        ),
        ({"exchange_values": ["white", "black"]}, "'exchange_values' needs `exchange`"),
    ],
)
def test_an_exchange_that_changes_nothing_is_refused(
    options: dict[str, Any], message: str, load_context: Context
) -> None:
    with pytest.raises((UserError, ValueError), match=message):
        load_people(load_context, **options)
