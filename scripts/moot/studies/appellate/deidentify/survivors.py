"""The independent gate: names and references that remain in a finished text, found without what the
extractor found.

It knows no party, no map of names and none of the extractor's runs; it reads the finished text by
itself and wants every capital explained.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify import vocabulary as v
from moot.studies.appellate.deidentify.lexicon import CAPITALISED, Lexicon, opens_sentence, plain
from moot.studies.appellate.deidentify.references import cites_cases
from moot.studies.appellate.deidentify.replacing import PSEUDONYM
from moot.studies.appellate.legal.sentences import split_sentences

_PSEUDONYM = re.compile(PSEUDONYM)
_LETTERED = re.compile(
    r"\b(?:[Ee]xhibit|[Cc]ount|[Pp]art|[Ss]chedule|[Tt]ract|[Ll]ot|[Cc]lass|[Pp]hase|[Gg]rade|[Tt]ype|[Ss]tatute|[Dd]ate|"
    r"[Dd]ocket|[Nn]umber|[Yy]ear|[Aa]ddress|[Rr]oad|[Dd]istrict|[Bb]rand|[Pp]arcel)s? [A-Z]{1,2}\b"
)

_SURNAMES = v.any_of(v.COMMON_SURNAMES)
PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("title before a customary word", re.compile(
        rf"\b(?:{v.any_of(v.PERSONAL_TITLES)})\.?\s+(?P<name>{_SURNAMES})\b"
    )),
    ("customary word as a name", re.compile(
        r"\b(?P<name>April|May|June|August|House|Justice)\s+(?:testified|told|said|stated|asked|argues|appeals)\b"
    )),
    ("customary word as a place", v.PLACE_OF_CUSTOMARY_WORDS),
    ("part of a name", re.compile(
        r"(?<![\w'’.&-])(?P<name>[B-HJ-Z](?: [A-Z])?)\s+(?:company|name|bank|insurer|union|university|hospital)\b"
    )),
    ("company of customary words", re.compile(
        rf"(?<![Tt]he )(?<!\bno )\b(?P<name>{v.any_of(v.SHORT_COMPANIES)})(?:['’]s\b| (?:had|was|did|paid|sought)\b)"
    )),
    ("initials", re.compile(r"\b(?P<name>[A-Z] ?& ?[A-Z])\b")),
    ("initials", re.compile(r"(?<![\w.])(?P<name>(?:[A-Z]\.\s?){2,3})(?=\s|,|$)")),
    ("docket number", re.compile(r"\bNos?\.\s*(?P<name>[A-Z]{0,4}[-–]?\d[\d,–-]{2,})|\b[A-Z]{1,3}-\d{2,4}-\w{2}-\d+")),
    ("numbered name", re.compile(
        r"\b(?P<name>\d{1,3}-[Ee]leven|District \d+|(?:First|[A-Z][a-z]+(?:nd|rd|th)) Judicial District"
        r"|[Tt]ownship \d+)\b"
    )),
    ("personal number", re.compile(r"\b\d{3}-\d{2}-\d{4}\b|[\w.]+@[\w.]+\.\w+|https?://|www\.")),
)  # fmt: skip
_CAPITALS = re.compile(rf"{CAPITALISED}(?:\s+(?:(?:of|the|and|for)\s+)*{CAPITALISED})+")
_PARTS = re.compile(
    rf"\b(?:[Ll]os|[Ll]as|[Ee]l|San|Santa|[Dd]el|[Ll]a|[Vv]an|[Vv]on|De)\s+{PSEUDONYM}|{PSEUDONYM}(?:['’]s)?\s?&\s?\w+"
    rf"|(?:Person|Officer|Doctor|Judge) [A-Z]{{1,2}}\s+(?:{_SURNAMES})\b"
    rf"|{PSEUDONYM} [B-HJ-Z](?:['’]s)?(?![\w.'’])"
    r"(?! (?:offen[sc]e|felony|misdemeanor|violation|crime|charge|position|level)s?\b)"
    rf"|(?P<next>{PSEUDONYM}) (?P<piece>[a-zà-ÿ]{{2,}}|[A-Z][\w'’]*)"
)
"""What may be left of a name next to the pseudonym of its rest: "los University A", "Person A & G",
"Name A K".
"""
_KNOWN_POINTS = frozenset(
    ["us", "usa", "dc", "am", "pm", "pa", "pc", "id", "da", "jd", "md", "phd", "ua"]
)


Recogniser = Callable[[str], Sequence[tuple[str, str]]]
"""Finds names in a text: each with its kind (person, place, company)."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """Something that identifies, in a finished text: why it was taken for that, and the words
    around it.
    """

    reason: str
    words: str


def find_survivors(
    text: str, lexicon: Lexicon, recognise: Recogniser | None = None
) -> list[Survivor]:
    """Everything in a finished text that looks like a name or a reference.

    Args:
        text: the finished text.
        lexicon: the words of the opinion and of this text.
        recognise: a trained recogniser of names, for those at places where any word has a capital.
    """
    found: list[Survivor] = []
    for sentence in split_sentences(without_pseudonyms(text)):
        if cites_cases(sentence.text):
            found.append(Survivor("citation", sentence.text[:80]))
        found += _by_patterns(sentence.text)
        found += _by_capitals(sentence.text, lexicon)
    found += [
        Survivor("part of a name", match[0])
        for match in _PARTS.finditer(text)
        if _is_part(match, lexicon)
    ]
    if recognise is not None:
        found += _by_recogniser(text, lexicon, recognise)
    return found


def _is_part(match: re.Match[str], lexicon: Lexicon) -> bool:
    """Whether what is next to a pseudonym belongs to the name: a word with a capital, or one that
    is no other word.
    """
    piece = match["piece"]
    if piece is None:
        return True
    if piece[0].isupper():
        public = match["next"].startswith(("State", "County", "City"))
        return len(piece) > 1 and not (public or plain(piece) in v.ROLE_WORDS | v.openers())
    return lexicon.is_piece(piece)


def without_pseudonyms(text: str) -> str:
    """The text with each pseudonym and lettered reference as one small word, so that its letter
    ends no sentence.
    """
    text = _PSEUDONYM.sub(lambda match: match[0].split()[0].lower(), text)
    return _LETTERED.sub(lambda match: match[0].split()[0].lower(), text)


def _by_patterns(sentence: str) -> Iterator[Survivor]:
    for match in _CAPITALS.finditer(sentence):
        keys = [plain(word) for word in match[0].split()]
        if v.name_by_words(keys[1:] if keys[0] in v.LINKS | {"in", "at"} else keys):
            yield Survivor("name of customary words", match[0])
    for reason, pattern in PATTERNS:
        for match in pattern.finditer(sentence):
            name = match.groupdict().get("name") or match[0]
            if reason != "initials" or plain(name.replace(" ", "")) not in _KNOWN_POINTS:
                yield Survivor(reason, match[0])


def _by_capitals(sentence: str, lexicon: Lexicon) -> Iterator[Survivor]:
    for match in re.finditer(rf"(?<![A-Za-zÀ-ÿ'’]){CAPITALISED}", sentence):
        word = match[0]
        if lexicon.is_common(word):
            continue
        around = sentence[max(0, match.start() - 25) : match.end() + 25]
        if not opens_sentence(sentence[: match.start()]):
            yield Survivor("capitalised word", around)
        elif not lexicon.is_ordinary(word):
            yield Survivor("unknown word opens a sentence", around)
        elif plain(word) in v.ALSO_NAMES and re.match(
            r"\s+(?:testified|told|said|stated|asked|argues|appeals|was"
            r" (?:born|arrested|convicted|driving))\b",
            sentence[match.end() :],
        ):
            yield Survivor("a name opens a sentence", around)


def _by_recogniser(text: str, lexicon: Lexicon, recognise: Recogniser) -> Iterator[Survivor]:
    """What a recogniser takes for a person, where the first word of a sentence is an ordinary word
    as well.
    """
    for name, kind in recognise(without_pseudonyms(text)):
        words = [w for w in re.findall(CAPITALISED, name) if not lexicon.is_common(w)]
        if kind == "person" and any(
            not lexicon.is_ordinary(word) or lexicon.may_name(word) for word in words
        ):
            yield Survivor("recogniser", name)
