"""The text of a court opinion: its caption, its body and what follows, and the names in it.

Pages of court PDFs have an empty line behind every printed line. So an empty line ends a paragraph
only where the text before it ends a sentence, or is a heading. Their footnotes, quotations and page
numbers stand between two lines of one sentence.
"""

import calendar
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_SENTENCE_END = re.compile(r"[.?!:;}][\"'”’)\]]*$")
_MAX_HEADING_WORDS = 6
_CAPTION_CHARS = 6_000
# The names of a caption whose end is not found are among these characters.
_UNKNOWN_CAPTION_CHARS = 1_500
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
# A form feed ends a page; notes, below a line with a mark alone, and a number come before it.
_PAGE_FOOT = re.compile(
    r"(?:\n\s*\n[^\S\n]*(?:\d{1,2}|[*†]+)[^\S\n]*\n(?=\s*[A-Z“\"]).*)?"
    r"(?:\n\s*-?\d{1,4}-?)?\s*\Z",
    re.DOTALL,
)
_PAGE_MARK = re.compile(r"\[?\*\d{1,4}\]?")
_NOTE_MARK = re.compile(r"(?<=[a-z]{3})([.,;:]?[\"”]?)\d{1,2}(?=\s)")
# Lines of printed pages are shorter; one that fills the width seldom ends a paragraph.
_PRINTED_WIDTH = 120
_FULL_LINE = 0.8
_DATE = re.compile(rf"\b(?:{'|'.join(calendar.month_name[1:])})\b(?= \d|, \d| of \d)")
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
ROLE = r"(?:Plaintiff|Defendant|Petitioner|Respondent|Appellant|Appellee|Claimant|Worker)"
COURT_WORDS = frozenset(
    re.findall(
        r"\w+",
        "plaintiff defendant appellant appellee petitioner respondent claimant worker employer"
        " state government people county city court appeal district circuit supreme superior trial"
        " judge justice counsel attorney board commission department opinion order case united",
    )
)
"""Words of captions that name no one."""


_SENTENCE_START = re.compile(r"(?:^|\n\W*|[.?!:][\"'”’)\]]*\s+|[\"“(])$")


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
    """Join the printed lines of each paragraph; drop footnotes, page numbers and marks of notes.

    >>> join_lines("He fell on the\\n\\nstair. He sued.\\n\\n1 See the rule.\\n\\nI")
    'He fell on the stair. He sued.\\n\\nI'
    """
    full_length = _measure_full_line(text)
    # a line of a text that is not wrapped is a paragraph
    end = r"\n\s*\n" if full_length < _PRINTED_WIDTH else r"\n"
    blocks = re.split(end, _drop_page_feet(text))
    paragraphs: list[str] = []
    is_open = is_full = was_one_line = False
    for block in filter(str.strip, blocks):
        line = " ".join(block.split())
        is_one_line = "\n" not in block.strip()
        # "Inc." may end a printed line; an indent begins the next paragraph
        is_rest = is_full and not block[:2].isspace() and not _FOOTNOTE.match(line)
        is_heading = _is_heading(line)
        if (is_open or is_rest) and is_one_line == was_one_line and not is_heading:
            paragraphs[-1] += f" {line}"
        else:
            paragraphs.append(line)
        is_open = not is_heading and _SENTENCE_END.search(line) is None
        is_full, was_one_line = len(block.rstrip()) >= full_length, is_one_line
    return "\n\n".join(line for line in paragraphs if not _FOOTNOTE.match(line))


def _drop_page_feet(text: str) -> str:
    """Drop the notes and the number at the foot of each page, and the marks in the text."""
    if "\f" in text:
        text = "\n\n".join(_PAGE_FOOT.sub("", page, count=1) for page in text.split("\f"))
    return _NOTE_MARK.sub(r"\1", _PAGE_MARK.sub("", text))


def _measure_full_line(text: str) -> float:
    """Return the length from which a printed line is full; no line of other texts is."""
    width = max(map(len, text.splitlines()), default=0)
    return _FULL_LINE * width if width < _PRINTED_WIDTH else float("inf")


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


def list_parties(caption: str) -> Mapping[str, str]:
    """Return the name that each side of a caption has before its role, to the role.

    >>> list_parties("In re Berg.\\n\\nANNA BERG, Plaintiff, v. MILL, Inc., of Ulm, Defendant.")
    {'Anna Berg': 'Plaintiff', 'Mill': 'Defendant'}
    """
    parties = {}
    for side in re.split(r"\b[vV]s?\.", caption):
        # in lower case it is that of counsel's client
        if role := re.search(rf"\b(?:{ROLE}|{ROLE.upper()})", side):
            # what follows a comma describes the party, and may name a place
            name = re.split(r"\. |\n", side[: role.start()].strip())[-1].partition(",")[0]
            parties[name.title()] = role[0].title()
    return parties


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
    heading = parts.caption or parts.body[:_UNKNOWN_CAPTION_CHARS]
    named_text = "\n".join([heading, signatures, *record_names, *named])
    words = set(_name_words(_DATE.sub("", named_text)))
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
