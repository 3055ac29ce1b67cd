"""Turning a row of a table into words: as a list ("feature is value") or as prose, whole sentences
about a person.

The words themselves (phrases and sentences of one data set) are in the study's own modules.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

Facts = Mapping[str, object]
"""Feature to value; None where the value is missing."""

_SINGULAR = {"have": "has", "are": "is", "were": "was", "do": "does"}
_SLOT = re.compile(r"\{(?:(?P<subject>[Tt]hey)\b ?)?(?P<words>[^{}]*)\}")
_OTHER_FORMS = {"their": 0, "them": 1, "themselves": 2}


@dataclass(frozen=True, slots=True)
class Pronouns:
    """How a person is referred to after the first mention."""

    subject: str
    forms: tuple[str, str, str]  # possessive, object, reflexive
    plural: bool = False


PRONOUNS = {
    "male": Pronouns("he", ("his", "him", "himself")),
    "female": Pronouns("she", ("her", "her", "herself")),
    "": Pronouns("they", ("their", "them", "themselves"), plural=True),
}


def list_form(facts: Mapping[str, str]) -> str:
    """The facts in order, as the paper states them to models: "sex is male; age is 18."
    (AgenticSimLaw, Dataset).
    """
    return "; ".join(f"{name} is {value}" for name, value in facts.items()) + "."


def prose(sentences: Iterable[str], sex: str, noun: str) -> str:
    """Sentences about one person, joined; the first mention is `noun`, every later one a pronoun.

    A sentence is written in the plural, with slots that take person and number: "{They have} been
    arrested, and {they often ask} God for help." The last word of such a slot is the verb; "{have}"
    alone agrees with the last subject; "{their}", "{them}" and "{themselves}" decline.

    Args:
        sentences: in order; empty ones are left out.
        sex: "male", "female", or "" (withheld or unknown: singular they).
        noun: what the person is called, with its article ("the defendant").
    """
    told: list[str] = []
    for sentence in filter(None, sentences):
        filled = _fill(sentence, PRONOUNS[sex], "" if told else noun)
        told.append(filled[:1].upper() + filled[1:])
    return " ".join(told)


def enumerated(parts: Sequence[str]) -> str:
    """Parts of a sentence as one: "a", "a and b", "a, b, and c"."""
    separator = ", " if len(parts) > 2 else " "
    return separator.join([*parts[:-1], f"and {parts[-1]}"]) if len(parts) > 1 else "".join(parts)


def not_known(features: Sequence[str]) -> str:
    """The sentence that says which features are not known; "" for none."""
    return (
        f"{{Their}} {enumerated(features)} {'are' if len(features) > 1 else 'is'} not known."
        if features
        else ""
    )


def times(count: int) -> str:
    """How often: never, once, twice, 3 times."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def counted(count: int, singular: str, plural: str, none: str = "no") -> str:
    """How many: no jobs, one job, 2 jobs."""
    number = {0: none, 1: "one"}.get(count, str(count))
    return f"{number} {singular if count == 1 else plural}"


def number(value: object) -> int:
    """A fact as a whole number."""
    return int(str(value))


def introduction(facts: Facts, races: Mapping[str, str]) -> str:
    """The sentence that introduces a person by what is told of sex, age and race;
    `races` names each race in words.
    """
    person = {"male": "man", "female": "woman"}.get(str(facts.get("sex")))
    age = number(facts["age"]) if "age" in facts else None
    race = (
        f"race or ethnicity is recorded as {races[str(facts['race'])]}" if "race" in facts else ""
    )
    if person:
        named = f"a {person}" if age is None else f"{_article(age)} {age}-year-old {person}"
        return f"{{They are}} {named}{f' whose {race}' if race else ''}."
    clauses = [f"{{They are}} {age} years old"] if age is not None else []
    clauses += [f"{{their}} {race}"] if race else []
    return ", and ".join(clauses) + "." if clauses else ""


def _article(age: int) -> str:
    return "an" if str(age).startswith("8") or age in (11, 18) else "a"


def _fill(sentence: str, pronouns: Pronouns, noun: str) -> str:
    state: dict[str, str | bool] = {"noun": noun, "plural": pronouns.plural and not noun}
    return _SLOT.sub(partial(_slot, pronouns=pronouns, state=state), sentence)


def _slot(match: re.Match[str], pronouns: Pronouns, state: dict[str, str | bool]) -> str:
    subject, words = match["subject"], match["words"]
    if not subject and words.lower() in _OTHER_FORMS:
        return _declined(words, pronouns, state)
    if subject:
        noun = state["noun"]
        state["plural"] = pronouns.plural and not noun
        named = str(noun) if noun else pronouns.subject
        state["noun"] = ""
        subject = named if subject == "they" else named[:1].upper() + named[1:]
    *adverbs, verb = words.split(" ")
    verb = verb if state["plural"] or not verb else _SINGULAR.get(verb, f"{verb}s")
    return " ".join(filter(None, [subject, *adverbs, verb]))


def _declined(word: str, pronouns: Pronouns, state: dict[str, str | bool]) -> str:
    noun = str(state["noun"])
    if noun and word.lower() == "their":
        state["noun"] = ""
        named = f"{noun}'s"
    else:
        named = pronouns.forms[_OTHER_FORMS[word.lower()]]
    return named if word[0].islower() else named[:1].upper() + named[1:]
