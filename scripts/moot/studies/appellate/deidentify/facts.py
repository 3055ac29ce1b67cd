"""Select the facts of an opinion: background sentences that neither reveal the outcome nor cite."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify.hints import (
    states_general_rule,
    tells_outcome,
)
from moot.studies.appellate.deidentify.references import cites_cases
from moot.studies.appellate.deidentify.replacing import lower_pseudonyms
from moot.studies.appellate.deidentify.words import PARTY_ROLES, match_any
from moot.studies.appellate.legal.dispositions import find_dispositions
from moot.studies.appellate.legal.segments import split_opinion
from moot.studies.appellate.legal.sentences import split_sentences

# A piece with fewer lower-case words is the remainder of a citation or a heading.
MIN_PROSE_WORDS = 2
# The court begins to reason where at least MIN_REASONING_SENTENCES of REASONING_WINDOW sentences in
# a row are its own, and at least MIN_REASONING_SHARE of all that follow.
MIN_REASONING_SENTENCES = 3
REASONING_WINDOW = 5
MIN_REASONING_SHARE = 0.5
# It does not begin to reason in the introduction of a case, in which it often speaks itself.
MIN_SENTENCES_BEFORE_REASONING = 12
_PARAGRAPH_NUMBER = re.compile(
    r"[{\[(]\d{1,3}[}\])]\s*|(?:(?<=[.!?)\"”])|^)\s?\d{1,3}\.\s*(?=[A-Z]|$)|"
    r"^[A-Z]\.\s+(?=[A-Z][a-z]*,? [a-z])"
)
_MISSING_SPACE = re.compile(r"(\b\d{1,3}|\b[a-z]{2,})(?=[A-Z][a-z]{2,})")
"""A footnote's number or a lower-case word without the space before a capital."""
_COMPANY_INITIALS = re.compile(r"\b([A-Z]) & ([A-Z])\b")
_PROSE_WORD = re.compile(rf"\b(?:[a-z]{{2,}}|{match_any(PARTY_ROLES)})\b")
_FRAGMENT = re.compile(r"(?:See|Cf|Accord|Id|E\.g|But see|Compare)\b|.*(?:\bthat|:)$")


@dataclass(frozen=True, slots=True)
class BackgroundSentence:
    """A sentence of the background.

    Attributes:
        text: the sentence without paragraph number.
        is_disposing: whether its paragraph states the disposition, or its neighbour in a text
            without paragraphs.
    """

    text: str
    is_disposing: bool = False


def iter_background_sentences(text: str) -> Iterator[BackgroundSentence]:
    """Iterate over the sentences of an opinion's background."""
    for span in split_opinion(text):
        if span.part != "background":
            continue
        paragraphs = _split_paragraphs(text[span.start : span.end])
        for sentences in paragraphs:
            places = [place for place, text in enumerate(sentences) if find_dispositions(text)]
            for place, sentence in enumerate(sentences):
                distance = min((abs(place - holding) for holding in places), default=2)
                is_disposing = bool(places) and (len(paragraphs) > 1 or distance <= 1)
                yield BackgroundSentence(sentence, is_disposing)


def _split_paragraphs(text: str) -> list[list[str]]:
    """Split a text into paragraphs of sentences, at paragraph numbers and blank lines."""
    paragraphs: list[list[str]] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        for number, sentence in enumerate(split_sentences(block)):
            if number == 0 or _PARAGRAPH_NUMBER.match(sentence.text):
                paragraphs.append([])
            body = _PARAGRAPH_NUMBER.sub("", sentence.text).strip()
            body = _COMPANY_INITIALS.sub(r"\1&\2", body)
            paragraphs[-1].append(_MISSING_SPACE.sub(r"\1 ", body))
    return paragraphs


def select_facts(sentences: Sequence[BackgroundSentence], max_chars: int) -> str:
    """Select the facts of a background, at most `max_chars` characters in whole sentences.

    An opinion with few headings passes from facts to reasons within the background. From there on,
    most sentences are the court's own.
    """
    are_court_sentences = [_is_courts_own(sentence.text) for sentence in sentences]
    are_court_sentences[:MIN_SENTENCES_BEFORE_REASONING] = [False] * MIN_SENTENCES_BEFORE_REASONING
    facts: list[str] = []
    length = 0
    for position, sentence in enumerate(sentences):
        if _starts_reasoning(are_court_sentences[position:]):
            break
        if not is_fact(sentence):
            continue
        length += len(sentence.text) + 1
        if length > max_chars and facts:
            break
        facts.append(sentence.text)
    return " ".join(facts)


def _is_courts_own(text: str) -> bool:
    """Return whether the court speaks, states law or cites in a sentence."""
    return tells_outcome(text) or states_general_rule(text) or cites_cases(text)


def _starts_reasoning(are_court_sentences: Sequence[bool]) -> bool:
    """Return whether the first remaining sentence and enough others are the court's own."""
    return (
        are_court_sentences[0]
        and sum(are_court_sentences[:REASONING_WINDOW]) >= MIN_REASONING_SENTENCES
        and sum(are_court_sentences) >= MIN_REASONING_SHARE * len(are_court_sentences)
    )


def drop_remnants(facts: str) -> str:
    """Drop the finished sentences that contain the rest of a citation or reveal the outcome."""
    sentences = []
    for sentence in split_sentences(facts):
        pieces = split_sentences(lower_pseudonyms(sentence.text))
        if all(_is_prose(piece.text) and not tells_outcome(piece.text) for piece in pieces):
            sentences.append(sentence.text)
    return " ".join(sentences)


def _is_prose(text: str) -> bool:
    return len(_PROSE_WORD.findall(text)) >= MIN_PROSE_WORDS


def is_fact(sentence: BackgroundSentence) -> bool:
    """Return whether a sentence states facts.

    In such prose the court neither speaks nor evaluates, states no law and cites no cases.
    """
    text = sentence.text
    is_remnant = not _is_prose(text) or _FRAGMENT.match(text) is not None
    return not (sentence.is_disposing or is_remnant or _is_courts_own(text))
