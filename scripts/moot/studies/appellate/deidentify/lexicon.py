"""Classify the capitalised words of an opinion: customary in law, ordinary, or distinctive."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from moot.studies.appellate.deidentify import words as w
from moot.studies.appellate.legal.sentences import split_sentences

CAPITALISED = r"[A-ZÀ-Þ][\wÀ-ÿ]*(?:['’&-][\wÀ-ÿ]+)*"
INITIALS = r"(?:[A-Z]\.(?:\s?[A-Z]\.)*|(?:St|Ste|Mt|Ft)\.)"
_LOWER_CASE = re.compile(r"(?<![\w'’.-])[a-zà-ÿ]+(?:-[a-zà-ÿ]+)+|(?<![\w'’.-])[a-zà-ÿ]{2,}")
_ABBREVIATION_AT_END = re.compile(
    rf"(?:\b[A-Z]|[A-Z]\.[A-Z]|\b(?:{w.join_words('abbreviations')}))\.\s*$"
)
_PATTERNS = w.read_patterns("names.yaml")
_TAIL_CHARS = 32
"""More characters than a pattern reads of the text before a word, white space aside."""
_NUMERAL_OR_LETTER = re.compile(r"[IVXL]+|[A-Z](?:-[a-z]+)?|I['’][a-z]+")


def normalise_word(word: str) -> str:
    """Write a word for comparison: lower case, no possessive, hyphens or points.

    >>> normalise_word("De-Vaney's")
    'devaney'
    """
    return re.sub(r"[^\wÀ-ÿ]", "", re.sub(r"['’]s?$", "", word)).lower()


def is_sentence_start(preceding_text: str) -> bool:
    """Return whether a word has its capital from its position.

    Nothing, a quotation mark, a colon or a number in parentheses precedes such a word.
    """
    if not re.search(r"[A-Za-zÀ-ÿ]", preceding_text):
        return True
    tail = preceding_text[max(0, len(preceding_text.rstrip()) - _TAIL_CHARS) :]
    if _ABBREVIATION_AT_END.search(tail):
        return False
    return _PATTERNS["sentence_start"].search(tail) is not None


def iter_capitals(text: str) -> Iterator[tuple[re.Match[str], int, bool]]:
    """Iterate over the capitalised words of a text.

    Yields:
        The match in its sentence, the offset of the sentence, and whether the position of the word
        explains its capital.
    """
    for sentence in split_sentences(text):
        for match in re.finditer(rf"(?<![A-Za-zÀ-ÿ'’]){CAPITALISED}", sentence.text):
            yield match, sentence.start, is_sentence_start(sentence.text[: match.start()])


def _find_acronyms(text: str) -> Iterator[str]:
    """Find the acronyms that a text defines ("driving while intoxicated (DWI)"), but not names."""
    for match in _PATTERNS["acronym"].finditer(text):
        words = re.split(r"[\s-]+", match["words"].strip())[-len(match["term"]) :]
        is_law = w.DOCUMENT_NOUN.fullmatch(words[-1].lower()) is not None
        capitals = [word.lower() for word in words if word[0].isupper()]
        has_name = any(
            key not in w.COMMON_WORDS and not (is_law and w.is_english(key)) for key in capitals
        )
        if not has_name and "".join(word[0] for word in words).upper() == match["term"]:
            yield match["term"]


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
        for match, _, starts_sentence in iter_capitals(full_text):
            key = normalise_word(match[0])
            with_capital.add(key)
            if not starts_sentence:
                self.inner_capitals.add(key)
        self.capitalised_words = with_capital - set(self.lower_case_counts) - w.COMMON_WORDS

    def is_common(self, word: str) -> bool:
        """Return whether legal style capitalises a word, or it is a letter or a numeral."""
        key = normalise_word(word)
        if not key or key in w.COMMON_WORDS or word.removesuffix("s") in self.acronyms:
            return True
        if w.DOCUMENT_NOUN.fullmatch(key) or _NUMERAL_OR_LETTER.fullmatch(word):
            return True
        parts = [part for part in re.split(r"[-/]", word) if part]
        return len(parts) > 1 and all(part[0].isupper() and self.is_common(part) for part in parts)

    def is_ordinary(self, word: str) -> bool:
        """Return whether a word is in lower case in this opinion, or usually opens sentences."""
        key = normalise_word(word)
        if key in self.lower_case_counts or key in w.list_opening_words() or key[:1].isdigit():
            return True
        if key in self.inner_capitals:
            return False
        parts = word.lower().split("-")
        is_compound = len(parts) > 1 and all(
            part in w.COMMON_WORDS or self.is_ordinary(part) for part in parts
        )
        return is_compound or _PATTERNS["derived_word"].fullmatch(key) is not None

    def opens_sentences_only(self, word: str) -> bool:
        """Return whether an English word has a capital at the start of sentences only: "Absent"."""
        key = normalise_word(word)
        if key in self.inner_capitals:
            return False
        return self.is_ordinary(word) or (len(key) > 2 and w.is_english(key))

    def is_plain(self, key: str) -> bool:
        """Return whether a word is English and not a name. Nouns may be towns."""
        if self.is_ordinary(key) or key in w.COMMON_WORDS:
            return True
        if key in w.ALSO_NAMES or key.removesuffix("s") in w.ALSO_NAMES:
            return False
        if w.DOCUMENT_NOUN.fullmatch(key) or _PATTERNS["derived_word"].fullmatch(key):
            return True
        return w.is_english(key, has_nouns=False)

    def is_distinctive(self, word: str) -> bool:
        """Return whether a capitalised word is neither customary nor ordinary."""
        return not self.is_common(word) and not self.is_ordinary(word)

    def find_lowered_names(self, text: str) -> list[str]:
        """Return the lower-case words that the opinion capitalises and no dictionary knows."""
        words = dict.fromkeys(_LOWER_CASE.findall(text))
        return [
            word for word in words if word in self.capitalised_words and not self.is_plain(word)
        ]

    def join_broken_names(self, text: str) -> str:
        """Join the names that a line break split: "Bright water" becomes "Brightwater"."""
        for beginning, end in re.findall(r"\b([A-Z][a-z]*) ([a-z]{2,})\b", text):
            is_name = beginning.lower() + end in self.capitalised_words
            if is_name and self.lower_case_counts[end] < 2:
                text = re.sub(rf"\b{beginning} {end}\b", beginning + end, text)
        return text
