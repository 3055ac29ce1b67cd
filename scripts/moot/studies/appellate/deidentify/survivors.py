"""The independent gate: find names and references that remain in a finished text.

The gate does not use the parties, the map of names or the runs of the extractor. It reads the
finished text only and reports every capital that it cannot explain.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.kinds import FOLLOWS_PERSON
from moot.studies.appellate.deidentify.lexicon import (
    CAPITALISED,
    Lexicon,
    is_sentence_start,
    normalise_word,
)
from moot.studies.appellate.deidentify.references import cites_cases
from moot.studies.appellate.deidentify.replacing import PSEUDONYM, lower_pseudonyms
from moot.studies.appellate.legal.sentences import split_sentences

_SURNAMES = w.match_any(w.ALSO_NAMES & w.COMMON_WORDS)
_PATTERNS = (
    ("customary word as a name", re.compile(
        rf"\b(?:{w.match_any(w.PERSONAL_TITLES)})\.?\s+(?:{_SURNAMES})\b|"
        rf"\b(?:{_SURNAMES})\s+(?:testified|told|said|stated|asked|argues|appeals)\b|"
        r"\b(?:in|near|from|to|outside)\s+Pueblo\b(?!\s+[A-Z(]|\s+of\b)|"
        rf"(?<![Tt]he )\b(?:{w.match_any(w.COMPANY_STARTS)})(?:['’]s\b| (?:had|was|did|paid)\b)"
    )),
    ("initials", re.compile(
        r"\b[A-Z] ?& ?[A-Z]\b|(?<![\w.])(?!U\.S\.|[AP]\.M\.|D\.[AC]\.|I\.D\.)"
        r"(?:[A-Z]\.\s?){2,3}(?=\s|,|$)"
    )),
    ("docket number", re.compile(
        r"\bNos?\.\s*[A-Z]{0,4}[-–]?\d[\d,–-]{2,}|\b[A-Z]{1,3}-\d{2,4}-\w{2}-\d+"
    )),
    ("numbered name", re.compile(
        r"\b\d{1,3}-[Ee]leven|\bDistrict \d+|\b(?:First|[A-Z][a-z]+(?:nd|rd|th)) Judicial District"
        r"|\b[Tt]ownship \d+"
    )),
    ("personal number", re.compile(r"\b\d{3}-\d{2}-\d{4}\b|[\w.]+@[\w.]+\.\w+|https?://|www\.")),
)  # fmt: skip
_CAPITALS = re.compile(rf"{CAPITALISED}(?:\s+(?:(?:of|the|and|for)\s+)*{CAPITALISED})+")
_NAME_REMAINDER = re.compile(
    rf"\b(?:[Ll]os|[Ll]as|[Ee]l|San|Santa|[Dd]el|[Ll]a|[Vv]an|[Vv]on|De)\s+{PSEUDONYM}|"
    rf"{PSEUDONYM}(?:['’]s)?\s?&\s?\w+|(?<![a-z] )\b[A-Z] {PSEUDONYM}|"
    rf"{PSEUDONYM} (?:[B-HJ-Z](?:['’]s)?(?![\w.'’])"
    r"(?! (?:offen[sc]e|felony|misdemeanor|violation|crime|charge|position|level)s?\b)|"
    rf"(?P<word>[A-Z][\w'’]+))"
)
"""A remainder of a name next to a pseudonym: "los University A", "Person A & G", "Name A K"."""

Recogniser = Callable[[str], Sequence[tuple[str, str]]]
"""Returns the names in a text, each with its kind: "person", "place" or "company"."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """An identifying expression in a finished text, with the reason and its context."""

    reason: str
    words: str


def find_survivors(
    text: str, lexicon: Lexicon, recogniser: Recogniser | None = None
) -> list[Survivor]:
    """Return the expressions of a finished text that look like names or references.

    Args:
        text: the finished text.
        lexicon: the words of the opinion and of this text.
        recogniser: a trained recogniser. It finds names where any word would have a capital.
    """
    survivors: list[Survivor] = []
    lowered_text = lower_pseudonyms(text)
    for sentence in split_sentences(lowered_text):
        if cites_cases(sentence.text):
            survivors.append(Survivor("citation", sentence.text[:80]))
        survivors += _match_patterns(sentence.text)
        survivors += _match_capitals(sentence.text, lexicon)
    for match in _NAME_REMAINDER.finditer(text):
        key = normalise_word(match["word"] or "")
        is_public = match[0].startswith(("State", "County", "City", "Town", "Village", "Place"))
        if not (key and (is_public or key in w.ROLE_WORDS | w.list_opening_words())):
            survivors.append(Survivor("part of a name", match[0]))
    for word in lexicon.find_lowered_names(text):
        survivors.append(Survivor("name in lower case", word))
    for name, kind in recogniser(lowered_text) if recogniser else ():
        if kind == "person" and _has_name_word(name, lexicon):
            survivors.append(Survivor("recogniser", name))
    return survivors


def _match_patterns(sentence: str) -> Iterator[Survivor]:
    for match in _CAPITALS.finditer(sentence):
        keys = [normalise_word(word) for word in match[0].split()]
        has_link = keys[0] in w.LINKING_WORDS | {"in", "at"}
        if w.is_name_of_common_words(keys[1:] if has_link else keys):
            yield Survivor("name of customary words", match[0])
    for reason, pattern in _PATTERNS:
        for match in pattern.finditer(sentence):
            yield Survivor(reason, match[0])


def _match_capitals(sentence: str, lexicon: Lexicon) -> Iterator[Survivor]:
    for match in re.finditer(rf"(?<![A-Za-zÀ-ÿ'’]){CAPITALISED}", sentence):
        word = match[0]
        if lexicon.is_common(word):
            continue
        context = sentence[max(0, match.start() - 25) : match.end() + 25]
        is_name = normalise_word(word) in w.ALSO_NAMES or not lexicon.is_ordinary(word)
        if not is_sentence_start(sentence[: match.start()]):
            yield Survivor("capitalised word", context)
        elif not lexicon.is_ordinary(word) and not lexicon.opens_sentences_only(word):
            yield Survivor("unknown word opens a sentence", context)
        elif is_name and FOLLOWS_PERSON.match(sentence, match.end()):
            yield Survivor("a name opens a sentence", context)


def _has_name_word(name: str, lexicon: Lexicon) -> bool:
    """Whether a word of a name is not customary, and is not ordinary or may be a name as well."""
    for word in re.findall(CAPITALISED, name):
        is_name = not lexicon.is_ordinary(word) or normalise_word(word) in w.ALSO_NAMES
        if is_name and not lexicon.is_common(word):
            return True
    return False
