"""How a call can go wrong, by what is done about it. Endpoints translate their client's errors into these."""

import re

from moot.llm.request import Usage


class TransientError(Exception):
    """The server failed, dropped the connection, took too long or sent no usable reply: try again after a pause.

    `usage` is what a reply that cannot be used was counted as; it is paid for.
    """

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage


class UnreachableError(TransientError):
    """No connection at all: if it never comes about, no call of the run can succeed."""


class RateLimitedError(Exception):
    """The server asks to wait; `retry_after` is what it said, in seconds, or None."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


_LONGEST_MESSAGE = 300


def redacted(message: object, *secrets: str) -> str:
    """What a server said, fit for logs and the ledger: one line of bounded length, and no secret that it repeated."""
    text = str(message)
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    text = " ".join(re.sub(r"(?<=://)[^/\s@]+@", "***@", text).split())
    text = "".join(character for character in text if character.isprintable())  # no colours, no cursor, no half pairs
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
