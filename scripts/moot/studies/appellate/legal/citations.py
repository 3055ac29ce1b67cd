"""The citations in a statement: how many, how well formed, and whether the case's own text bears
them out.

A model that cites cannot be looked up offline. A citation that the facts already hold is borne out;
any other is "not verifiable", which is where fabrications are to be sought, not proof of one.
"""

import re
from functools import cache
from typing import Any, NamedTuple

_NAMED = re.compile(
    r"\b[A-Z][\w.'’&-]+(?: [A-Z][\w.'’&-]+){0,4} v\.? [A-Z][\w.'’&-]+(?: [A-Z][\w.'’&-]+){0,4}"
)


class Citations(NamedTuple):
    """What one statement cites.

    Attributes:
        total: citations of any form, cases named without a reporter among them.
        well_formed: with reporter, volume and page, or a code with its section.
        in_case: already in the case's own text.
        unverifiable: not in the case's own text.
    """

    total: int
    well_formed: int
    in_case: int
    unverifiable: int


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()


@cache
def count_citations(statement: str, case_text: str) -> Citations:
    """The citations of a statement, held against the text of its case.

    >>> count_citations("See Lee v. Hall, 12 F.3d 34. And Roe v. Cole.", "No citation here.").total
    2
    """
    kinds = ("FullCaseCitation", "FullLawCitation", "FullJournalCitation", "ShortCaseCitation")
    formed = [found for found in find_citations(statement) if type(found).__name__ in kinds]
    spans = [found.full_span() for found in formed]
    named = [
        match
        for match in _NAMED.finditer(statement)
        if not any(match.start() < end and start < match.end() for start, end in spans)
    ]
    facts = _plain(case_text)
    cited = [found.matched_text() for found in formed] + [match[0] for match in named]
    known = sum(_plain(words) in facts for words in cited)
    return Citations(len(cited), len(formed), known, len(cited) - known)


@cache
def _tokenizer() -> Any:
    from eyecite.tokenizers import AhocorasickTokenizer

    return AhocorasickTokenizer()


def find_citations(text: str) -> list[Any]:
    """The citations that eyecite finds in a text, in order."""
    from eyecite import get_citations

    if not text.strip():
        return []
    return sorted(get_citations(text, tokenizer=_tokenizer()), key=lambda found: found.span())
