"""Count the citations of a statement: their number, their form, and whether the case has them too.

A model's citation cannot be verified offline. A citation that the facts contain is confirmed; any
other is "not verifiable", which may be a fabrication but is not proof of one.
"""

import re
from functools import cache
from typing import Any, NamedTuple

_CASE_NAME = re.compile(
    r"\b[A-Z][\w.'’&-]+(?: [A-Z][\w.'’&-]+){0,4} v\.? [A-Z][\w.'’&-]+(?: [A-Z][\w.'’&-]+){0,4}"
)


class Citations(NamedTuple):
    """The numbers of citations in one statement.

    Attributes:
        total: citations of any form, including cases without a reporter.
        well_formed: citations with reporter, volume and page, or with code and section.
        in_case: citations that the text of the case contains.
        unverifiable: citations that the text of the case does not contain.
    """

    total: int
    well_formed: int
    in_case: int
    unverifiable: int


def _normalise_text(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


@cache
def count_citations(statement: str, case_text: str) -> Citations:
    """Count the citations of a statement and compare them with the text of its case.

    >>> count_citations("See Lee v. Hall, 12 F.3d 34. And Roe v. Cole.", "No citation here.").total
    2
    """
    kinds = ("FullCaseCitation", "FullLawCitation", "FullJournalCitation", "ShortCaseCitation")
    citations = [
        citation for citation in find_citations(statement) if type(citation).__name__ in kinds
    ]
    spans = [citation.full_span() for citation in citations]
    citation_texts = [citation.matched_text() for citation in citations]
    for match in _CASE_NAME.finditer(statement):
        is_counted = any(match.start() < end and start < match.end() for start, end in spans)
        if not is_counted:
            citation_texts.append(match[0])
    case_words = _normalise_text(case_text)
    in_case_count = sum(_normalise_text(words) in case_words for words in citation_texts)
    return Citations(
        total=len(citation_texts),
        well_formed=len(citations),
        in_case=in_case_count,
        unverifiable=len(citation_texts) - in_case_count,
    )


@cache
def _tokenizer() -> Any:
    from eyecite.tokenizers import AhocorasickTokenizer

    return AhocorasickTokenizer()


def find_citations(text: str) -> list[Any]:
    """Return the citations that eyecite finds in a text, in order."""
    from eyecite import get_citations

    if not text.strip():
        return []
    return sorted(get_citations(text, tokenizer=_tokenizer()), key=lambda citation: citation.span())
