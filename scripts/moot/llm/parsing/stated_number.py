"""The one number that a reply in words states, where the form asks for one number.

It opens the reply ("7: keeps to the form"), stands in double brackets or on a line of its own
("Rating: [[6]]"), or follows words such as "the grade is". All of these must agree. "7 or 8" and
the items of a numbered list state no number, and no number is rounded.
"""

import re
from collections.abc import Callable, Iterator

from pydantic import BaseModel

from moot.core.types import Json
from moot.llm.parsing.answer_frames import EXPLANATION
from moot.llm.parsing.normaliser import simplify_marks
from moot.llm.parsing.numbers import NUMBER, has_bound, read_number
from moot.llm.parsing.plain_text import WRAPPING, UnreadableError, shorten
from moot.llm.parsing.schema import Shape, schema_fields
from moot.llm.parsing.withdrawals import has_condition, has_doubt, is_hypothetical

NUMBER_KEYS = (
    "score", "grade", "rating", "mark", "points", "评分", "分数", "得分", "打分", "总分", "成绩"
)  # fmt: skip
"""Names that models give to the one number that is asked for."""

_NAMES = "|".join(sorted(NUMBER_KEYS, key=len, reverse=True))
_IS = r"(?:\s*(?:->|=>|→|[:=：＝]|是|为|為)\s*|\s+(?:is|of|would be|should be)\s*:?\s+)"
_SPEAKER = (
    r"(?:(?:so|thus|therefore|overall),?\s+)?"
    r"(?:(?:my|the|our|final|overall|total|assigned|最终|我的)\s*)*"
)
_GIVES = (
    r"(?:i|we)(?:['’]d|\s+would|\s+will)?\s+(?:give|rate|grade|score|assign|award)\s+"
    r"(?:(?:it|this|that|them)\s+|(?:this|the)\s+\w{1,20}\s+)?"
    rf"(?:(?:as|at|with)\s+)?(?:(?:an?|the)\s+)?(?:(?:{_NAMES})\s+of\s+)?(?=[\d*_\[(])"
)
_START = r"(?:^|[.;!?,。；，！？\n])[\s*#>_\"'“-]*"
_NUMBER_LINE = re.compile(r"^[\s*_\"'`(>]*(\d[^\n]{0,20})$", re.MULTILINE)
_BOLD_NUMBER = re.compile(r"\*\*(\d+(?:\.\d+)?)\*\*")
_BOLD_WORDS = re.compile(r"\*\*(out of|of|/)\*\*")
_SCALE = re.compile(r"^\s*(?:/|(?:out )?of\b)\s*\d+")
_BRACKETED = re.compile(r"\[\[\s*([^\[\]\n]{1,20})\s*\]\]")
_LIST_ITEM = re.compile(r"\s*\d{1,2}[.)、]\s*\D")
_OTHER_NUMBER = re.compile(
    r"(?<![\d.\w/])(?<!of )(\d+(?:\.\d+)?)(?![\d%]|\.\d)"
    r"(?!\s*[个条点处项次]|\s+(?!(?:or|and|out|would|might|may|for|but|because|than|is|at|too|"
    r"instead)\b)[a-z]{3,})",
    re.IGNORECASE,
)


def find_only_number(schema: type[BaseModel]) -> str | None:
    """Return the name of the one number that `schema` asks for; None if it asks for more."""
    fields = schema_fields(schema)
    numbers = [name for name, shape in fields.items() if shape.kind in ("integer", "number")]
    is_rating = len(numbers) == 1 and not fields[numbers[0]].may_be_missing
    is_alone = all(shape.kind == "text" for name, shape in fields.items() if name not in numbers)
    return numbers[0] if is_rating and is_alone else None


def read_rating(text: str, shape: Shape, read: Callable[[str], Json]) -> Json:
    """Return the number that `text` states for the field `shape`; None if it states none.

    Args:
        text: a whole reply.
        shape: the field.
        read: reads a phrase as a value of the field, or raises UnreadableError.

    Raises:
        UnreadableError: numbers are stated that differ, or a phrase with a number states no value.
    """
    plain = _BOLD_WORDS.sub(r"\1", _BOLD_NUMBER.sub(r"\1", simplify_marks(text)))
    names = f"{re.escape(shape.key)}|{_NAMES}"
    scale = re.compile(rf"\s*(?:/|\b(?:out )?of\b)\s*{shape.high or 0:g}(?![\d.]\d|\d)")
    values = [read(scale.sub("", phrase, count=1)) for phrase in _find_phrases(plain, names)]
    if not values:
        return None
    loose = re.compile(rf"(?:{names})\b[*_\"'`]*{_IS}[*_\"'`\[(]*(\d+(?:\.\d+)?)", re.IGNORECASE)
    values += [read(match[1]) for match in loose.finditer(plain)]
    if any(value != values[0] for value in values):
        raise UnreadableError("numbers that differ are stated")
    return values[0]


def _find_phrases(text: str, names: str) -> Iterator[str]:
    """Yield each phrase of `text` that states a number."""
    for match in _BRACKETED.finditer(text):
        if NUMBER.match(match[1]):
            yield _without_other_number(match[1])
    introduction = re.compile(
        rf"{_START}(?:{_SPEAKER}(?:{names})[\]】)）]?[*_\"'`]*{_IS}|{_GIVES})"
        r"(?P<value>[^\n]{1,200})",
        re.IGNORECASE,
    )
    for match in introduction.finditer(text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if is_hypothetical(text[line_start : match.start() + 1]):
            continue
        phrase = re.split(r"[.。!！](?=\s|$)|\[\[", match["value"], maxsplit=1)[0]
        number = NUMBER.match(phrase.strip(WRAPPING))
        if number and has_condition(number.string[number.end() :]):
            raise UnreadableError(f"'{shorten(phrase)}' is conditional")
        if number:
            yield _without_other_number(phrase)
    for match in _NUMBER_LINE.finditer(text):
        if not match[1].strip(WRAPPING + "0123456789/"):
            yield match[1]
    if opening := _find_opening(text):
        yield opening


def _find_opening(text: str) -> str | None:
    """Return the number that `text` opens with, in its phrase; None for an item of a list."""
    body = text.strip(WRAPPING.replace(".", ""))
    number = NUMBER.match(body)
    if number is None or not body[0].isdigit():
        return text if _is_number_word(text) else None
    if has_bound(text):
        raise UnreadableError(f"'{shorten(text)}' is a bound or an amount")
    items = [line for line in body.splitlines() if _LIST_ITEM.match(line)]
    if len(items) > 1 or (items and number["digits"] in ("0", "1", "0.", "1.")):
        return None
    phrase = re.split(r"(?<=[.。!！])\s|\n", body, maxsplit=1)[0]
    rest = _SCALE.sub("", body[number.end() :].removeprefix("分"))
    if not EXPLANATION.match(rest) or has_doubt(rest):
        raise UnreadableError(f"'{shorten(body)}' is not one number")
    _without_other_number(number[0] + rest)
    return phrase


def _is_number_word(text: str) -> bool:
    """Return whether `text` is only a number in words or with a hedge: "eight", "about 8"."""
    try:
        return read_number(text, 0)[2]
    except UnreadableError:
        return False


def _without_other_number(phrase: str) -> str:
    """Return `phrase` if it names one number; raise UnreadableError if it names another."""
    numbers = {float(number) for number in _OTHER_NUMBER.findall(phrase)}
    if len(numbers) > 1:
        raise UnreadableError(f"'{shorten(phrase)}' names more than one number")
    return phrase
