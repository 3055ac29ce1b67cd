"""Select the facts of an opinion: background sentences that neither reveal the outcome nor cite."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify.hints import (
    announces_holding,
    asserts_unattributed,
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
# The longest introduction of a case if no heading ends it.
MAX_INTRODUCTION_SENTENCES = 8
_PARAGRAPH_NUMBER = re.compile(
    r"[{\[(]\d{1,3}[}\])]\s*|(?:(?<=[.!?)\"”])|^)\s?\d{1,3}\.\s*(?=[A-Z]|$)"
)
_ENDS_WITH_NUMBER = re.compile(r"[.!?)\"”]\s?\d{1,3}\.$")
_MISSING_SPACE = re.compile(r"(\b\d{1,3}|\b[a-z]{2,})(?=[A-Z][a-z]{2,})")
"""A footnote's number or a lower-case word without the space before a capital."""
_COMPANY_INITIALS = re.compile(r"\b([A-Z]) & ([A-Z])\b")
_ENUMERATION_LETTER = re.compile(r"^[A-Z]\.\s+(?=[A-Z][a-z]*,? [a-z])")
_PROSE_WORD = re.compile(rf"\b(?:[a-z]{{2,}}|{match_any(PARTY_ROLES)})\b")
_CITATION_SIGNAL = re.compile(r"(?:See|Cf|Accord|Id|E\.g|But see|Compare)\b")


@dataclass(frozen=True, slots=True)
class BackgroundSentence:
    """A sentence of the background.

    Attributes:
        text: the sentence without paragraph number.
        may_state_conclusion: whether the sentence introduces the case or follows a holding in its
            paragraph. Its unattributed assertions come from the court's conclusion.
        is_disposing: whether its paragraph states the disposition, or its neighbour in a text
            without paragraphs.
    """

    text: str
    may_state_conclusion: bool
    is_disposing: bool = False


def iter_background_sentences(text: str) -> Iterator[BackgroundSentence]:
    """Iterate over the sentences of an opinion's background.

    The text before the heading of the facts introduces the case. Without such a heading, the first
    paragraph does.
    """
    spans = [span for span in split_opinion(text) if span.part == "background"]
    for span_number, span in enumerate(spans):
        paragraphs = _split_paragraphs(text[span.start : span.end])
        for paragraph_number, sentences in enumerate(paragraphs):
            opening = MAX_INTRODUCTION_SENTENCES if paragraph_number == 0 else 0
            if span_number > 0 or len(spans) > 1:
                opening = len(sentences) if span_number == 0 else 0
            yield from _read_paragraph(sentences, opening, is_only=len(paragraphs) == 1)


def _read_paragraph(
    sentences: Sequence[str], opening: int, *, is_only: bool
) -> Iterator[BackgroundSentence]:
    """Read a paragraph whose first `opening` sentences introduce the case.

    A disposition disposes of its paragraph, or of its neighbours if the text has no paragraphs.
    """
    places = [place for place, text in enumerate(sentences) if find_dispositions(text)]
    has_holding = False
    for place, sentence in enumerate(sentences):
        is_next_to_disposition = any(abs(place - other_place) <= 1 for other_place in places)
        is_disposing = is_next_to_disposition or (bool(places) and not is_only)
        yield BackgroundSentence(sentence, place < opening or has_holding, is_disposing)
        has_holding = has_holding or announces_holding(sentence)


def _split_paragraphs(text: str) -> list[list[str]]:
    """Split a text into paragraphs of sentences, at paragraph numbers and blank lines."""
    paragraphs: list[list[str]] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        starts_paragraph = True
        for sentence in _merge_enumerations(block):
            if starts_paragraph or _PARAGRAPH_NUMBER.match(sentence):
                paragraphs.append([])
            body = _COMPANY_INITIALS.sub(r"\1&\2", _PARAGRAPH_NUMBER.sub("", sentence).strip())
            paragraphs[-1].append(_MISSING_SPACE.sub(r"\1 ", _ENUMERATION_LETTER.sub("", body)))
            starts_paragraph = bool(_ENDS_WITH_NUMBER.search(sentence))
    return paragraphs


def _merge_enumerations(text: str) -> list[str]:
    """Split a text into sentences. An enumeration ("because (1) it had a duty, (2) ...") is one."""
    sentences: list[str] = []
    for sentence in split_sentences(text):
        is_item = re.match(r"\(\d{1,2}\)", sentence.text)
        if sentences and is_item and re.search(r"[a-z,;:]$", sentences[-1]):
            sentences[-1] += f" {_PARAGRAPH_NUMBER.sub('', sentence.text)}"
        else:
            sentences.append(sentence.text)
    return sentences


def select_facts(sentences: Sequence[BackgroundSentence]) -> Iterator[str]:
    """Select the facts of a background, up to where the court begins to reason.

    An opinion with few headings passes from facts to reasons within the background. From there on,
    most sentences are the court's own.
    """
    are_court_sentences = [_is_court_sentence(sentence) for sentence in sentences]
    for position, sentence in enumerate(sentences):
        if _starts_reasoning(are_court_sentences[position:]):
            return
        if is_fact(sentence):
            yield sentence.text


def _is_court_sentence(sentence: BackgroundSentence) -> bool:
    """Whether the court speaks, states law or cites in a sentence behind the introduction."""
    return not sentence.may_state_conclusion and _is_courts_own(sentence.text)


def _is_courts_own(text: str) -> bool:
    return tells_outcome(text) or states_general_rule(text) or cites_cases(text)


def _starts_reasoning(are_court_sentences: Sequence[bool]) -> bool:
    """Whether the first of the remaining sentences and enough of the rest are the court's own."""
    return (
        are_court_sentences[0]
        and sum(are_court_sentences[:REASONING_WINDOW]) >= MIN_REASONING_SENTENCES
        and sum(are_court_sentences) >= MIN_REASONING_SHARE * len(are_court_sentences)
    )


def drop_remnants(facts: str) -> str:
    """Drop the sentences of a finished text that reveal the outcome or are the rest of a citation.

    Without its names and references, a sentence may read in another way.
    """
    sentences = []
    for sentence in split_sentences(facts):
        pieces = [piece.text for piece in split_sentences(lower_pseudonyms(sentence.text))]
        if all(_is_prose(piece) and not tells_outcome(piece) for piece in pieces):
            sentences.append(sentence.text)
    return " ".join(sentences)


def _is_prose(text: str) -> bool:
    return len(_PROSE_WORD.findall(text)) >= MIN_PROSE_WORDS


def is_fact(sentence: BackgroundSentence) -> bool:
    """Whether a sentence states facts.

    In such prose the court neither speaks nor evaluates, states no law and cites no cases.
    """
    text = sentence.text
    is_remnant = not _is_prose(text) or _CITATION_SIGNAL.match(text) is not None
    if sentence.is_disposing or is_remnant or _is_courts_own(text):
        return False
    return not (sentence.may_state_conclusion and asserts_unattributed(text))
