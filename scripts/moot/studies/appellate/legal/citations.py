"""Citations in a text, as the package eyecite finds them."""

from functools import cache
from typing import Any


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
