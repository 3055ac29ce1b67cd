"""Tell the kind of a name: by its title, by its own nouns, or by the text next to it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.deidentify.lexicon import Lexicon, normalise_word

_CUES = (
    (
        "person",
        re.compile(
            r"\b(?:brother|sister|wife|husband|son|daughter|mother|father|friend|victim|named|"
            r"driver|child|passenger|neighbor|cousin|uncle|aunt|nephew|niece|boyfriend|girlfriend|"
            r"man|woman|employee|manager|attorney|lawyer|children|clerk|psychiatrist|psychologist|"
            r"physician|supervisor),?\s+$"
        ),
        re.compile(
            r"\s+(?:testified|told|said|drove|walked|shot|pleaded|pled|lived|married|died|saw|"
            r"heard|stated|asked|was (?:born|arrested|driving|convicted|charged|sentenced|injured|"
            r"killed|shot|a passenger))\b|['’]s (?:car|truck|home|wife|husband|mother|father|"
            r"testimony|death|injur\w+|brother|sister|son|daughter)\b"
        ),
    ),
    (
        "place",
        re.compile(
            r"\b(?:in|near|outside|toward|onto|along|down|(?:driv\w+|drove|travel\w+|walk\w+|"
            r"park\w+|turn\w*|located|house|home) (?:on|to|off)|(?:City|Town|Village) of)\s+$"
        ),
        re.compile(rf",? (?:{w.STATES}|N\.M\.|County)\b"),
    ),
)
"""The kinds that the text before or behind a name tells."""
FOLLOWS_PERSON = _CUES[0][2]
_THING = re.compile(r"\b(?:an?|the|red|blue|white|black|green|new|used|old|\d{4})\s+$", re.I)
_MAX_PERSON_WORDS = 4


@dataclass(frozen=True, slots=True)
class Mention:
    """A name and its place in a text.

    Attributes:
        start: the offset of the name, or of the title or role before it.
        end: the offset just behind the name.
        name: the name without title and role.
        words: the identifying words, as `lexicon.normalise_word` writes them.
        title: the title before the name in lower case, or "".
        role: the role before the name in lower case, or "".
        kind: what the title, the nouns of the name or its neighbours tell; "name" if nothing does.
    """

    start: int
    end: int
    name: str
    words: tuple[str, ...]
    title: str = ""
    role: str = ""
    kind: str = "name"


def find_kind_in_sentence(
    mention: Mention, keys: Sequence[str], sentence: str, lexicon: Lexicon
) -> str:
    """Return the kind of a name by its title, its own nouns and its neighbours.

    Args:
        mention: the name with its place in the sentence.
        keys: all words of the name, as `lexicon.normalise_word` writes them.
        sentence: the sentence.
        lexicon: the words of the opinion.
    """
    if mention.title:
        return w.KIND_BY_TITLE[mention.title]
    if len(keys) > 1 and (kind := w.find_kind(keys)):
        return kind
    if keys[0] in w.COMPANY_STARTS:
        return "company"
    preceding_text = sentence[: mention.start]
    for kind, before, behind in _CUES:
        if before.search(preceding_text) or behind.match(sentence, mention.end):
            return kind
    return "person" if _has_form_of_person(mention, preceding_text, lexicon) else "name"


def _has_form_of_person(mention: Mention, preceding_text: str, lexicon: Lexicon) -> bool:
    """Whether a name consists of two to four words and ends with a surname."""
    words = [word for word in mention.name.split() if len(word) > 1]
    if not 1 < len(words) <= _MAX_PERSON_WORDS or _THING.search(preceding_text):
        return False
    surname = normalise_word(words[-1])
    is_english = lexicon.is_ordinary(surname) or w.is_english(surname)
    has_common_word = any(lexicon.is_common(word) for word in words[:-1])
    return (surname in w.ALSO_NAMES or not is_english) and not has_common_word
