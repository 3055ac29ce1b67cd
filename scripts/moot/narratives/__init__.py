"""Turning a row of a table into words: as a list ("feature is value") or as prose, whole sentences about a person.

The words themselves (phrases and sentences of one data set) are in the modules beside this one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

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
    """The facts in order, as the paper states them to models: "sex is male; age is 18." (AgenticSimLaw, Dataset)."""
    return "; ".join(f"{name} is {value}" for name, value in facts.items()) + "."


def prose(sentences: Iterable[str], sex: str, noun: str) -> str:
    """Sentences about one person, joined; the first mention is `noun`, every later one a pronoun.

    A sentence is written in the plural, with slots that take person and number: "{They have} been arrested, and
    {they often ask} God for help." The last word of such a slot is the verb; "{have}" alone agrees with the last
    subject; "{their}", "{them}" and "{themselves}" decline.

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


def enumerated(parts: Sequence[str], conjunction: str = "and") -> str:
    """Parts of a sentence as one: "a", "a and b", "a, b, and c"."""
    separator = ", " if len(parts) > 2 else " "  # noqa: PLR2004
    return separator.join([*parts[:-1], f"{conjunction} {parts[-1]}"]) if len(parts) > 1 else "".join(parts)


def times(count: int) -> str:
    """How often: never, once, twice, 3 times."""
    return {0: "never", 1: "once", 2: "twice"}.get(count, f"{count} times")


def counted(count: int, singular: str, plural: str, none: str = "no") -> str:
    """How many: no jobs, one job, 2 jobs."""
    number = {0: none, 1: "one"}.get(count, str(count))
    return f"{number} {singular if count == 1 else plural}"


def with_article(number: int) -> str:
    """A number with the indefinite article that its spoken form takes: a 19, an 18, an 80."""
    spoken_with_vowel = str(number).startswith("8") or number in (11, 18)
    return f"{'an' if spoken_with_vowel else 'a'} {number}"


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
