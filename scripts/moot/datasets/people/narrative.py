"""Describe a row of a table in words, as a list ("feature is value") or as prose about a person.

The phrases and sentences of a data set are in the modules of its study.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

Facts = Mapping[str, object]
"""The value of each feature; None if it is missing."""

_SINGULAR = {"have": "has", "are": "is", "were": "was", "do": "does"}
_SLOT = re.compile(r"\{(?:(?P<subject>[Tt]hey)\b ?)?(?P<words>[^{}]*)\}")
_OTHER_FORMS = {"their": 0, "them": 1, "themselves": 2}


@dataclass(frozen=True, slots=True)
class Pronouns:
    """The pronouns of a person after the first mention."""

    subject: str
    forms: tuple[str, str, str]  # possessive, object, reflexive
    plural: bool = False


PRONOUNS = {
    "male": Pronouns("he", ("his", "him", "himself")),
    "female": Pronouns("she", ("her", "her", "herself")),
    "": Pronouns("they", ("their", "them", "themselves"), plural=True),
}


def list_form(facts: Mapping[str, str]) -> str:
    """Return the facts in order, in the paper's form of "sex is male; age is 18.".

    Source: AgenticSimLaw, Dataset.
    """
    return "; ".join(f"{name} is {value}" for name, value in facts.items()) + "."


def prose(sentences: Iterable[str], sex: str, noun: str) -> str:
    """Join sentences about one person; the first mention is `noun`, later mentions are pronouns.

    A sentence is written in the plural, with slots that are inflected: "{They have} been arrested,
    and {they often ask} God for help." The last word of such a slot is the verb; "{have}" alone
    agrees with the last subject; "{their}", "{them}" and "{themselves}" are declined.

    Args:
        sentences: the sentences in order; empty ones are skipped.
        sex: "male", "female", or "" (withheld or unknown: singular they).
        noun: the noun for the person, with its article ("the defendant").
    """
    result: list[str] = []
    for sentence in filter(None, sentences):
        words = _fill(sentence, PRONOUNS[sex], "" if result else noun)
        result.append(words[:1].upper() + words[1:])
    return " ".join(result)


def enumerate_parts(parts: Sequence[str]) -> str:
    """Join parts of a sentence: "a", "a and b", "a, b, and c"."""
    separator = ", " if len(parts) > 2 else " "
    return separator.join([*parts[:-1], f"and {parts[-1]}"]) if len(parts) > 1 else "".join(parts)


def unknown_features_sentence(features: Sequence[str]) -> str:
    """Return the sentence that lists unknown features; "" without features."""
    return (
        f"{{Their}} {enumerate_parts(features)} {'are' if len(features) > 1 else 'is'} not known."
        if features
        else ""
    )


def count_times(count: int) -> str:
    """Return a frequency in words: never, once, twice, 3 times."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def count_noun(count: int, singular: str, plural: str) -> str:
    """Return a number with its noun: no jobs, one job, 2 jobs."""
    number = {0: "no", 1: "one"}.get(count, str(count))
    return f"{number} {singular if count == 1 else plural}"


def as_number(value: object) -> int:
    """Return a fact as a whole number."""
    return int(str(value))


def introduction(facts: Facts, races: Mapping[str, str]) -> str:
    """Return the sentence that introduces a person by sex, age and race.

    Args:
        facts: the person's features.
        races: the words for each race.
    """
    person = {"male": "man", "female": "woman"}.get(str(facts.get("sex")))
    age = as_number(facts["age"]) if "age" in facts else None
    race = (
        f"race or ethnicity is recorded as {races[str(facts['race'])]}" if "race" in facts else ""
    )
    if person:
        description = f"a {person}" if age is None else f"{_article(age)} {age}-year-old {person}"
        return f"{{They are}} {description}{f' whose {race}' if race else ''}."
    clauses = [f"{{They are}} {age} years old"] if age is not None else []
    clauses += [f"{{their}} {race}"] if race else []
    return ", and ".join(clauses) + "." if clauses else ""


def _article(age: int) -> str:
    return "an" if str(age).startswith("8") or age in (11, 18) else "a"


def _fill(sentence: str, pronouns: Pronouns, noun: str) -> str:
    state: dict[str, str | bool] = {"noun": noun, "plural": False}  # a subject sets it
    return _SLOT.sub(partial(_fill_slot, pronouns=pronouns, state=state), sentence)


def _fill_slot(match: re.Match[str], pronouns: Pronouns, state: dict[str, str | bool]) -> str:
    subject, words = match["subject"], match["words"]
    if not subject and words.lower() in _OTHER_FORMS:
        return _decline(words, pronouns, state)
    if subject:
        noun = state["noun"]
        state["plural"] = pronouns.plural and not noun
        name = str(noun) if noun else pronouns.subject
        state["noun"] = ""
        subject = name if subject == "they" else name[:1].upper() + name[1:]
    *adverbs, verb = words.split(" ")
    verb = verb if state["plural"] or not verb else _SINGULAR.get(verb, f"{verb}s")
    return " ".join(word for word in (subject, *adverbs, verb) if word)


def _decline(word: str, pronouns: Pronouns, state: dict[str, str | bool]) -> str:
    noun = str(state["noun"])
    if noun and word.lower() == "their":
        state["noun"] = ""
        form = f"{noun}'s"
    else:
        form = pronouns.forms[_OTHER_FORMS[word.lower()]]
    return form if word[0].islower() else form[:1].upper() + form[1:]
