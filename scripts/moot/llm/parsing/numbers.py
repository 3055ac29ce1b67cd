"""The one number that a text states: the whole text but for marks, or announced like a label."""

import re

from moot.core.confidence import scaled_confidence
from moot.llm.parsing.labels import ANNOUNCING, BOX
from moot.llm.parsing.plain_text import WRAPPING, UnreadableError, normalize_width, shorten
from moot.llm.parsing.schema import Shape

HUNDRED = 100
_LARGEST = 2**53
_NUMBER = re.compile(
    r"(?P<digits>[+-]?\d{1,15}(?:\.\d{1,15})?)\s*(?P<percent>%|percent|per cent)?"
    r"(?:\s*(?:/|out of)\s*(?P<scale>\d+)\s*%?)?"
)
_OPENING = re.compile(r"[\s*_\"'(#]*(\d[\d.%/]{0,10})[*_\"')]*(?:\s*[:\n]|\s-\s(?!\d))")
_SENTENCE_END = re.compile(r"[\n。]|[.!?](?=\s|$)")
_PHRASE_END = re.compile(r"[,;]|\s[-–—]\s")


def read_number(text: str, shape: Shape, scale: int = HUNDRED) -> int | float:
    """Return the number that `text` states for a field.

    Args:
        text: a reply, or a value of one.
        shape: the field; its key announces the number, as in "confidence: 70".
        scale: `confidence_scale` of the model, for fields from 0 to 100.

    Raises:
        UnreadableError: the text states no number, several, or one outside the field's bounds.
    """
    plain = normalize_width(text)
    phrases = [plain] if _match(plain) else _announced(plain, shape)
    values = {_value(phrase, shape, scale) for phrase in phrases}
    if len(values) != 1:
        raise UnreadableError(f"'{shorten(text)}' states no single number")
    return values.pop()


def _announced(text: str, shape: Shape) -> list[str]:
    """Return the phrases that announce the number."""
    words = (
        rf"(?:{ANNOUNCING}|{re.escape(shape.key)})[\]】)*_\"'”]*\s*(?:(?:is|of)\b\s*:?|[:=是为])"
    )
    phrases = [match[1] or match[2] for match in BOX.finditer(text)]
    phrases += [match[1] for match in [_OPENING.match(text)] if match]
    for match in re.finditer(words, text, re.IGNORECASE):
        sentence = _SENTENCE_END.split(text[match.end() : match.end() + 200].lstrip(), maxsplit=1)[
            0
        ]
        phrase = _PHRASE_END.split(sentence, maxsplit=1)[0]
        if re.search(r"\d", sentence):
            phrases.append(sentence if re.search(r"\d", sentence[len(phrase) :]) else phrase)
    head, _, tail = text.rstrip().rpartition("\n")[2].rpartition(":")
    if _match(tail) and not re.search(r"\d", head):
        phrases.append(tail)
    return phrases


def _match(phrase: str) -> re.Match[str] | None:
    """Match a phrase that is a number but for marks; ".7" is none."""
    return _NUMBER.fullmatch(phrase.lstrip(WRAPPING.replace(".", "")).rstrip(WRAPPING))


def _value(phrase: str, shape: Shape, scale: int) -> int | float:
    match = _match(phrase)
    if match is None or match["scale"] not in (None, f"{shape.high or HUNDRED:g}"):
        raise UnreadableError(f"'{shorten(phrase)}' is not one number")
    digits = match["digits"]
    number = float(digits) if "." in digits else int(digits)
    if match["percent"] and shape.high == 1:
        number = number / HUNDRED
    has_scale = bool(match["percent"] or match["scale"])
    return bounded_number(number, shape, scale, has_scale=has_scale)


def bounded_number(
    number: float, shape: Shape, scale: int = HUNDRED, *, has_scale: bool = False
) -> int | float:
    """Return a number as a value of a field.

    Raises:
        UnreadableError: it is outside the bounds, not whole where whole numbers are asked for, or
            0.7 where 0 to 100 is asked for, which may mean 0.7 or 70.
    """
    if shape.is_percent and not has_scale:
        number = _confidence(number, scale)
    low = -_LARGEST if shape.low is None else shape.low
    high = _LARGEST if shape.high is None else shape.high
    if not low <= number <= high:
        raise UnreadableError(f"{number:g} is outside {low:g} to {high:g}")
    if shape.kind != "integer":
        return number
    if number != int(number) and not shape.is_percent:
        raise UnreadableError(f"{number} where a whole number is asked; it is not rounded")
    return int(number + 0.5)


def _confidence(number: float, scale: int) -> float:
    if scale == 1:
        confidence = scaled_confidence(number, scale, is_percentage=False)
        if confidence is None:
            raise UnreadableError(
                f"{number:g} contradicts `confidence_scale: 1` in the model's entry"
            )
        return confidence
    if isinstance(number, float) and 0 < number <= 1:
        raise UnreadableError(
            f"{number} where 0 to 100 is asked may be a share of 1; `confidence_scale: 1` in the"
            " model's entry reads it so"
        )
    return number
