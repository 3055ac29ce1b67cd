"""Split an appellate opinion into caption, background, reasoning, disposition and what follows.

Some reporters mark the parts by headings. Without headings, the phrases that open a court's
reasoning mark the boundary.
"""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from moot.studies.appellate.legal.sentences import split_sentences

Part = Literal["caption", "background", "reasoning", "disposition", "after"]
# At most this share of an opinion without headings counts as its facts.
FACTS_SHARE = 0.35
_CAPTION_CHARS = 6_000

_JUDGE_TITLE = (
    r"(?:(?:Chief|Presiding|Senior|Acting|Associate|Circuit|District|Vice|Per)\s+)*(?:Judges?|"
    r"Justices?|J\.?J?\.|JJ\.?|C\.\s?J\.?|P\.\s?J\.?|Chancellor|Curiam)"
)
_OPINION_START = re.compile(
    r"(?:delivered the opinion of the court[^:.\n]{0,60}[:.]|\bOPINION\s*(?:OF THE "
    r"COURT)?\s*(?=[A-Z\n{]))|(?m:^|\n|OPINION)\s*(?:[A-Z][A-Za-z.'’"
    rf" -]{{2,40}},\s*{_JUDGE_TITLE}\s*[:.]?|(?:JUDGE|JUSTICE|Judge|"
    rf"Justice) [A-Z][A-Za-z.'-]+\s*[:.\n]|PER CURIAM[:.]?)"
)
_AUTHOR = re.compile(rf"\s*(?:[A-Z][\w.'’ -]{{1,40}},\s*{_JUDGE_TITLE}\s*\.?|PER CURIAM\.?)")
_HEADINGS: dict[Part, str] = {
    "disposition": r"CONCLUSION|DISPOSITION",
    "background": (
        r"FACT|BACKGROUND|HISTORY|PROCEEDINGS BELOW|THE PARTIES|EVIDENCE AT TRIAL|NATURE OF THE"
        r" CASE"
    ),
    "reasoning": (
        r"DISCUSSION|ANALYSIS|STANDARDS? OF REVIEW|ISSUES?\b|ARGUMENT|JURISDICTION|MERITS|LAW\b"
    ),
}
_HEADING = re.compile(
    r"(?:(?<=[.\])”\"!?:])|(?<=\n)|^)\s*(?:[IVX]+\.?|[A-Z]\.|\d{1,2}\.)?\s*(?P<words>[A-Z][A-Z "
    r",'’&-]{3,70}[A-Z]|(?:Factual (?:and Procedural )?|Procedural )?Background|(?:Statement of "
    r")?(?:the )?Facts(?: and Proceedings)?|Facts and Procedural (?:History|Background)|Procedural "
    r"History|Discussion|Analysis|Standards? of Review|Conclusion|"
    r"Disposition)\s*[.:]?(?=\s*(?:[{(\[]\d|\n|\d{1,3}\.|[A-Z][a-z]|[A-Z] [a-z]))"
)
_TITLE_WORD = (
    r"(?:[A-Z(][\w'’()-]*|an?|the|of|to|for|and|in|on|or|by|with|from|as|at|not|be|was|is)"
)
_GLUED_HEADING = re.compile(
    r"(?<=[.!?)\]\"”}])\s*(?:(?:[IVX]{1,4}|[A-Z]|\d{1,2})\.\s*)?"
    rf"(?P<words>(?:Whether|[A-Z][\w'’-]*) (?:{_TITLE_WORD},? )*{_TITLE_WORD}[?.]?)\s*(?=\{{\d+\}})"
)
_ARGUMENT_HEADING = re.compile(
    r"^(?:Whether|The (?:District|Trial|Lower) Court)|Authority|Jurisdiction|Preserv|Sufficien"
    r"|Error|Abuse|Claim|Waiver|Constitution|Denial|Statut|Right|Applica|Interpret|Moot|Standing"
)
_SIGNATURE = rf"[A-Z][\w.'’-]+(?:,? and [A-Z][\w.'’-]+)?,\s*(?i:{_JUDGE_TITLE}),?\s*"
# Case matters, since prose also orders and concurs ("It is so ordered. See id.", "We concur with").
_OPINION_END = re.compile(
    rf"\bIT IS (?:HEREBY |THEREFORE )?SO ORDERED|\bSO ORDERED|\bIt is (?:hereby |therefore )?so "
    rf"(?:ordered|Ordered|ORDERED)\.?(?=\s*(?:$|\n|WE\b|I CONCUR|All\b|[A-Z]{{2,}}|{_SIGNATURE}))|"
    rf"\b(?:WE|I) CONCUR\b|\b(?:We|I) (?:concur|Concur)\s*:|\bAll (?:the Justices )?(?:concur|"
    rf"CONCUR)\b(?=\s*[.,]?\s*(?:$|\n|[A-Z]))|(?:(?<=[.}}\n])|^)\s*{_SIGNATURE}\(?(?i:(?:specially "
    rf"|respectfully )?(?:concur|dissent))|\n\s*(?:{_JUDGE_TITLE}\s+)?[A-Z][\w.'’ "
    rf"-]{{1,40}},?\s*(?:{_JUDGE_TITLE},?\s*)?\(?(?i:concurring|dissenting)"
    r"|\n\s*(?:FOOTNOTES|NOTES|Footnotes|Notes)\s*\n"
)
_REASONING_CUE = re.compile(
    r"^(?:[{(\[]?\d{0,3}[})\].]*\s*)?(?:(?:On appeal|In this appeal|Before this court|The (?:first|"
    r"sole|only|principal|dispositive) (?:issue|question)|(?:Defendant|Plaintiff|Appellant|"
    r"Petitioner|Respondent)s?[^.]{0,40} (?:first )?(?:argues?|contends?|asserts?|claims?|raises?)|"
    r"We (?:first|begin|review|turn|address|consider|must)|The standard of review|Our review|It is "
    r"well[- ](?:settled|established))\b)"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of an opinion, with its part and its offsets."""

    part: Part
    start: int
    end: int


def _find_body_start(text: str) -> int:
    match = _OPINION_START.search(text[:_CAPTION_CHARS])
    if not match:
        return 0
    author = _AUTHOR.match(text, match.end())
    return author.end() if author else match.end()


@lru_cache(maxsize=4)
def _find_body_end(text: str, start: int) -> int:
    """Return the end of the court's opinion, where notes or the opinions of other judges start."""
    search_start = start + (len(text) - start) // 20
    match = _OPINION_END.search(text, search_start)
    return match.start() if match else len(text)


def _find_part(heading: re.Match[str], current_part: Part) -> Part | None:
    """Return the part that a heading opens, or None if it is no heading of a part."""
    for part, words in _HEADINGS.items():
        if re.search(words, heading["words"], re.IGNORECASE):
            return part
    if heading.re is not _GLUED_HEADING:
        return None
    return "reasoning" if _ARGUMENT_HEADING.search(heading["words"]) else current_part


def _split_by_headings(text: str, start: int, end: int) -> list[Span]:
    """Return the spans between headings. The text before the first heading is background."""
    spans = [Span("background", start, end)]
    headings = [*_HEADING.finditer(text, start, end), *_GLUED_HEADING.finditer(text, start, end)]
    for heading in sorted(headings, key=lambda heading: heading.start()):
        part = _find_part(heading, spans[-1].part)
        if part is not None and heading.start() >= spans[-1].start:
            spans[-1] = replace(spans[-1], end=heading.start())
            spans.append(Span(part, heading.end(), end))
    return spans


def _split_by_phrases(text: str, start: int, end: int) -> list[Span]:
    """Split a text without headings: the first phrase of reasoning, or a share, ends its facts."""
    sentences = split_sentences(text[start:end])
    reasoning_start = start + round((end - start) * FACTS_SHARE)
    for sentence in sentences:
        if sentence.start > (end - start) // 12 and _REASONING_CUE.match(sentence.text):
            reasoning_start = min(start + sentence.start, reasoning_start)
            break
    last_start = max(reasoning_start, start + sentences[-1].start if sentences else end)
    return [
        Span("background", start, reasoning_start),
        Span("reasoning", reasoning_start, last_start),
        Span("disposition", last_start, end),
    ]


def split_opinion(text: str) -> list[Span]:
    """Split an opinion into its parts, in order. Only the headings are left out.

    >>> text = "OPINION LEE, J. He fell. DISCUSSION We review it. CONCLUSION We affirm."
    >>> [span.part for span in split_opinion(text)]
    ['caption', 'background', 'reasoning', 'disposition', 'after']
    """
    start = _find_body_start(text)
    end = _find_body_end(text, start)
    body = _split_by_headings(text, start, end)
    if not any(span.part == "reasoning" for span in body):
        rest = [span for span in body if span.part == "disposition"]
        rest_start = rest[0].start if rest else end
        phrases = _split_by_phrases(text, start, rest_start)
        body = (
            [*phrases[:2], *(span for span in body if span.start >= rest_start)]
            if rest
            else phrases
        )
    return [Span("caption", 0, start), *body, Span("after", end, len(text))]


def extract_part(text: str, spans: list[Span], part: Part) -> str:
    """Return the text of one part, its spans separated by blank lines."""
    return "\n\n".join(text[span.start : span.end].strip() for span in spans if span.part == part)


def extract_majority(text: str) -> str:
    """Return the court's opinion without caption, notes and the opinions of single judges."""
    spans = split_opinion(text)
    return text[spans[0].end : spans[-1].start]
