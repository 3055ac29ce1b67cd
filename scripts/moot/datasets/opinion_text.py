"""The text of a court opinion: its caption, its body and what follows, and the names in it.

Pages of court PDFs have an empty line behind every printed line. So an empty line ends a paragraph
only where the text before it ends a sentence, or is a heading.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_SENTENCE_END = re.compile(r"[.?!:;}][\"'”’)\]]*$")
_MAX_HEADING_WORDS = 6
_CAPTION_CHARS = 6_000
_TITLE = (
    r"(?:(?:Chief|Presiding|Senior|Acting|Associate|Circuit|District|Vice)\s+)*"
    r"(?:Judge|Justice|J\.|C\.\s?J\.|P\.\s?J\.|JUDGE|JUSTICE)"
)
_BODY_START = re.compile(
    rf"\bOPINION(?=\s*[A-Z{{])(?:\s*[A-Z][\w.'’ -]{{1,40}},\s*{_TITLE}\.?)?"
    rf"|(?:^|\n)\s*[A-Z][\w.'’ -]{{1,40}},\s*{_TITLE}\s*[.:]"
    r"|\b(?:PER CURIAM|Per Curiam)[.:]?|delivered the opinion of the court[^:.\n]{0,60}[:.]"
)
_BODY_END = re.compile(
    r"\bIT IS (?:HEREBY |THEREFORE )?SO ORDERED|\bIt is (?:hereby )?so ordered\.?(?=\s*(?:$|\n))"
    r"|\b(?:WE|I) CONCUR\b|\b(?:We|I) concur:"
    rf"|(?:[.}}\n]|^)\s*[A-Z][\w.'’ -]{{1,40}},\s*{_TITLE},?\s*\(?"
    r"(?:\w+ ){0,2}(?i:concur|dissent)"
    r"|\n\s*(?:FOOTNOTES|NOTES|Footnotes|Notes)\s*\n"
)
_FOOTNOTE = re.compile(r"(?:\d{1,2}|\*+|†)[.)]?\s+(?=[A-Z“\"])")
_NAME_WORD = re.compile(r"\b[A-Z](?:[\w'’-]*\w|(?:\.[A-Z])+)")
_NAMED = re.compile(
    r"\b(?:Plaintiff|Defendant|Appell\w+|Petitioner|Respondent|Worker|Mr|Mrs|Ms|Dr|Judge|Justice)s?"
    r"[.,]? ((?:[A-Z][\w'’-]+(?:, Jr)?[. ]{0,2}){1,4})"
)
_OUTCOME = re.compile(
    r"\b(?:affirm(?:s|ed|ing|ance)?|revers(?:e|es|ed|ing|al)|vacat(?:e|es|ed|ing|ur)"
    r"|remand(?:s|ed|ing)?|overturn(?:s|ed|ing)?|upholds?|upholding|upheld|set(?:ting)? aside"
    r"|appeals? (?:is|was|are|were) dismissed|dismiss(?:es|ed|ing)? the appeals?"
    r"|we|our|this court)\b",
    re.IGNORECASE,
)
COURT_WORDS = frozenset(
    re.findall(
        r"\w+",
        "plaintiff defendant appellant appellee petitioner respondent claimant worker employer"
        " state government people county city court appeal district circuit supreme superior trial"
        " judge justice counsel attorney board commission department opinion order case united",
    )
)
"""Words of captions that name no one."""


_SENTENCE_START = re.compile(r"(?:^|[.?!:][\"'”’)\]]*\s+|[\"“(])$")


class Names(NamedTuple):
    """The words of the names in an opinion, in lower case.

    Attributes:
        rare: words that the opinion has with a capital alone.
        ordinary: words that it has in lower case, too; at the start of a sentence they name no one.
    """

    rare: frozenset[str] = frozenset()
    ordinary: frozenset[str] = frozenset()


class OpinionParts(NamedTuple):
    """The caption of an opinion, the court's own text, and what follows it."""

    caption: str
    body: str
    rest: str


def join_lines(text: str) -> str:
    """Join the printed lines of each paragraph; drop the paragraphs that are footnotes.

    >>> join_lines("He fell on the\\n\\nstair. He sued.\\n\\n1 See the rule.\\n\\nI")
    'He fell on the stair. He sued.\\n\\nI'
    """
    paragraphs: list[str] = []
    is_open = False
    for block in re.split(r"\n\s*\n", text):
        line = " ".join(block.split())
        if not line:
            continue
        if is_open and not _is_heading(line):
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
        is_open = not _SENTENCE_END.search(line) and not _is_heading(line)
    return "\n\n".join(line for line in paragraphs if not _FOOTNOTE.match(line))


def _is_heading(line: str) -> bool:
    words = re.findall(r"[A-Za-z]{4,}|[IVX]+$", line)
    is_short = len(line.split()) <= _MAX_HEADING_WORDS
    return is_short and bool(words) and all(word[0].isupper() for word in words)


def split_opinion(text: str) -> OpinionParts:
    """Split an opinion into its caption, the court's text, and separate opinions and notes."""
    text = join_lines(text)
    opening = _BODY_START.search(text[:_CAPTION_CHARS])
    start = opening.end() if opening else 0
    ending = _BODY_END.search(text, start + (len(text) - start) // 20)
    end = ending.start() if ending else len(text)
    return OpinionParts(text[:start], text[start:end], text[end:])


def _name_words(text: str) -> Iterable[str]:
    """Iterate over the capitalised words of a text, in lower case and without an ending."""
    for match in _NAME_WORD.finditer(text):
        yield re.sub(r"['’]s?$|(?<=\w\w\w)s$", "", match[0].casefold())


def collect_names(text: str, record_names: Iterable[str]) -> Names:
    """Return the names of an opinion's parties, counsel and bench.

    They are the capitalised words of the caption, the signatures and the record, and those behind
    a role or a title.
    """
    parts = split_opinion(text)
    signatures = parts.rest[:300]
    named = [match[1] for match in _NAMED.finditer(parts.body)]
    words = set(_name_words("\n".join([parts.caption, signatures, *record_names, *named])))
    names = words - COURT_WORDS
    ordinary = names & set(re.findall(r"\b[a-z][\w'’-]*", text))
    return Names(frozenset(names - ordinary), frozenset(ordinary))


def find_leaks(facts: str, names: Names) -> list[str]:
    """Return the words of a text that are part of one of these names or tell an outcome."""
    leaks = [match[0] for match in _OUTCOME.finditer(facts)]
    for match in _NAME_WORD.finditer(facts):
        is_start = _SENTENCE_START.search(facts[: match.start()]) is not None
        searched = names.rare if is_start else names.rare | names.ordinary
        if not searched.isdisjoint(_name_words(match[0])):
            leaks.append(match[0])
    return list(dict.fromkeys(leaks))
