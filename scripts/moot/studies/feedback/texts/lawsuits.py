"""Which opinions belong to one lawsuit, by the names in them, where little of their text is the
same.

Two opinions of one lawsuit (an appeal and the appeal after remand, the suits of both parties)
repeat its people: two names or more that hardly any other text has. Names are read before anything
is masked.
"""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations

MOST_TEXTS = 20
"""A name that more texts have is an institution, a place or a John Smith."""

_NAME = re.compile(r"(?:[A-Z][\w’'\-]*\.?,? (?:& |of (?:the )?)?)*[A-Z][\w’'\-]+")
_NO_NAME = re.compile(
    r"the|an?|in|on|after|as|case|however|initially|ultimately|and|of|&|vs?|versus|they|s?he|esq|"
    r"[js]r|et|co|company|"
    r"judge|justice|mrs?|dr|plaintiff|defendant|appell(?:ant|ee)|complainant"
)
_NO_PERSON = re.compile(
    r"\b(?:court|county|state|states|district|circuit|section|township|street|river|railroad|"
    r"railway|illinois|act|"
    r"amendment|clause|statute|york|chicago|creek|general|january|february|march|april|may|june|"
    r"july|august|september|october|november|december)\b"
)


def names(text: str) -> frozenset[str]:
    """Return the people and organisations that a text names, each as initial and last word.

    >>> text = "The case of Joel V. Taylor was heard in Cook County; J. V. Taylor sued the Company."
    >>> sorted(names(text))
    ['j taylor']
    """
    return frozenset(key for match in _NAME.finditer(text) if (key := _key(match.group())))


def _key(phrase: str) -> str:
    words = [
        word.strip(".,").lower().removesuffix("'s").removesuffix("’s") for word in phrase.split(" ")
    ]
    words = [word for word in words if word and not _NO_NAME.fullmatch(word)]
    if len(words) < 2 or _NO_PERSON.search(" ".join(words)):  # a single word says too little
        return ""
    return f"{words[0][0]} {words[-1]}"


def lawsuits(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return the marks of each text's lawsuit.

    Texts with a common mark are opinions of one lawsuit.

    A mark is a pair of names that at most `MOST_TEXTS` of the texts have.
    """
    names_of_texts = [names(text) for text in texts]
    text_counts = Counter(chain.from_iterable(names_of_texts))
    marks = []
    for text_names in names_of_texts:
        rare_names = sorted(name for name in text_names if text_counts[name] <= MOST_TEXTS)
        marks.append(frozenset(" / ".join(pair) for pair in combinations(rare_names, 2)))
    return marks
