"""Classify the capitalised words of an opinion: customary in law, ordinary, or distinctive."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from moot.studies.appellate.deidentify.vocabulary import (
    ALSO_NAMES,
    COMMON_WORDS,
    DOCUMENT_NOUN,
    is_english,
    is_name_of_common_words,
    list_opening_words,
)
from moot.studies.appellate.legal.sentences import split_sentences

CAPITALISED = r"[A-ZÀ-Þ][\wÀ-ÿ]*(?:['’&-][\wÀ-ÿ]+)*"
INITIALS = r"(?:[A-Z]\.(?:\s?[A-Z]\.)*|(?:St|Ste|Mt|Ft)\.)"
_LOWER_CASE = re.compile(r"(?<![\w'’.-])[a-zà-ÿ]{2,}")
_LOWER_CASE_HYPHENATED = re.compile(r"(?<![\w'’.-])[a-zà-ÿ]+(?:-[a-zà-ÿ]+)+")
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
# A word is rare if it occurs at most this often in an opinion and its facts together.
_MAX_RARE_COUNT = 2
_LETTER_AND_WORD = re.compile(r"[A-Z]-[a-z]+|I['’][a-z]+")
_NUMERAL = re.compile(r"[IVXL]+|[A-Z]")


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
        keys = [normalise_word(word) for word in words]
        pairs = list(zip(words, keys, strict=True))
        is_acronym = "".join(key[:1].upper() for key in keys) == match["term"]
        if not is_acronym or is_name_of_common_words(keys):
            continue
        is_law = DOCUMENT_NOUN.fullmatch(keys[-1]) is not None
        if all(
            word.islower() or key in COMMON_WORDS or (is_law and is_english(key))
            for word, key in pairs
        ):
            yield match["term"]


def _is_customary_part(part: str) -> bool:
    """Whether a part of a compound is a capitalised customary word or a numeral."""
    if not part[0].isupper():
        return False
    return normalise_word(part) in COMMON_WORDS or _NUMERAL.fullmatch(part) is not None


class Lexicon:
    """The words of one opinion.

    Attributes:
        lower_case_counts: each word written in lower case and how often.
        acronyms: the acronyms that the opinion defines.
        capitalised_words: the words, normalised, that occur with a capital only.
        capitals_in_sentence: how often a word has a capital that its position does not explain.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        full_text = "\n\n".join(texts)
        self.lower_case_counts = Counter(_LOWER_CASE.findall(full_text))
        self.lower_case_counts.update(
            normalise_word(word) for word in _LOWER_CASE_HYPHENATED.findall(full_text)
        )
        self.acronyms = frozenset(_find_acronyms(full_text))
        with_capital = {normalise_word(match[0]) for match in re.finditer(CAPITALISED, full_text)}
        self.capitalised_words = with_capital - set(self.lower_case_counts) - COMMON_WORDS
        self.capitals_in_sentence: Counter[str] = Counter()
        for sentence in split_sentences(full_text):
            for match in re.finditer(CAPITALISED, sentence.text):
                if not is_sentence_start(sentence.text[: match.start()]):
                    self.capitals_in_sentence[normalise_word(match[0])] += 1

    def is_common(self, word: str) -> bool:
        """Whether legal style capitalises a word, or it is a letter or a numeral.

        Such a word does not name a person.
        """
        key = normalise_word(word)
        parts = [part for part in re.split(r"[-/]", word) if part]
        if not key or key in COMMON_WORDS or word.removesuffix("s") in self.acronyms:
            return True
        if DOCUMENT_NOUN.fullmatch(key) or _LETTER_AND_WORD.fullmatch(word):
            return True
        return all(_is_customary_part(part) for part in parts)

    def is_ordinary(self, word: str) -> bool:
        """Whether this opinion writes a word in lower case, or the word usually opens sentences."""
        key = normalise_word(word)
        if (
            key in self.lower_case_counts
            or key in list_opening_words()
            or re.fullmatch(r"[\d_]+\w{0,2}", key)
        ):
            return True
        parts = [normalise_word(part) for part in word.split("-")]
        is_compound = len(parts) > 1 and all(self._is_ordinary_part(part) for part in parts)
        is_derived = _DERIVED_WORD.fullmatch(key) is not None
        return (is_compound or is_derived) and not self.capitals_in_sentence[key]

    def opens_sentences_only(self, word: str) -> bool:
        """Whether an English word has a capital at the start of sentences only: "Absent"."""
        key = normalise_word(word)
        is_english_word = len(key) > 2 and is_english(key)
        return not self.capitals_in_sentence[key] and (self.is_ordinary(word) or is_english_word)

    def is_plain(self, key: str) -> bool:
        """Whether a word is English and not a name. A noun of the dictionary may be a town."""
        if self.is_ordinary(key) or key in COMMON_WORDS:
            return True
        if key in ALSO_NAMES or key.removesuffix("s") in ALSO_NAMES:
            return False
        return _DERIVED_WORD.fullmatch(key) is not None or is_english(key, has_nouns=False)

    def _is_ordinary_part(self, part: str) -> bool:
        if part in self.lower_case_counts or part in COMMON_WORDS:
            return True
        return part in list_opening_words()

    def can_be_name(self, word: str) -> bool:
        """Whether an ordinary word is also a person's name."""
        return normalise_word(word) in ALSO_NAMES

    def is_distinctive(self, word: str) -> bool:
        """Whether a capitalised word is neither customary nor ordinary."""
        return not self.is_common(word) and not self.is_ordinary(word)

    def is_name_fragment(self, word: str) -> bool:
        """Whether a lower-case word is one end of a name that a line break split.

        "water" is the end of "Bright water" if the opinion has "Brightwater".
        """
        if len(word) <= 2 or word in list_opening_words():
            return False
        if self.lower_case_counts[word] > _MAX_RARE_COUNT:
            return False
        for name in self.capitalised_words:
            if name != word and (name.endswith(word) or name.startswith(word)):
                return True
        return False

    def find_lowered_names(self, text: str) -> list[str]:
        """Return the lower-case words of a text that the texts of the lexicon write with a capital.

        No dictionary knows them.
        """
        words = dict.fromkeys(_LOWER_CASE.findall(text))
        return [
            word for word in words if word in self.capitalised_words and not self.is_plain(word)
        ]

    def join_broken_names(self, text: str) -> str:
        """Join the names that a line break split: "Bright water" becomes "Brightwater"."""

        def join(match: re.Match[str]) -> str:
            joined_word = match[1] + match[2]
            if self.lower_case_counts[match[2]] > 1:
                return match[0]
            is_name = normalise_word(joined_word) in self.capitalised_words
            return joined_word if is_name else match[0]

        return re.sub(r"\b([A-Z][a-z]*) ([a-z]{2,})\b", join, text)
