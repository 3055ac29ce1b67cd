"""Classify the capitalised words of an opinion: customary in law, ordinary, or distinctive."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.legal.sentences import split_sentences

CAPITALISED = r"[A-ZÀ-Þ][\wÀ-ÿ]*(?:['’&-][\wÀ-ÿ]+)*"
INITIALS = r"(?:[A-Z]\.(?:\s?[A-Z]\.)*|(?:St|Ste|Mt|Ft)\.)"
_LOWER_CASE = re.compile(r"(?<![\w'’.-])[a-zà-ÿ]+(?:-[a-zà-ÿ]+)+|(?<![\w'’.-])[a-zà-ÿ]{2,}")
_SENTENCE_START = re.compile(
    r"(?:(?<!\()(?<!the )[\"“‘]|:\s?|(?<!\w)\(\w{1,3}\)\s|[.!?][\"”]?\s)\s*$"
)
_ABBREVIATION_AT_END = re.compile(
    r"(?:\b[A-Z]|[A-Z]\.[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Sgt|Lt|Jr|Sr|Inc|Co|Corp|No|Nos|Hon|"
    r"Messrs))\.\s*$"
)
_DERIVED_WORD = re.compile(
    r"\w{3,}(?:[a-z]{2}ing|(?:al|ful|ent|ous|ive|ed|ing|den|ate)ly|tion|tions|sion|sions|ments?"
    r"|[ae]nces?|ness|ities|ized)"
)
_ACRONYM_DEFINITION = re.compile(
    r"(?P<words>(?:[A-Za-z’']+[\s-]){2,6})[(\[][\"“]?(?P<term>[A-Z]{2,6})[\"”]?[)\]]"
)
_NUMERAL_OR_LETTER = re.compile(r"[IVXL]+|[A-Z](?:-[a-z]+)?|I['’][a-z]+")


def normalise_word(word: str) -> str:
    """Write a word as words are compared: lower case, no possessive, hyphens or points.

    Hyphens often stem from a broken line.

    >>> normalise_word("De-Vaney's")
    'devaney'
    """
    return re.sub(r"[^\wÀ-ÿ]", "", re.sub(r"['’]s?$", "", word)).lower()


def is_sentence_start(preceding_text: str) -> bool:
    """Whether a word has its capital from its position.

    Nothing, a quotation mark, a colon or a number in parentheses precedes such a word.
    """
    if not re.search(r"[A-Za-zÀ-ÿ]", preceding_text):
        return True
    if _ABBREVIATION_AT_END.search(preceding_text):
        return False
    return _SENTENCE_START.search(preceding_text) is not None


def _find_acronyms(text: str) -> Iterator[str]:
    """Find the acronyms that a text defines ("driving while intoxicated (DWI)"), but not names."""
    for match in _ACRONYM_DEFINITION.finditer(text):
        words = re.split(r"[\s-]+", match["words"].strip())[-len(match["term"]) :]
        is_law = w.DOCUMENT_NOUN.fullmatch(words[-1].lower()) is not None
        has_name = any(
            word[0].isupper() and not _is_plain_word(word.lower(), is_law=is_law) for word in words
        )
        if not has_name and "".join(word[0] for word in words).upper() == match["term"]:
            yield match["term"]


def _is_plain_word(key: str, *, is_law: bool) -> bool:
    return key in w.COMMON_WORDS or (is_law and w.is_english(key))


class Lexicon:
    """The words of one opinion.

    Attributes:
        lower_case_counts: each word written in lower case and how often.
        acronyms: the acronyms that the opinion defines.
        capitalised_words: the words, normalised, that occur with a capital only.
        inner_capitals: the words, normalised, with a capital that their position does not explain.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        full_text = "\n\n".join(texts)
        words = _LOWER_CASE.findall(full_text)
        self.lower_case_counts = Counter(word.replace("-", "") for word in words)
        self.lower_case_counts.update(word.split("-")[0] for word in words if "-" in word)
        self.acronyms = frozenset(_find_acronyms(full_text))
        with_capital: set[str] = set()
        self.inner_capitals: set[str] = set()
        for sentence in split_sentences(full_text):
            for match in re.finditer(CAPITALISED, sentence.text):
                key = normalise_word(match[0])
                with_capital.add(key)
                if not is_sentence_start(sentence.text[: match.start()]):
                    self.inner_capitals.add(key)
        self.capitalised_words = with_capital - set(self.lower_case_counts) - w.COMMON_WORDS

    def is_common(self, word: str) -> bool:
        """Whether legal style capitalises a word, or it is a letter or a numeral."""
        key = normalise_word(word)
        if not key or key in w.COMMON_WORDS or word.removesuffix("s") in self.acronyms:
            return True
        if w.DOCUMENT_NOUN.fullmatch(key) or _NUMERAL_OR_LETTER.fullmatch(word):
            return True
        parts = [part for part in re.split(r"[-/]", word) if part]
        return len(parts) > 1 and all(part[0].isupper() and self.is_common(part) for part in parts)

    def is_ordinary(self, word: str) -> bool:
        """Whether this opinion writes a word in lower case, or the word usually opens sentences."""
        key = normalise_word(word)
        if key in self.lower_case_counts or key in w.list_opening_words() or key[:1].isdigit():
            return True
        if key in self.inner_capitals:
            return False
        parts = word.lower().split("-")
        is_compound = len(parts) > 1 and all(
            part in w.COMMON_WORDS or self.is_ordinary(part) for part in parts
        )
        return is_compound or _DERIVED_WORD.fullmatch(key) is not None

    def opens_sentences_only(self, word: str) -> bool:
        """Whether an English word has a capital at the start of sentences only: "Absent"."""
        key = normalise_word(word)
        if key in self.inner_capitals:
            return False
        return self.is_ordinary(word) or (len(key) > 2 and w.is_english(key))

    def is_plain(self, key: str) -> bool:
        """Whether a word is English and not a name. A noun of the dictionary may be a town."""
        if self.is_ordinary(key) or key in w.COMMON_WORDS:
            return True
        if key in w.ALSO_NAMES or key.removesuffix("s") in w.ALSO_NAMES:
            return False
        if w.DOCUMENT_NOUN.fullmatch(key) or _DERIVED_WORD.fullmatch(key):
            return True
        return w.is_english(key, has_nouns=False)

    def is_distinctive(self, word: str) -> bool:
        """Whether a capitalised word is neither customary nor ordinary."""
        return not self.is_common(word) and not self.is_ordinary(word)

    def find_lowered_names(self, text: str) -> list[str]:
        """Return the lower-case words of a text that the opinion writes with a capital only.

        No dictionary knows them.
        """
        words = dict.fromkeys(_LOWER_CASE.findall(text))
        return [
            word for word in words if word in self.capitalised_words and not self.is_plain(word)
        ]

    def join_broken_names(self, text: str) -> str:
        """Join the names that a line break split: "Bright water" becomes "Brightwater"."""

        def join(match: re.Match[str]) -> str:
            is_name = match[1].lower() + match[2] in self.capitalised_words
            return (
                match[1] + match[2]
                if is_name and self.lower_case_counts[match[2]] < 2
                else match[0]
            )

        return re.sub(r"\b([A-Z][a-z]*) ([a-z]{2,})\b", join, text)
