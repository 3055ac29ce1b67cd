"""The independent gate: find names and references that remain in a finished text.

The gate does not use the parties, the map of names or the runs of the extractor. It reads the
finished text only and reports every capital that it cannot explain.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify import vocabulary as v
from moot.studies.appellate.deidentify.lexicon import (
    CAPITALISED,
    Lexicon,
    is_sentence_start,
    normalise_word,
)
from moot.studies.appellate.deidentify.references import cites_cases
from moot.studies.appellate.deidentify.replacing import PSEUDONYM, lower_pseudonyms
from moot.studies.appellate.legal.sentences import split_sentences

_SURNAMES = v.match_any(v.COMMON_SURNAMES)
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("title before a customary word", re.compile(
        rf"\b(?:{v.match_any(v.PERSONAL_TITLES)})\.?\s+(?P<name>{_SURNAMES})\b"
    )),
    ("customary word as a name", re.compile(
        r"\b(?P<name>April|May|June|August|House|Justice)\s+(?:testified|told|said|stated|asked|"
        r"argues|appeals)\b"
    )),
    ("customary word as a place", v.PLACE_OF_CUSTOMARY_WORDS),
    ("part of a name", re.compile(
        r"(?<![\w'’.&-])(?P<name>[B-HJ-Z](?: [A-Z])?)\s+(?:company|name|bank|insurer|union|"
        r"university|hospital)\b"
    )),
    ("company of customary words", re.compile(
        rf"(?<![Tt]he )(?<!\bno )\b(?P<name>{v.match_any(v.COMPANY_STARTS)})(?:['’]s\b| (?:had|was|"
        rf"did|paid|sought)\b)"
    )),
    ("initials", re.compile(r"\b(?P<name>[A-Z] ?& ?[A-Z])\b")),
    ("initials", re.compile(r"(?<![\w.])(?P<name>(?:[A-Z]\.\s?){2,3})(?=\s|,|$)")),
    ("docket number", re.compile(
        r"\bNos?\.\s*(?P<name>[A-Z]{0,4}[-–]?\d[\d,–-]{2,})|\b[A-Z]{1,3}-\d{2,4}-\w{2}-\d+")),
    ("numbered name", re.compile(
        r"\b(?P<name>\d{1,3}-[Ee]leven|District \d+|(?:First|[A-Z][a-z]+(?:nd|rd|th)) Judicial "
        r"District|[Tt]ownship \d+)\b"
    )),
    ("personal number", re.compile(r"\b\d{3}-\d{2}-\d{4}\b|[\w.]+@[\w.]+\.\w+|https?://|www\.")),
)  # fmt: skip
_CAPITALS = re.compile(rf"{CAPITALISED}(?:\s+(?:(?:of|the|and|for)\s+)*{CAPITALISED})+")
_NAME_REMAINDER = re.compile(
    rf"\b(?:[Ll]os|[Ll]as|[Ee]l|San|Santa|[Dd]el|[Ll]a|[Vv]an|[Vv]on|De)\s+{PSEUDONYM}|"
    rf"{PSEUDONYM}(?:['’]s)?\s?&\s?\w+|(?:Person|Officer|Doctor|Judge) "
    rf"[A-Z]{{1,2}}\s+(?:{_SURNAMES})\b|{PSEUDONYM} [B-HJ-Z](?:['’]s)?(?![\w.'’])"
    r"(?! (?:offen[sc]e|felony|misdemeanor|violation|crime|charge|position|level)s?\b)"
    rf"|(?P<next>{PSEUDONYM}) (?P<piece>[a-zà-ÿ]{{2,}}|[A-Z][\w'’]*)"
)
"""A remainder of a name next to a pseudonym: "los University A", "Person A & G", "Name A K"."""
_KNOWN_ABBREVIATIONS = frozenset(
    ["us", "usa", "dc", "am", "pm", "pa", "pc", "id", "da", "jd", "md", "phd", "ua"]
)


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
    for sentence in split_sentences(lower_pseudonyms(text)):
        if cites_cases(sentence.text):
            survivors.append(Survivor("citation", sentence.text[:80]))
        survivors += _match_patterns(sentence.text)
        survivors += _match_capitals(sentence.text, lexicon)
    for match in _NAME_REMAINDER.finditer(text):
        if _is_name_remainder(match, lexicon):
            survivors.append(Survivor("part of a name", match[0]))
    for word in lexicon.find_lowered_names(text):
        survivors.append(Survivor("name in lower case", word))
    if recogniser is not None:
        survivors += _match_recognised_names(text, lexicon, recogniser)
    return survivors


def _is_name_remainder(match: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether the word next to a pseudonym is the rest of the name.

    Such a word has a capital, or it is a fragment of a name that a line break split.
    """
    piece = match["piece"]
    if piece is None:
        return True
    if piece[0].isupper():
        names_public_body = match["next"].startswith(
            ("State", "County", "City", "Town", "Village", "Place")
        )
        return len(piece) > 1 and not (
            names_public_body or normalise_word(piece) in v.ROLE_WORDS | v.list_opening_words()
        )
    return lexicon.is_name_fragment(piece)


def _match_patterns(sentence: str) -> Iterator[Survivor]:
    for match in _CAPITALS.finditer(sentence):
        keys = [normalise_word(word) for word in match[0].split()]
        if v.is_name_of_common_words(
            keys[1:] if keys[0] in v.LINKING_WORDS | {"in", "at"} else keys
        ):
            yield Survivor("name of customary words", match[0])
    for reason, pattern in PATTERNS:
        for match in pattern.finditer(sentence):
            name = match.groupdict().get("name") or match[0]
            if (
                reason != "initials"
                or normalise_word(name.replace(" ", "")) not in _KNOWN_ABBREVIATIONS
            ):
                yield Survivor(reason, match[0])


def _match_capitals(sentence: str, lexicon: Lexicon) -> Iterator[Survivor]:
    for match in re.finditer(rf"(?<![A-Za-zÀ-ÿ'’]){CAPITALISED}", sentence):
        word = match[0]
        if lexicon.is_common(word):
            continue
        context = sentence[max(0, match.start() - 25) : match.end() + 25]
        preceding_text = sentence[: match.start()]
        is_first_word = (
            not re.search(r"[A-Za-zÀ-ÿ]", preceding_text)
            or normalise_word(word) not in v.ALSO_NAMES
            or re.match(r"\s+[a-z]", sentence[match.end() :]) is not None
        )
        is_ordinary = lexicon.is_ordinary(word)
        if not is_sentence_start(preceding_text):
            yield Survivor("capitalised word", context)
        elif not is_ordinary and not (is_first_word and lexicon.opens_sentences_only(word)):
            yield Survivor("unknown word opens a sentence", context)
        elif (normalise_word(word) in v.ALSO_NAMES or not is_ordinary) and re.match(
            r"\s+(?:testified|told|said|stated|asked|argues|appeals|was"
            r" (?:born|arrested|convicted|driving))\b",
            sentence[match.end() :],
        ):
            yield Survivor("a name opens a sentence", context)


def _match_recognised_names(
    text: str, lexicon: Lexicon, recogniser: Recogniser
) -> Iterator[Survivor]:
    """Yield the people that a recogniser finds, unless all their words are ordinary words."""
    for name, kind in recogniser(lower_pseudonyms(text)):
        if kind == "person" and _has_name_word(name, lexicon):
            yield Survivor("recogniser", name)


def _has_name_word(name: str, lexicon: Lexicon) -> bool:
    """Whether a word of a name is not customary, and is not ordinary or may be a name as well."""
    for word in re.findall(CAPITALISED, name):
        if lexicon.is_common(word):
            continue
        if not lexicon.is_ordinary(word) or lexicon.can_be_name(word):
            return True
    return False
