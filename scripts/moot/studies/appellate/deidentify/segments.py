"""The parts of an appellate opinion: what precedes it, the facts, the reasoning, the disposition,
what follows it.

Reporters mark the parts by headings, or not at all; the boundaries are found by headings first and
by the phrases that open a court's reasoning where there is no heading.
"""

import re
from dataclasses import dataclass
from typing import Literal

from moot.studies.appellate.legal.sentences import split_sentences

Part = Literal["caption", "background", "reasoning", "disposition", "after"]
FACTS_SHARE = (
    0.35  # of an opinion without headings or phrases, at most this share is taken for its facts
)
_CAPTION_SEARCHED = 6_000

_JUDGE_TITLE = (
    r"(?:(?:Chief|Presiding|Senior|Acting|Associate|Circuit|District|Vice|Per)\s+)*(?:Judges?|Justices?|J\.?J?\.|"
    r"JJ\.?|C\.\s?J\.?|P\.\s?J\.?|Chancellor|Curiam)"
)
_OPENING = re.compile(
    r"(?:delivered the opinion of the court[^:.\n]{0,60}[:.]"
    r"|\bOPINION\s*(?:OF THE COURT)?\s*(?=[A-Z\n{]))"
    r"|(?m:^|\n|OPINION)\s*(?:[A-Z][A-Za-z.'’"
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
    r"(?:(?<=[.\])”\"!?:])|(?<=\n)|^)\s*(?:[IVX]+\.?|[A-Z]\.|\d{1,2}\.)?\s*"
    r"(?P<words>[A-Z][A-Z ,'’&-]{3,70}[A-Z]|(?:Factual (?:and Procedural )?|Procedural"
    r" )?Background|"
    r"(?:Statement of )?(?:the )?Facts(?: and Proceedings)?|"
    r"Facts and Procedural (?:History|Background)|Procedural History|Discussion|Analysis|Standards?"
    r" of Review|"
    r"Conclusion|Disposition)"
    r"\s*[.:]?(?=\s*(?:[{(\[]\d|\n|\d{1,3}\.|[A-Z][a-z]|[A-Z] [a-z]))"
)
_SIGNATURE = rf"[A-Z][\w.'’-]+(?:,? and [A-Z][\w.'’-]+)?,\s*(?i:{_JUDGE_TITLE}),?\s*"
# case matters: prose orders and concurs as well ("It is so ordered. See id.", "We concur with")
_ENDING = re.compile(
    rf"\bIT IS (?:HEREBY |THEREFORE )?SO ORDERED|\bSO ORDERED"
    rf"|\bIt is (?:hereby |therefore )?so (?:ordered|Ordered|ORDERED)\.?(?=\s*(?:$|\n|WE\b|I"
    rf" CONCUR|All\b"
    rf"|[A-Z]{{2,}}|{_SIGNATURE}))"
    rf"|\b(?:WE|I) CONCUR\b|\b(?:We|I) (?:concur|Concur)\s*:|\bAll (?:the Justices )?(?:concur"
    rf"|CONCUR)\b(?=\s*[.,]?\s*(?:$|\n|[A-Z]))"
    rf"|(?:(?<=[.}}\n])|^)\s*{_SIGNATURE}\(?(?i:(?:specially |respectfully )?(?:concur|dissent))"
    rf"|\n\s*(?:{_JUDGE_TITLE}\s+)?[A-Z][\w.'’"
    rf" -]{{1,40}},?\s*(?:{_JUDGE_TITLE},?\s*)?\(?(?i:concurring|dissenting)"
    r"|\n\s*(?:FOOTNOTES|NOTES|Footnotes|Notes)\s*\n"
)
_REASONING_CUE = re.compile(
    r"^(?:[{(\[]?\d{0,3}[})\].]*\s*)?(?:(?:On appeal|In this appeal|Before this court|The"
    r" (?:first|sole|only|"
    r"principal|dispositive) (?:issue|question)|"
    r"(?:Defendant|Plaintiff|Appellant|Petitioner|Respondent)s?[^.]{0,40} (?:first"
    r" )?(?:argues?|contends?|asserts?|"
    r"claims?|raises?)|"
    r"We (?:first|begin|review|turn|address|consider|must)|The standard of review|Our review|"
    r"It is well[- ](?:settled|established))\b)"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of an opinion and the part that it belongs to."""

    part: Part
    start: int
    end: int


def _body_start(text: str) -> int:
    opening = _OPENING.search(text[:_CAPTION_SEARCHED])
    if not opening:
        return 0
    author = _AUTHOR.match(text, opening.end())
    return author.end() if author else opening.end()


def _body_end(text: str, start: int) -> int:
    """Where the court's own opinion ends: notes and the opinions of other judges follow."""
    halfway = start + (len(text) - start) // 20
    ending = _ENDING.search(text, halfway)
    return ending.start() if ending else len(text)


def _by_headings(text: str, start: int, end: int) -> list[Span]:
    """The spans between headings; what comes before the first one introduces the case, so it counts
    as background.
    """
    marks: list[tuple[int, int, Part]] = [(start, start, "background")]
    for heading in _HEADING.finditer(text, start, end):
        named = heading["words"]
        if part := next(
            (part for part, words in _HEADINGS.items() if re.search(words, named, re.IGNORECASE)),
            None,
        ):
            marks.append((heading.start(), heading.end(), part))
    ends = [mark[0] for mark in marks[1:]] + [end]
    return [Span(part, begin, stop) for (_, begin, part), stop in zip(marks, ends, strict=True)]


def _by_phrases(text: str, start: int, end: int) -> list[Span]:
    limit = start + round((end - start) * FACTS_SHARE)
    sentences = split_sentences(text[start:end])
    opens = (
        s.start for s in sentences if s.start > (end - start) // 12 and _REASONING_CUE.match(s.text)
    )
    cut = min(start + next(opens, limit), limit)
    closing = start + sentences[-1].start if sentences else end
    return [
        Span("background", start, cut),
        Span("reasoning", cut, max(cut, closing)),
        Span("disposition", max(cut, closing), end),
    ]


def split_opinion(text: str) -> list[Span]:
    """Split an opinion into its parts, in order and without gaps except for the headings
    themselves.

        >>> [span.part for span in split_opinion("OPINION LEE, J. He fell. DISCUSSION We review it. CONCLUSION We affirm.")]
        ['caption', 'background', 'reasoning', 'disposition', 'after']
    """
    start = _body_start(text)
    end = _body_end(text, start)
    body = _by_headings(text, start, end)
    if not any(span.part in ("reasoning", "disposition") for span in body):
        body = _by_phrases(text, start, end)
    elif not any(span.part == "reasoning" for span in body):
        first = next(span for span in body if span.part == "disposition")
        body = [
            *_by_phrases(text, start, first.start)[:2],
            *(span for span in body if span.start >= first.start),
        ]
    return [Span("caption", 0, start), *body, Span("after", end, len(text))]


def extract_part(text: str, spans: list[Span], part: Part) -> str:
    """All the text of one part, its spans below each other."""
    return "\n\n".join(text[span.start : span.end].strip() for span in spans if span.part == part)


def majority(text: str) -> str:
    """The court's own opinion: without its caption, notes and the opinions of single judges."""
    spans = split_opinion(text)
    return text[spans[0].end : spans[-1].start]
