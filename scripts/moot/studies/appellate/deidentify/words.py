"""The words of `words.yaml`: roles, titles, customary capitals, and nouns that tell a kind."""

import re
from collections.abc import Collection, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import yaml

from moot.studies.appellate.deidentify.recogniser import MODEL

_LISTS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8"))
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|"
    "Michigan|Minnesota|Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|"
    "New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|"
    "Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia|Washington|"
    "West Virginia|Wisconsin|Wyoming|Puerto Rico|District of Columbia"
)
STATE_WORDS = frozenset(re.split(r"[| ]", STATES.lower()))


@cache
def _read_words(*names: str) -> frozenset[str]:
    return frozenset(" ".join(_LISTS[name] for name in names).split())


def _invert(lists: dict[str, str]) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for kind, words in lists.items():
        kinds |= dict.fromkeys(words.split(), kind)
    return kinds


def join_words(name: str) -> str:
    """Return a regular expression that matches any word of a list of `words.yaml`."""
    return "|".join(_LISTS[name].split())


FAMILY_ROLES = _read_words("family_roles")
PARTY_ROLES = _read_words("sides") | FAMILY_ROLES
ROLES = PARTY_ROLES | _read_words("other_roles")
ROLE_WORDS = ROLES | {f"{role}s" for role in ROLES}
KIND_BY_TITLE = _invert(_LISTS["titles"])
KIND_BY_TITLE |= {f"{title}s": kind for title, kind in KIND_BY_TITLE.items()}
KIND_BY_TITLE["deputies"] = "officer"
KIND_BY_NOUN = {
    noun: noun if kind == "own" else kind for noun, kind in _invert(_LISTS["nouns"]).items()
}
PERSON_KINDS = frozenset(["person", *KIND_BY_TITLE.values()])
ORGANISATION_KINDS = frozenset(
    "company organization bank hospital clinic school university college church".split()
)
PLACE_KINDS = frozenset(KIND_BY_NOUN.values()) - ORGANISATION_KINDS - {"statute"} | {"state"}
COMMON_WORDS = _read_words("customary") | ROLE_WORDS | frozenset(MONTHS.lower().split("|"))
"""Words that legal prose capitalises within a sentence and that do not name people."""
ALSO_NAMES = _read_words("also_names")
ADDRESSES = frozenset("mr mrs ms miss messrs dr".split())
PERSONAL_TITLES = (
    ADDRESSES | {"nurse"} | {title for title, kind in KIND_BY_TITLE.items() if kind != "person"}
)
TITLES_IN_PSEUDONYM = PERSONAL_TITLES - {"nurse"}
"""Titles that a pseudonym replaces together with the name."""
BEFORE_NAMES = _read_words("before_names")
SEPARATORS = _read_words("separators")
COMPANY_STARTS = _read_words("company_starts")
LINKING_WORDS = frozenset("of the de la los las del van von y and for &".split())
DOCUMENT_NOUN = re.compile(
    r"(?:act|code|law|amendment|clause|constitution|judgment|petition|motion|deed|agreement|notice|"
    r"order|statute|doctrine|contract|lease|certificate|regulation|instruction)s?"
)


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
    """Whether customary words make up a name, as "Bank of America" does; one word does not."""
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
    """Ordinary words that open sentences; an opinion need not write them small elsewhere."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return frozenset(ENGLISH_STOP_WORDS) | _read_words("opening")


@cache
def list_english_lemmas(*, has_nouns: bool = True) -> frozenset[str]:
    """The lemmas of the recogniser's dictionary (WordNet's); empty without the extra `ner`.

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
    """Whether a dictionary has a word or the base of its ending: "needed", "clauses", "testing"."""
    lemmas = list_english_lemmas(has_nouns=has_nouns)
    stem = re.sub(r"(?:ies|es|s|ed|d|ing|ly)$", "", word)
    if word in lemmas or stem == word or len(stem) < 3:
        return word in lemmas
    return any(base in lemmas for base in (stem, f"{stem}e", f"{stem}y", stem[:-1]))
