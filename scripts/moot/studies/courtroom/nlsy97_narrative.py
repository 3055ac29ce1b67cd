"""The words of NLSY97: each feature as a phrase, and as a part of a sentence.

The order follows the example in the paper (AgenticSimLaw, appendix A); the sentences are our own. A
feature that is not among the facts is not hinted at: every sentence is built from the facts at hand
and nothing else.
"""

from collections.abc import Callable
from itertools import product

from moot.datasets.people.narrative import (
    Facts,
    as_number,
    count_noun,
    count_times,
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
    "numberofarrestsby2002": "number of arrests so far",
    "convictedby2002": "conviction so far",
    "height_total_inches": "height",
    "num_weight": "weight",
    "married02": "marital status",
    "college02": "education",
    "experience02": "number of jobs in the past year",
    "foodstamp": "use of food stamps in the past year",
    "marijuana_anydrug": "drugs used in the past four years",
    "cocaine": "use of cocaine",
    "depression": "depression in the past month",
    "homelessness": "homelessness for two or more days in the past five years",
    "faminjail": "another adult of the family in jail in the past five years",
    "victim": "victim of crime",
    "parentrelations": "parent or guardian at age 12",
    "hhsize97": "household size in 1997",
    "urbanrural": "area of residence",
    "askgod": "often asking God for help with decisions",
    "godhasnothingtodo": "belief that God has nothing to do with personal events",
}
_NO_DRUGS = "neither marijuana nor other drugs"
DRUGS = {"none": "none", "marijuana": "marijuana", "marijuana_anydrug": "marijuana or other drugs"}
# how a feature is named when its value is missing: "The defendant's height is not known."
PHRASES_IF_UNKNOWN = {
    **PHRASES,
    "numberofarrestsby2002": "number of arrests",
    "convictedby2002": "record of convictions",
    "foodstamp": "use of food stamps",
    "marijuana_anydrug": "use of drugs in the past four years",
    "depression": "mood in the past month",
    "homelessness": "history of homelessness",
    "faminjail": "family's history of jail",
    "victim": "history as a victim of crime",
    "parentrelations": "household at age 12",
    "askgod": "habit of asking God for help",
    "godhasnothingtodo": "belief in God's part in personal events",
}
RACES = {
    "white": "white",
    "black": "Black",
    "hispanic": "Hispanic",
    "asian or pacific islander": "Asian or Pacific Islander",
    "mixed-race": "mixed-race",
    "american indian, eskimo or aleut": "American Indian, Eskimo, or Aleut",
    "non-black, non-hispanic": "neither Black nor Hispanic",
}
_MARITAL = {
    "never married": "{They have} never been married",
    "married": "{They are} married",
    "separated": "{They are} separated",
    "divorced": "{They are} divorced",
    "widowed": "{They are} widowed",
}
_COMPANY = {
    "cohabiting": " and {live} with a partner",
    "not cohabiting": " and {do} not live with a partner",
    "spouse present": " and {live} with {their} spouse",
    "spouse absent": ", but {their} spouse is absent from the household",
}
_NOT_ENROLLED = {
    "no high school degree, no GED": "{They have} neither a high school diploma nor a GED",
    "GED": "{They have} a GED",
    "high school degree": "{They have} a high school diploma",
    "some college": "{They have} attended some college",
    "2-year college graduate": "{They have} graduated from a 2-year college",
    "4-year college graduate": "{They have} graduated from a 4-year college",
    "graduate degree": "{They have} a graduate degree",
}
_ENROLLED = {
    "grades 1-12, not a high school graduate": (
        "{They are} still in school (grades 1 to 12) and {have} not graduated from high school."
    ),
    "a 2-year college": "{They are} enrolled in a 2-year college.",
    "a 4-year college": "{They are} enrolled in a 4-year college.",
    "a graduate program": "{They are} enrolled in a graduate program.",
}
_GUARDIANS = {
    "both biological parents": "with both biological parents",
    "biological mother, other parent present": "with {their} biological mother and another parent",
    "biological father, other parent present": "with {their} biological father and another parent",
    "biological mother, marital status unknown": (
        "with {their} biological mother, whose marital status is not known"
    ),
    "biological dad, marital status unknown": (
        "with {their} biological father, whose marital status is not known"
    ),
    "adoptive parent(s)": "with one or two adoptive parents",
    "foster parent(s)": "with one or two foster parents",
    "other adults, biological parent status unknown, not group quarters": (
        "in a private household with other adults; "
        "it is not known whether a biological parent was among them"
    ),
    "group quarters": "in group quarters",
    "anything else": "in an arrangement that fits none of the usual categories",
}
MARITAL_STATUSES = (
    "never married, cohabiting",
    "never married, not cohabiting",
    "married, spouse present",
    "married, spouse absent",
    *map(", ".join, product(("separated", "divorced", "widowed"), list(_COMPANY)[:2])),
)
EDUCATIONS = (
    *(f"not enrolled, {degree}" for degree in _NOT_ENROLLED),
    *(f"enrolled in {school}" for school in _ENROLLED),
)
GUARDIANS = (*_GUARDIANS, "Unknown")
AREAS = ("urban", "rural", "Unknown")
DEPRESSIONS = ("none of the time", "some of the time", "most of the time", "all of the time")


def narrate(facts: Facts, form: str) -> str:
    """Return the text of a case, which tells all of its features and no others.

    Args:
        facts: the features.
        form: "list" or "prose".
    """
    if form == "list":
        return list_form(
            {PHRASES[name]: _format_value(name, facts[name]) for name in PHRASES if name in facts}
        )
    known_facts = {name: value for name, value in facts.items() if value is not None}
    sentences = [
        introduction(known_facts, RACES),
        *(sentence(known_facts) for sentence in SENTENCES),
    ]
    sentences.append(
        unknown_features_sentence(
            [
                PHRASES_IF_UNKNOWN[name]
                for name in PHRASES_IF_UNKNOWN
                if name in facts and name not in known_facts
            ]
        )
    )
    return prose(sentences, str(known_facts.get("sex", "")), NOUN)


def format_height(inches: int) -> str:
    """Return a height in words: 5 feet 1 inch."""
    feet, rest = divmod(inches, 12)
    return f"{feet} feet" + (f" {rest} inch{'' if rest == 1 else 'es'}" if rest else "")


def _format_value(name: str, value: object) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "true" if value else "false"
    if name == "height_total_inches":
        return format_height(as_number(value))
    if name == "num_weight":
        return f"{value} pounds"
    labels = {"race": RACES, "marijuana_anydrug": DRUGS}.get(name, {})
    return (
        labels.get(str(value), str(value))
        .replace("biological dad", "biological father")
        .replace("Unknown", "unknown")
    )


def _describe_criminal_history(facts: Facts) -> str:
    clauses = []
    if "numberofarrestsby2002" in facts:
        arrests = as_number(facts["numberofarrestsby2002"])
        clauses.append(
            f"{{they have}} been arrested {count_times(arrests)}"
            if arrests
            else "{they have} never been arrested"
        )
    if "convictedby2002" in facts:
        convicted = bool(facts["convictedby2002"])
        link = ("and {have}" if convicted else "but {have}") if clauses else "{they have}"
        clauses.append(f"{link} {_negation(convicted)}been convicted of an offense")
    return f"So far, {' '.join(clauses)}." if clauses else ""


def _describe_body(facts: Facts) -> str:
    measures = []
    if "height_total_inches" in facts:
        measures.append(f"are}} {format_height(as_number(facts['height_total_inches']))} tall")
    if "num_weight" in facts:
        measures.append(f"weigh}} {facts['num_weight']} pounds")
    return "{They " + " and {".join(measures) + "." if measures else ""


def _describe_marriage(facts: Facts) -> str:
    if "married02" not in facts:
        return ""
    status, company = str(facts["married02"]).split(", ", maxsplit=1)
    return f"{_MARITAL[status]}{_COMPANY[company]}."


def _describe_education(facts: Facts) -> str:
    education = str(facts.get("college02", ""))
    if education.startswith("not enrolled, "):
        return (
            f"{_NOT_ENROLLED[education.removeprefix('not enrolled, ')]} and {{are}} not enrolled in"
            " school or college."
        )
    return _ENROLLED[education.removeprefix("enrolled in ")] if education else ""


def _describe_livelihood(facts: Facts) -> str:
    if "experience02" not in facts and "foodstamp" not in facts:
        return ""
    food = (
        f"{_negation(bool(facts['foodstamp']))}received food stamps" if "foodstamp" in facts else ""
    )
    if "experience02" not in facts:
        return f"{{They have}} {food} in the past year."
    jobs = count_noun(as_number(facts["experience02"]), "job", "jobs")
    return (
        f"{{They have}} held {jobs} in the past"
        f" year{f' and {{have}} {food} in that time' if food else ''}."
    )


def _describe_drugs(facts: Facts) -> str:
    drugs, clauses = str(facts.get("marijuana_anydrug", "")), []
    if drugs:
        clauses.append(
            f"{{They have}} used {DRUGS[drugs] if drugs != 'none' else _NO_DRUGS} in the past four"
            " years"
        )
    if "cocaine" in facts:
        used_cocaine = bool(facts["cocaine"])
        link = (
            ("and {have}" if used_cocaine == (drugs != "none") else "but {have}")
            if drugs
            else "{They have}"
        )
        clauses.append(f"{link} {_negation(used_cocaine)}used cocaine")
    return " ".join(clauses) + "." if clauses else ""


def _describe_mood(facts: Facts) -> str:
    frequency = str(facts.get("depression", ""))
    clause = (
        "not felt depressed" if frequency == "none of the time" else f"felt depressed {frequency}"
    )
    return f"{{They have}} {clause} in the past month." if frequency else ""


def _describe_adversity(facts: Facts) -> str:
    clauses: list[str] = []
    sentences: list[str] = []
    if "homelessness" in facts:
        clauses.append(
            f"{{they have}} {_negation(bool(facts['homelessness']))}been homeless for two or more"
            " days"
        )
    if "faminjail" in facts:
        clauses.append(
            f"{'another' if facts['faminjail'] else 'no other'} adult in {{their}} family has been"
            " in jail"
        )
    if clauses:
        link = (
            ", and "
            if bool(facts.get("homelessness")) == bool(facts.get("faminjail"))
            else ", but "
        )
        sentences.append(f"In the past five years, {link.join(clauses)}.")
    if "victim" in facts:
        sentences.append(f"{{They have}} {_negation(bool(facts['victim']))}been a victim of crime.")
    return " ".join(sentences)


def _describe_childhood(facts: Facts) -> str:
    sentences = []
    if "parentrelations" in facts:
        home = _GUARDIANS.get(str(facts["parentrelations"]))
        unknown_sentence = "It is not known with whom {they were} living at age 12."
        sentences.append(f"At age 12, {{they were}} living {home}." if home else unknown_sentence)
    if "hhsize97" in facts:
        sentences.append(
            f"{{Their}} household had"
            f" {count_noun(as_number(facts['hhsize97']), 'member', 'members')} in"
            " 1997."
        )
    if "urbanrural" in facts:
        area = {"urban": "an urban area", "rural": "a rural area"}.get(str(facts["urbanrural"]))
        unknown_sentence = "It is not known whether {their} home is in an urban or a rural area."
        sentences.append(f"{{Their}} home is in {area}." if area else unknown_sentence)
    return " ".join(sentences)


def _describe_religion(facts: Facts) -> str:
    clauses = []
    if "askgod" in facts:
        asking = "{They often ask}" if facts["askgod"] else "{They do} not often ask"
        clauses.append(f"{asking} God for help with decisions")
    if "godhasnothingtodo" in facts:
        denies_influence = bool(facts["godhasnothingtodo"])
        link = "but {believe}" if bool(facts.get("askgod")) == denies_influence else "and {believe}"
        belief = (
            f"that God has {'nothing' if denies_influence else 'something'} to do with what happens"
            " to"
            " {them} personally"
        )
        clauses.append(f"{link if clauses else '{They believe}'} {belief}")
    return " ".join(clauses) + "." if clauses else ""


def _negation(is_true: bool) -> str:
    return "" if is_true else "not "


SENTENCES: tuple[Callable[[Facts], str], ...] = (
    *(
        _describe_criminal_history,
        _describe_body,
        _describe_marriage,
        _describe_education,
        _describe_livelihood,
        _describe_drugs,
    ),
    *(_describe_mood, _describe_adversity, _describe_childhood, _describe_religion),
)
