"""An utterance in a debate, a row of its transcript."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from moot.core.types import JsonObject
from moot.core.utterance_kinds import REFUSED, UNUSABLE


@dataclass(slots=True)
class Utterance:
    """An utterance. docs/artifacts.md describes the columns of `transcripts/`."""

    turn: int
    round: int
    speaker: str
    visibility: str
    kind: str
    text: str
    parsed: JsonObject | None = None
    parse_status: str = ""
    prediction: str | None = None
    confidence: float | None = None
    source: str = "model"
    call_id: str = ""
    probability: float | None = None
    parse_problem: str = ""
    missing_fields: str = ""

    def answer_likeliest(self, shares: Mapping[str, float]) -> None:
        """Set the label with the largest share as prediction.

        The share becomes the probability, and in per cent the confidence.
        """
        self.prediction = max(shares, key=lambda label: shares[label])
        self.probability = shares[self.prediction]
        self.confidence = 100 * self.probability

    @property
    def has_failed(self) -> bool:
        """Whether the call failed."""
        return self.parse_status == "failed"

    @property
    def is_refused(self) -> bool:
        """Whether the model or its provider refused to answer."""
        return self.parse_status == REFUSED

    @property
    def usable(self) -> bool:
        """Whether the reply is usable for its purpose."""
        return self.parse_status not in UNUSABLE


MOOT = "moot"
"""The speaker of rows without a seat: notes about a debate, and its conclusion."""


def empty_utterance(seat: str, kind: str, status: str = "failed") -> Utterance:
    """Return the utterance of a seat that is not asked: without words, and not recorded."""
    parsed: JsonObject = {"strategy": "", "statement": ""}
    return Utterance(0, 0, seat, MOOT, kind, "", parsed=parsed, parse_status=status)


def label_word(label: str) -> str:
    """Return a label as prompts and replies spell it."""
    return label.upper()


def join_labels(words: str | Iterable[str], labels: Sequence[str]) -> str:
    """Return the label or labels of a reply in the spelling of the task, joined by ";".

    >>> join_labels(["WON", "LOST"], ["Lost", "Won"])
    'Lost;Won'
    """
    spellings = {label.casefold(): label for label in labels}
    chosen = {words} if isinstance(words, str) else set(words)
    return ";".join(sorted(spellings.get(word.casefold(), word) for word in chosen))
