"""Narratives of NLSY97 tell every fact and no other, in correct sentences, and no withheld fact."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.datasets import LoadContext
from moot.studies.courtroom.data_nlsy97 import Nlsy97Options, load
from moot.studies.courtroom.nlsy97_narrative import narrate
from moot.studies.courtroom.nlsy97_variables import CATEGORIES, FEATURES, FLAGS, PLAUSIBLE

GENDERED = re.compile(
    r"\b(he|she|him|his|her|hers|himself|herself|man|woman|male|female)\b", re.IGNORECASE
)


def check_narrative(
    narrate: Callable[[dict[str, Any], str], str],
    facts: dict[str, Any],
    form: str,
    values: Mapping[str, st.SearchStrategy[Any]],
    data: st.DataObject,
) -> str:
    """Return the narrative of some facts after checking it.

    The narrative changes with each of its facts, reads cleanly, and reveals the sex of a person
    only if the facts state it.
    """
    text = narrate(facts, form)
    changed = data.draw(st.sampled_from(sorted(facts)))
    replacement = data.draw(values[changed].filter(lambda value: value != facts[changed]))
    assert narrate({**facts, changed: replacement}, form) != text
    assert not re.search(r"[{}]|[a-z,] The|None|Unknown|  | \.|\.\.|, ;|\band and\b", text)
    assert facts.get("sex") or not GENDERED.search(text)
    return text


MakeContext = Callable[..., LoadContext]

_VALUES: dict[str, st.SearchStrategy[Any]] = {}
for _name, _categories in CATEGORIES.items():
    _VALUES[_name] = st.sampled_from([value or "none" for value in _categories])
_VALUES |= {name: st.booleans() for name in FLAGS}
_VALUES |= {name: st.integers(0, 9) for name in PLAUSIBLE}
_VALUES |= {
    "age": st.integers(18, 22),
    "height_total_inches": st.integers(48, 84),
    "num_weight": st.integers(80, 400),
}
_PEOPLE = st.fixed_dictionaries({name: st.none() | values for name, values in _VALUES.items()})


@settings(max_examples=80)
@given(
    _PEOPLE,
    st.sets(st.sampled_from(FEATURES), min_size=1),
    st.sampled_from(["list", "prose"]),
    st.data(),
)
def test_every_fact_and_no_other_is_in_the_narrative(
    person: dict[str, Any], names: set[str], form: str, data: st.DataObject
) -> None:
    facts = {name: person[name] for name in FEATURES if name in names}
    text = check_narrative(narrate, facts, form, _VALUES, data)
    assert text.endswith(".")
    if form == "prose":
        assert re.match(
            r"(The defendant|So far, the defendant|In the past five years, |At age 12, the"
            r" defendant|It is)",
            text,
        )
        assert all(sentence[:1].isupper() for sentence in re.split(r"(?<=\.) ", text))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"sex": "female", "age": 18}, "The defendant is an 18-year-old woman."),
        ({"married02": "married, spouse absent"}, "The defendant is married, but their spouse is"
            " absent from the household."),
        ({"sex": "male", "race": "hispanic"}, "The defendant is a man whose race or ethnicity is"
            " recorded as Hispanic."),
        ({"age": 21, "race": "black"}, "The defendant is 21 years old, and their race or ethnicity"
            " is recorded as Black."),
        ({"numberofarrestsby2002": 2, "convictedby2002": False}, "So far, the defendant has been"
            " arrested twice but has not been convicted of an offense."),
        ({"height_total_inches": 61, "num_weight": None}, "The defendant is 5 feet 1 inch tall."
            " Their weight is not known."),
        ({"homelessness": True, "faminjail": False}, "In the past five years, the defendant has"
            " been homeless for two or more days, but no other adult in their family has been in"
            " jail."),
        ({"num_weight": None, "height_total_inches": None}, "The defendant's height and weight are"
            " not known."),
        ({"sex": "female", "experience02": 1, "foodstamp": True}, "The defendant is a woman. She"
            " has held one job in the past year and has received food stamps in that time."),
        ({"foodstamp": False}, "The defendant has not received food stamps in the past year."),
        ({"marijuana_anydrug": "none", "cocaine": False}, "The defendant has used neither marijuana"
            " nor other drugs in the past four years and has not used cocaine."),
        ({"askgod": False, "godhasnothingtodo": False}, "The defendant does not often ask God for"
            " help with decisions but believes that God has something to do with what happens to"
            " them personally."),
    ],
)  # fmt: skip
def test_sentences_read_as_written(facts: dict[str, object], expected: str) -> None:
    assert narrate(facts, "prose") == expected


def test_the_list_form_is_feature_is_value() -> None:
    text = narrate(
        {
            "sex": "male",
            "age": 18,
            "cocaine": False,
            "marijuana_anydrug": "none",
            "num_weight": None,
        },
        "list",
    )
    assert (
        text == "sex is male; age is 18; weight is not known; drugs used in the past four years is"
        " none; "
        "use of cocaine is false."
    )


@pytest.mark.parametrize("form", ["list", "prose"])
def test_models_do_not_see_withheld_features_which_audits_keep(
    form: str, load_context: MakeContext
) -> None:
    options = Nlsy97Options(rows=200, narrative=form, withhold=("sex", "race", "age"))
    loaded = load(options, load_context())
    assert loaded.features is not None
    assert not {"sex", "race", "age"} & set(loaded.features.columns)
    for case in loaded.cases:
        assert not GENDERED.search(case.text)
        assert not re.search(
            r"\brace\b|\bage is\b|years old|-year-old|Hispanic|\bwhite\b|\bBlack\b", case.text
        )
        assert case.attributes["sex"] in ("male", "female")
        assert case.attributes["age"].isdigit()
