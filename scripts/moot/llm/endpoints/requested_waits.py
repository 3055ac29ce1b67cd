"""How long a server asks to wait: by a header, or in the body of its error."""

import math
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from moot.core.types import Json, JsonObject

_SECONDS_OF_UNITS = {
    "ms|milliseconds?": 0.001,
    "s|secs?|seconds?": 1.0,
    "m|mins?|minutes?": 60.0,
    "h|hours?": 3600.0,
    "d|days?": 86400.0,
}
_DURATION = rf"(\d+(?:\.\d+)?)\s*({'|'.join(_SECONDS_OF_UNITS)})(?![a-z])[\s,]*"
_WAIT_IN_WORDS = rf"\b(?:try again|retry(?:ing)?)\s+(?:in|after)\s+(?P<wait>(?:{_DURATION})+)"
_MIN_EPOCH_SECONDS, _MIN_EPOCH_MILLISECONDS = 1e9, 1e12
"""Larger numbers are moments, in seconds or milliseconds since 1970, and no waits."""
_SECONDS_FIELDS = ("retryDelay", "retry_delay", "retry_after", "retryAfter", "retry_after_seconds")


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait; None if no header names a wait.

    A wait is a number of seconds, a duration such as 1m30s, or a date. Zero, a negative number and
    a date in the past name no wait.
    """
    milliseconds = headers.get("retry-after-ms", "").strip()
    for value in (f"{milliseconds}ms", headers.get("retry-after", "")):
        wait = _read_wait(value)
        if wait is not None:
            return wait
    return None


def read_wait_in_body(objects: Iterable[JsonObject], message: str) -> float | None:
    """Return the seconds that an error's body asks to wait; None if it names none.

    Args:
        objects: the objects in the body, the outer before the inner ones.
        message: its message, such as "Please try again in 6s.".
    """
    for part in objects:
        for name in _SECONDS_FIELDS:
            wait = _read_wait(_as_text(part.get(name)))
            if wait is not None:
                return wait
    words = re.search(_WAIT_IN_WORDS, message, re.IGNORECASE)
    return _read_wait(words["wait"]) if words else None


def _as_text(value: Json) -> str:
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    return str(value) if is_plain else ""


def _read_wait(value: str) -> float | None:
    """Return the seconds that a value names; None for zero, the past and other words."""
    text = value.strip().strip("\"'")
    for read in (_read_number, _read_duration, _read_date):
        seconds = read(text)
        if seconds is not None:
            return seconds if math.isfinite(seconds) and seconds > 0 else None
    return None


def _read_number(text: str) -> float | None:
    try:
        seconds = float(text.split(",", maxsplit=1)[0])  # a proxy may join two headers
    except ValueError:
        return None
    if seconds >= _MIN_EPOCH_MILLISECONDS:
        seconds /= 1000
    return seconds - datetime.now(UTC).timestamp() if seconds >= _MIN_EPOCH_SECONDS else seconds


def _read_duration(text: str) -> float | None:
    """Return the seconds of a duration such as 20s, 1m30s, 500ms or 2 minutes."""
    duration = text.casefold()
    if not re.fullmatch(rf"(?:{_DURATION})+", duration):
        return None
    return sum(
        float(number) * _unit_seconds(unit) for number, unit in re.findall(_DURATION, duration)
    )


def _unit_seconds(unit: str) -> float:
    units = _SECONDS_OF_UNITS.items()
    return next(seconds for words, seconds in units if re.fullmatch(words, unit))


def _read_date(text: str) -> float | None:
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            date = parse(text)
            aware_date = date if date.tzinfo else date.replace(tzinfo=UTC)
            return (aware_date - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            continue
    return None
