"""What kind of word a capitalised word of an opinion is: customary in law, ordinary, or one that
names.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from moot.studies.appellate.deidentify.vocabulary import ALSO_NAMES, COMMON, name_by_words, openers
from moot.studies.appellate.legal.sentences import split_sentences

CAPITALISED = r"[A-ZÀ-Þ][\wÀ-ÿ]*(?:['’&-][\wÀ-ÿ]+)*"
INITIALS = r"(?:[A-Z]\.(?:\s?[A-Z]\.)*|(?:St|Ste|Mt|Ft)\.)"
_SMALL = re.compile(r"(?<![\w'’.-])[a-zà-ÿ]{2,}")
_SMALL_HYPHENATED = re.compile(r"(?<![\w'’.-])[a-zà-ÿ]+(?:-[a-zà-ÿ]+)+")
_OPENS = re.compile(r"(?:(?<!\()(?<!the )[\"“‘]|:\s|(?<!\w)\(\w{1,3}\)\s|[.!?][\"”]?\s)\s*$")
_ABBREVIATED = re.compile(
    r"(?:\b[A-Z]|[A-Z]\.[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Sgt|Lt|Jr|Sr|Inc|Co|Corp|No|Nos|Hon|Messrs))\.\s*$"
)
_DERIVED = re.compile(
    r"\w{3,}(?:[a-z]{2}ing|(?:al|ful|ent|ous|ive|ed|ing|den|ate)ly|tion|tions|sion|sions|ments|ness|ities|ized)"
)
_SHORT_FOR = re.compile(r"(?P<words>(?:[A-Za-z’']+[\s-]){2,6})\([\"“]?(?P<term>[A-Z]{2,6})[\"”]?\)")
_ONCE = 2  # in an opinion and its facts together
_NUMERAL = re.compile(r"[IVXL]+|[A-Z]")


def plain(word: str) -> str:
    """A word as it is compared: small, without possessive, hyphens (often of a broken line) and
    points.

        >>> plain("De-Vaney's")
        'devaney'
    """
    return re.sub(r"[^\wÀ-ÿ]", "", re.sub(r"['’]s?$", "", word)).lower()


def opens_sentence(before: str) -> bool:
    """Whether a capital is due by position: before it in its sentence is nothing, a quotation mark,
    a colon or a number in parentheses.
    """
    return not re.search(r"[A-Za-zÀ-ÿ]", before) or bool(
        _OPENS.search(before) and not _ABBREVIATED.search(before)
    )


def _terms(text: str) -> Iterator[str]:
    """The letters behind the words that they are short for: "driving while intoxicated (DWI)"; but
    those of names.
    """
    for match in _SHORT_FOR.finditer(text):
        words = re.split(r"[\s-]+", match["words"].strip())[-len(match["term"]) :]
        keys = [plain(word) for word in words]
        spelt = [key[:1].upper() for key in keys] == list(match["term"])
        if (
            spelt
            and not name_by_words(keys)
            and all(word.islower() or plain(word) in COMMON for word in words)
        ):
            yield match["term"]


class Lexicon:
    """The words of one opinion: which it writes small, and which only with a capital."""

    def __init__(self, texts: Iterable[str]) -> None:
        whole = "\n\n".join(texts)
        self.small = Counter(_SMALL.findall(whole))
        self.small.update(plain(word) for word in _SMALL_HYPHENATED.findall(whole))
        self.terms = frozenset(_terms(whole))
        self.capitals = (
            {plain(match[0]) for match in re.finditer(CAPITALISED, whole)}
            - set(self.small)
            - COMMON
        )
        self.inside: Counter[str] = Counter()
        for sentence in split_sentences(whole):
            for match in re.finditer(CAPITALISED, sentence.text):
                if not opens_sentence(sentence.text[: match.start()]):
                    self.inside[plain(match[0])] += 1

    def is_common(self, word: str) -> bool:
        """Whether a word is one that law writes with a capital, a letter or a numeral, and so names
        no person.
        """
        key = plain(word)
        parts = [part for part in re.split(r"[-/]", word) if part]
        joined = all(
            part[0].isupper() and (plain(part) in COMMON or _NUMERAL.fullmatch(part))
            for part in parts
        )
        return not key or key in COMMON or joined or word.removesuffix("s") in self.terms

    def is_ordinary(self, word: str) -> bool:
        """Whether a word is one of ordinary prose: this opinion writes it small, or it opens
        sentences.
        """
        key = plain(word)
        if key in self.small or key in openers() or re.fullmatch(r"[\d_]+\w{0,2}", key):
            return True
        parts = [plain(part) for part in word.split("-")]
        composed = len(parts) > 1 and all(
            part in self.small or part in openers() | COMMON for part in parts
        )
        return (composed or bool(_DERIVED.fullmatch(key))) and not self.inside[key]

    def may_name(self, word: str) -> bool:
        """Whether an ordinary word is a person's name as well."""
        return plain(word) in ALSO_NAMES

    def names(self, word: str) -> bool:
        """Whether a capitalised word is neither customary nor ordinary."""
        return not self.is_common(word) and not self.is_ordinary(word)

    def is_piece(self, word: str) -> bool:
        """Whether a small word is one end of a name that a broken line took apart: "water" of
        "Bright water".
        """
        rare = len(word) > 2 and self.small[word] <= _ONCE and word not in openers()
        return rare and any(
            known != word and (known.endswith(word) or known.startswith(word))
            for known in self.capitals
        )

    def joined(self, text: str) -> str:
        """The text with the names that a broken line took apart joined again: "Bright water"."""

        def join(match: re.Match[str]) -> str:
            whole = match[1] + match[2]
            return (
                whole if plain(whole) in self.capitals and self.small[match[2]] <= 1 else match[0]
            )

        return re.sub(r"\b([A-Z][a-z]*) ([a-z]{2,})\b", join, text)
