"""What servers say, fit for logs and the ledger."""

import re

_LONGEST_MESSAGE = 300


def redacted(message: object, *secrets: str) -> str:
    """What a server said, fit for logs and the ledger: one line of bounded length, and no secret that it repeated."""
    text = str(message)
    for secret in secrets:
        text = text.replace(secret, "***") if secret else text
    text = " ".join(re.sub(r"(?<=://)[^/\s@]+@", "***@", text).split())
    text = "".join(character for character in text if character.isprintable())  # no colours, no cursor, no half pairs
    return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}..."
