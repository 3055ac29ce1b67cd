"""Numbers read from words: digits, English and Chinese number words, per cent and scales."""

import re
from functools import lru_cache

from moot.core.number_words import TENS, UNITS
from moot.llm.parsing.articles import HAN_DIGITS, from_han
from moot.llm.parsing.plain_text import WRAPPING, UnreadableError, normalize_width, shorten

NUMBER = re.compile(r"(?P<digits>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)")
REMARK = (  # after a dash: words, and no other number
    rf"\s(?!(?:{'|'.join(UNITS + TENS)}|hundred)\b)[^\W\d]"
)
SECOND_NUMBER = re.compile(
    rf"\s*(?:[-–—](?!{REMARK})|[~+±/*^]|,?\s?\d|\.\d|…"
    r"|\bto\b|\b(?:out )?of\b|\bor\b|\band\b|\b(?:minus|plus|times|less|in)\s+\d|至|到|或)"
    r"|[^\W\d_]|\s*[‰‱]|\.\s\d+\W*$",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"^(?:about|around|approximately|approx\.?|roughly|circa|ca\.|~|≈|约|大约|約|大約)\s*",
    re.IGNORECASE,
)
HAN_NUMBER = re.compile(rf"一百|[{HAN_DIGITS[2:]}]?十[{HAN_DIGITS[1:]}]?|[零{HAN_DIGITS[1:]}]")
_BOUND = re.compile(r"[\s\"'`*(\[]*(?:[<≤≦](?!\s*[\d.]+\s*%?\s*>)|[$€£¥]\s*\d(?![^$\n]{0,8}\$))")
"""A sign before a number that makes it a bound or an amount: "<70", "$8"."""
MAX_DIGITS = 30
"""No measured quantity has more digits, and int() of thousands of digits is slow."""


@lru_cache(maxsize=1)
def _number_words() -> dict[str, int]:
    words = {word: value for value, word in enumerate(UNITS)}
    for tens, ten in enumerate(TENS, start=2):
        words[ten] = tens * 10
        words |= {f"{ten} {UNITS[unit]}": tens * 10 + unit for unit in range(1, 10)}
    words |= {"hundred": 100, "one hundred": 100, "a hundred": 100}
    return words


@lru_cache(maxsize=64)
def _after_number(scale: float) -> re.Pattern[str]:
    """Return a pattern of what may follow a number on a scale: "/10", "out of 10", "%"."""
    return re.compile(
        r"(?:\s*(?P<percent>%|٪|per\s?cent\b|pct\b|percentage points?\b))?"
        rf"(?:\s*分)?(?:\s*(?:/|out of|of|in)\s*{scale:g}(?![\d.]\d|\d)%?)?",
        re.IGNORECASE,
    )


def read_number(text: str, scale: float) -> tuple[int | float, bool, bool]:
    """Return the number that `text` opens with, whether it is a percentage, and whether it is all.

    Digits keep their type: "70" is an int, "70.0" a float. Words reach from zero to one hundred,
    English and Chinese.

    Raises:
        UnreadableError: no number, a range ("70-80"), a list, or a fraction of another scale,
            a bound ("<70").
    """
    bare = re.sub(r"\*\*(?!\s?\d)", "", normalize_width(text))  # bold, no power
    if has_bound(text):
        raise UnreadableError(f"'{shorten(text)}' is a bound or an amount")
    phrase = HEDGE.sub("", bare.strip(WRAPPING.replace(".", "")))
    percent_of = phrase.startswith("百分之")
    phrase = phrase.removeprefix("百分之")
    if digits := NUMBER.match(phrase):
        value, end = _read_digits(digits["digits"]), digits.end()
    else:
        value, end = _read_number_word(phrase)
    unit = _after_number(scale).match(phrase, end)
    percent = percent_of or bool(unit and unit["percent"])
    rest = phrase[unit.end() :] if unit else phrase[end:]
    if SECOND_NUMBER.match(rest):
        raise UnreadableError(f"'{shorten(text)}' is not one number")
    return value, percent, not rest.strip(WRAPPING)


def has_bound(text: str) -> bool:
    """Return whether `text` opens with a bound or an amount of money instead of a plain number."""
    return _BOUND.match(text) is not None


def _read_digits(digits: str) -> int | float:
    if len(digits) > MAX_DIGITS:
        raise UnreadableError(f"a number of more than {MAX_DIGITS} digits")
    return float(digits) if re.search(r"[.eE]", digits) else int(digits)


def _read_number_word(phrase: str) -> tuple[int, int]:
    if han := HAN_NUMBER.match(phrase):
        return from_han(han[0]), han.end()
    folded = phrase.casefold().replace("-", " ")
    for word, value in sorted(_number_words().items(), key=lambda item: -len(item[0])):
        if folded.startswith(word) and not (
            word.isascii() and folded[len(word) : len(word) + 1].isalpha()
        ):
            return value, len(word)
    raise UnreadableError(f"'{shorten(phrase)}' is not a number")
