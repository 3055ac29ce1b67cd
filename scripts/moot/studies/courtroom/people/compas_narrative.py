"""The words of COMPAS: each feature as a phrase, and as a part of a sentence."""

from moot.datasets.people.narrative import (
    Facts,
    as_number,
    count_noun,
    enumerate_parts,
    introduction,
    list_form,
    prose,
    unknown_features_sentence,
)

NOUN = "the defendant"
PHRASES = {
    "sex": "sex",
    "age": "age",
    "race": "race or ethnicity",
    "c_charge_degree": "degree of the present charge",
    "priors_count": "number of prior offenses",
    "juv_fel_count": "number of juvenile felonies",
    "juv_misd_count": "number of juvenile misdemeanors",
    "juv_other_count": "number of other juvenile offenses",
}
RACES = {
    "African-American": "African-American",
    "Caucasian": "Caucasian",
    "Hispanic": "Hispanic",
    "Asian": "Asian",
    "Native American": "Native American",
    "Other": "other",
}
DEGREES = {"F": "felony", "M": "misdemeanor"}
_JUVENILE = {
    "juv_fel_count": ("felony", "felonies"),
    "juv_misd_count": ("misdemeanor", "misdemeanors"),
    "juv_other_count": ("other offense", "other offenses"),
}


def narrate(facts: Facts, form: str) -> str:
    """Return the text of a case: `form` is "list" or "prose"; only the features in `facts` are
    told, and all of them.
    """
    if form == "list":
        return list_form(
            {PHRASES[name]: _format_value(name, facts[name]) for name in PHRASES if name in facts}
        )
    known_facts = {name: value for name, value in facts.items() if value is not None}
    sentences = [
        introduction(known_facts, RACES),
        _describe_charge(known_facts),
        _describe_priors(known_facts),
        _describe_juvenile_record(known_facts),
    ]
    sentences.append(
        unknown_features_sentence(
            [PHRASES[name] for name in PHRASES if name in facts and name not in known_facts]
        )
    )
    return prose(sentences, str(known_facts.get("sex", "")), NOUN)


def _format_value(name: str, value: object) -> str:
    if value is None:
        return "not known"
    return {"race": RACES, "c_charge_degree": DEGREES}.get(name, {}).get(str(value), str(value))


def _describe_charge(facts: Facts) -> str:
    return (
        f"{{They are}} charged with a {DEGREES[str(facts['c_charge_degree'])]}."
        if "c_charge_degree" in facts
        else ""
    )


def _describe_priors(facts: Facts) -> str:
    if "priors_count" not in facts:
        return ""
    return (
        "{They have}"
        f" {count_noun(as_number(facts['priors_count']), 'prior offense', 'prior offenses')}"
        " on record."
    )


def _describe_juvenile_record(facts: Facts) -> str:
    counts = {name: as_number(facts[name]) for name in _JUVENILE if name in facts}
    if len(counts) == len(_JUVENILE) and not any(counts.values()):
        return "{They have} no juvenile record."
    committed = enumerate_parts(
        [count_noun(count, *_JUVENILE[name]) for name, count in counts.items()]
    )
    return f"{{Their}} juvenile record lists {committed}." if counts else ""
