"""The questions of a first page, and what the runs say of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.report.published_claims import NOT_SUPPORTED, SUPPORTED

SIGNS = {SUPPORTED: "✓", "yes": "✓", NOT_SUPPORTED: "✗", "opposite": "✗"}
UNDECIDED = "?"
PAD = 0.08
"""The empty share of a bar at each end."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run, or two of one model, say of a question.

    Attributes:
        word: the verdict, without what led to it.
        value, low, high: the estimate with its 95 % interval.
        threshold: what the interval is held against: the two ends of a claim "within", else one
            value twice.
        published: the published value; None where there is none.
        about: what was measured, of which model, on which data and how many cases.
        why: what led to the word.
        debates: address and name of the runs that it rests on, as far as the run built their pages.
    """

    word: str
    value: float
    low: float
    high: float
    threshold: tuple[float, float]
    published: float | None
    about: str
    why: str
    debates: Sequence[tuple[str, str]]

    @property
    def sign(self) -> str:
        return SIGNS.get(self.word, UNDECIDED)


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    """One question with what the run's models say of it.

    Attributes:
        text: the question.
        claim: the published answer, and who published it.
        verdicts: one a run that can judge it; empty where none can.
        missing: where none can, what would.
        table: the name of the table with the details, such as `recorded/methods`.
        planned: whether the configuration plans this comparison.
    """

    text: str
    claim: str
    verdicts: tuple[Verdict, ...]
    missing: str
    table: str
    planned: bool

    @property
    def is_of_run(self) -> bool:
        """Whether the run planned the question or has an answer to it."""
        return self.planned or bool(self.verdicts)

    def at(self, value: float) -> float:
        """Where a value lies on the question's bars, in per cent of their length."""
        values = list[float]()
        for verdict in self.verdicts:
            values += [verdict.low, verdict.high, *verdict.threshold]
            if verdict.published is not None:
                values.append(verdict.published)
        low, high = min(values), max(values)
        return round(100 * (PAD + (1 - 2 * PAD) * (value - low) / ((high - low) or 1)), 2)
