"""The words of `words.yaml`: roles, titles, customary capitals, and nouns that tell a kind."""

import re
from collections.abc import Collection, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from moot.core.yaml_text import load_yaml
from moot.studies.appellate.deidentify.recogniser import MODEL

_LISTS = load_yaml(Path(__file__).with_name("words.yaml").read_text("utf-8"))


@cache
def _read_words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


def _read_kinds(name: str) -> dict[str, str]:
    """Return the kind of each word in a table of lists. A word in the list `own` is a kind."""
    kinds: dict[str, str] = {}
    for kind, words in _LISTS[name].items():
        for word in words.split():
            kinds[word] = word if kind == "own" else kind
    return kinds


def join_words(name: str) -> str:
    """Return a regular expression that matches any word of a list of `words.yaml`."""
    words = _LISTS[name]
    return "|".join(words.split() if isinstance(words, str) else words)


@cache
def read_patterns(file_name: str) -> dict[str, re.Pattern[str]]:
    """Read the named patterns of a file of this folder, each a list of alternatives.

    "{{name}}" in a pattern stands for an entry of `parts`, or for a list of words.
    """
    data = load_yaml(Path(__file__).with_name(file_name).read_text("utf-8"))
    parts = data.pop("parts")
    patterns = {}
    for name, alternatives in data.items():
        pattern = "|".join(alternatives)
        while "{{" in pattern:
            pattern = re.sub(
                r"\{\{(\w+)\}\}", lambda part: parts.get(part[1]) or join_words(part[1]), pattern
            )
        patterns[name] = re.compile(pattern)
    return patterns


STATES = join_words("states")
STATE_WORDS = frozenset(re.split(r"[| ]", STATES.lower()))
FAMILY_ROLES = _read_words("family_roles")
PARTY_ROLES = _read_words("sides") | FAMILY_ROLES
ROLES = PARTY_ROLES | _read_words("other_roles")
ROLE_WORDS = ROLES | {f"{role}s" for role in ROLES}
KIND_BY_TITLE = _read_kinds("titles")
KIND_BY_TITLE |= {f"{title}s": kind for title, kind in KIND_BY_TITLE.items()}
KIND_BY_NOUN = _read_kinds("nouns")
PERSON_KINDS = frozenset(["person", *KIND_BY_TITLE.values()])
ORGANISATION_KINDS = _read_words("organisation_kinds")
PLACE_KINDS = frozenset(KIND_BY_NOUN.values()) - ORGANISATION_KINDS - {"statute"} | {"state"}
COMMON_WORDS = (
    _read_words("customary") | ROLE_WORDS | frozenset(join_words("months").lower().split("|"))
)
"""Words that legal prose capitalises within a sentence and that do not name people."""
ALSO_NAMES = _read_words("also_names")
ADDRESSES = _read_words("addresses")
TITLES_IN_PSEUDONYM = ADDRESSES | {
    title for title, kind in KIND_BY_TITLE.items() if kind != "person"
}
"""Titles that a pseudonym replaces together with the name."""
PERSONAL_TITLES = TITLES_IN_PSEUDONYM | {"nurse"}
BEFORE_NAMES = _read_words("before_names")
SEPARATORS = _read_words("separators")
COMPANY_STARTS = _read_words("company_starts")
LINKING_WORDS = _read_words("links")
DOCUMENT_NOUN = re.compile(rf"(?:{join_words('documents')})s?")


def find_kind(keys: Sequence[str]) -> str:
    """Return the kind that the nouns of a name tell, or "".

    The last word decides, or the one before a legal form ("Inc."), "of" or "for": "Hale Bank, Inc."
    and "Bank of Hale" are banks.

    >>> find_kind(["hale", "bank", "inc"]), find_kind(["hale", "bank", "road"])
    ('bank', 'road')
    """
    for link in ("of", "for"):
        noun = keys[keys.index(link, 1) - 1] if link in keys[1:] else ""
        if noun in KIND_BY_NOUN:
            return KIND_BY_NOUN[noun]
    kinds = [KIND_BY_NOUN.get(key, "") for key in keys[-2:]] or [""]
    is_own_kind = kinds[0] in ORGANISATION_KINDS - {"organization"}
    return kinds[0] if kinds[-1] == "company" and is_own_kind else kinds[-1]


def is_name_of_common_words(keys: Sequence[str]) -> bool:
    """Return whether several customary words make up a name, such as "Bank of America"."""
    if tuple(keys[:2]) == ("united", "states"):
        return is_name_of_common_words(keys[2:])
    if len(keys) < 2 or DOCUMENT_NOUN.fullmatch(keys[0]):
        return False
    if keys[1] == "of":
        return keys[0] in _read_words("named_with_of") and len(keys) > 2
    if keys[-1] in _read_words("institutions"):
        return not set(keys[:-1]) <= _read_words("public") | LINKING_WORDS
    return keys[0] in COMPANY_STARTS and set(keys) <= COMPANY_STARTS | _read_words("company_ends")


def match_any(words: Collection[str]) -> str:
    """Return a regular expression that matches any of the words, capitalised."""
    return "|".join(sorted((word.capitalize() for word in words), key=len, reverse=True))


@cache
def list_opening_words() -> frozenset[str]:
    """Return ordinary words that open sentences, even if an opinion has them nowhere else."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) | _read_words("opening")


@cache
def list_english_lemmas(*, has_nouns: bool = True) -> frozenset[str]:
    """Return the lemmas of the recogniser's dictionary (WordNet); empty without the extra `ner`.

    The nouns include names of people and towns ("john", "clovis").
    """
    model = find_spec(MODEL)
    if find_spec("spacy") is None or model is None or model.origin is None:
        return frozenset()
    from spacy.lookups import Lookups

    folder = next(Path(model.origin).parent.glob("*/lemmatizer/lookups"), None)
    if folder is None:
        return frozenset()
    lemmas_by_class = Lookups().from_disk(folder).get_table("lemma_index")
    classes = ("verb", "adj", "adv", "noun")[: 4 if has_nouns else 3]
    return frozenset().union(*(lemmas_by_class[word_class] for word_class in classes))


def is_english(word: str, *, has_nouns: bool = True) -> bool:
    """Return whether a dictionary has a word or its base, such as "need" of "needed"."""
    lemmas = list_english_lemmas(has_nouns=has_nouns)
    stem = re.sub(r"(?:ies|es|s|ed|d|ing|ly)$", "", word)
    if word in lemmas or stem == word or len(stem) < 3:
        return word in lemmas
    return any(base in lemmas for base in (stem, f"{stem}e", f"{stem}y", stem[:-1]))
