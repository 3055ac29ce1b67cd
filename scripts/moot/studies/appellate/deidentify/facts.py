"""The sentences of an opinion that are facts: those of its background that neither tell the outcome
nor cite cases.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from moot.studies.appellate.deidentify.hints import (
    announces_holding,
    asserts,
    generalises,
    tells_outcome,
)
from moot.studies.appellate.deidentify.references import cites_cases
from moot.studies.appellate.deidentify.segments import split_opinion
from moot.studies.appellate.legal.sentences import split_sentences

MINIMUM_WORDS = (
    2  # of a sentence, small ones; a shorter piece is left over from a citation or a heading
)
REASONING, WINDOW = (
    3,
    5,
)  # sentences of the court's own, of so many in a row: a background reasons from there on
OWN_SHARE = 0.5  # if so many of all that follow are the court's own as well
INTRODUCING = 8  # sentences that introduce a case, at most, where no heading ends the introduction
_PARAGRAPH_NUMBER = re.compile(
    r"[{\[(]\d{1,3}[}\])]\s*|(?:(?<=[.!?)\"”])|^)\s?\d{1,3}\.\s*(?=[A-Z]|$)"
)
_ENDS_WITH_NUMBER = re.compile(r"[.!?)\"”]\s?\d{1,3}\.$")
_GLUED = re.compile(r"(\b\d{1,3}|\b[a-z]{2,})(?=[A-Z][a-z]{2,})")
"""A footnote's number or a small word that lost the space before a capital."""
_COMPANY_INITIALS = re.compile(r"\b([A-Z]) & ([A-Z])\b")
_CITES_ONLY = re.compile(r"(?:See|Cf|Accord|Id|E\.g|But see|Compare)\b")
_SIGNED = re.compile(
    r"^(?:OPINION\b\W*)?[A-Z][A-Z.'’ -]{2,40},?\s+(?:(?:Chief|Presiding|Senior)"
    r" )?(?:Judge|Justice|J\.|C\.J\.)\W*"
    r"|^(?i:delivered\s+the\s+opinion\s+of\s+the\s+court)[^:.]{0,60}[:.]\s*"
)


@dataclass(frozen=True, slots=True)
class BackgroundSentence:
    """A sentence of the background.

    Attributes:
        text: without paragraph number and signature.
        concludes: it introduces the case, or follows a holding in its paragraph: what it asserts in
            no person's name comes from the conclusion.
    """

    text: str
    concludes: bool


def background_sentences(text: str) -> Iterator[BackgroundSentence]:
    """The sentences of an opinion's background.

    What precedes the heading of the facts introduces the case; without such a heading the first
    paragraph does.
    """
    spans = [span for span in split_opinion(text) if span.part == "background"]
    for number, span in enumerate(spans):
        paragraph, held = 0, -1
        for position, sentence in enumerate(_whole_sentences(text[span.start : span.end].strip())):
            paragraph += bool(_PARAGRAPH_NUMBER.match(sentence))
            bare = _COMPANY_INITIALS.sub(r"\1&\2", _PARAGRAPH_NUMBER.sub("", sentence).strip())
            introduces = number == 0 and (
                len(spans) > 1 or (paragraph <= 1 and position < INTRODUCING)
            )
            yield BackgroundSentence(
                _GLUED.sub(r"\1 ", _SIGNED.sub("", bare)), introduces or held == paragraph
            )
            if announces_holding(bare):
                held = paragraph
            paragraph += bool(_ENDS_WITH_NUMBER.search(sentence))


def _whole_sentences(text: str) -> list[str]:
    """The sentences of a text; what is argued in an enumeration ("because (1) it had a duty, and
    (2) ...") is one.
    """
    whole: list[str] = []
    for sentence in split_sentences(text):
        if whole and re.match(r"\(\d{1,2}\)", sentence.text) and re.search(r"[a-z,;:]$", whole[-1]):
            whole[-1] += f" {_PARAGRAPH_NUMBER.sub('', sentence.text)}"
        else:
            whole.append(sentence.text)
    return whole


def facts_of(sentences: Sequence[BackgroundSentence]) -> Iterator[str]:
    """The facts among the sentences of a background, up to where the court begins to reason.

    An opinion without headings, or with few, passes from its facts to its reasons on the way. From
    there on, behind the introduction, most sentences are the court's own.
    """
    own = [
        not s.concludes and (tells_outcome(s.text) or generalises(s.text) or cites_cases(s.text))
        for s in sentences
    ]
    for position, sentence in enumerate(sentences):
        rest = own[position:]
        if rest[0] and sum(rest[:WINDOW]) >= REASONING and sum(rest) >= OWN_SHARE * len(rest):
            return
        if is_fact(sentence):
            yield sentence.text


def is_fact(sentence: BackgroundSentence) -> bool:
    """Whether a sentence is one of facts: prose in which the court neither speaks nor evaluates,
    and that neither states law nor cites cases.
    """
    text = sentence.text
    prose = len(re.findall(r"\b[a-z]{2,}", text)) >= MINIMUM_WORDS
    told = tells_outcome(text) or generalises(text) or (sentence.concludes and asserts(text))
    return prose and not (_CITES_ONLY.match(text) or told or cites_cases(text))
