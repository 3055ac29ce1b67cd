"""Notes on how values were read: repairs, missing fields, numbers without a scale."""

from dataclasses import dataclass, field
from typing import Literal

from moot.core.types import Json

Status = Literal["strict", "repaired", "extracted", "invalid"]


@dataclass(slots=True)
class Notes:
    """Changes that were needed to read a value, and missing fields (path to problem).

    `bare_numbers` holds the numbers, by path, that were stated without a scale for a field from 0
    to 100.
    """

    repairs: list[str] = field(default_factory=list)
    in_words: bool = False
    missing: dict[str, str] = field(default_factory=dict)
    bare_numbers: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> Status:
        return (
            "extracted"
            if self.in_words
            else "repaired"
            if self.repairs or self.missing
            else "strict"
        )

    @property
    def problem(self) -> str:
        """All notes on one line; "" if nothing was changed."""
        return "; ".join(
            [
                *self.repairs,
                *(f"{path} missing ({problem})" for path, problem in self.missing.items()),
            ]
        )

    def add(self, repair: str, *, in_words: bool = False) -> None:
        if repair not in self.repairs:
            self.repairs.append(repair)
        self.in_words = self.in_words or in_words

    def absorb(self, inner: "Notes", place: str) -> None:
        """Add the notes on the value at `place`, a field's name or a position such as "[0]"."""
        for repair in inner.repairs:
            self.add(repair)
        self.in_words = self.in_words or inner.in_words
        self.missing |= {
            place + ("." * (path[0] != "[")) + path: problem
            for path, problem in inner.missing.items()
        }
        self.bare_numbers |= {
            place if not path else f"{place}.{path}": number
            for path, number in inner.bare_numbers.items()
        }


@dataclass(frozen=True, slots=True)
class Unclear:
    """Different values that an object states for one key."""

    values: tuple[Json, ...]
