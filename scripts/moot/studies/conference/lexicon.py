"""Which clusters of criteria a text touches, by a lexicon for each cluster."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache


@cache
def compile_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern for whole words or phrases; "x*" matches every word that begins with x.

    >>> pattern_of(("harm reduction", "tax*")).findall("Taxes pay for harm  reduction, not syntax.")
    ['Taxes', 'harm  reduction']
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    forms = (r"\s+".join(map(re.escape, word.rstrip("*").split())) for word in longest_first)
    endings = (r"\w*" if word.endswith("*") else "" for word in longest_first)
    return re.compile(
        rf"\b(?:{'|'.join(form + ending for form, ending in zip(forms, endings, strict=True))})\b", re.IGNORECASE
    )


def clusters_reached(texts: Iterable[str], clusters: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """For each cluster, the words of its lexicon that the texts use, in lower case, sorted; empty where none is."""
    whole = "\n".join(texts)
    return {
        cluster: sorted({" ".join(found.lower().split()) for found in compile_pattern(tuple(words)).findall(whole)})
        for cluster, words in clusters.items()
    }
