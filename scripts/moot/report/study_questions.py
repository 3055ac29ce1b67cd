"""The questions of a first page, and the runs' answers to each."""

from collections.abc import Sequence
from dataclasses import dataclass

from moot.report.published_claims import NOT_SUPPORTED, SUPPORTED

SIGNS = {SUPPORTED: "✓", "yes": "✓", NOT_SUPPORTED: "✗", "opposite": "✗"}
UNDECIDED = "?"
PAD = 0.08
"""The share of a bar that is empty at each end."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of one run, or of two runs of one model, on a question.

    Attributes:
        word: the verdict without its reason.
        value, low, high: the estimate with its 95 % interval.
        threshold: the value that the interval is compared with: both ends of a claim "within", else
            one value twice.
        published: the published value; None without one.
        about: the measure, the model, the data and the number of cases.
        why: the reason for the verdict.
        debates: addresses and names of the underlying runs, if the run built their pages.
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
    """One question with the answers of the run's models.

    Attributes:
        text: the question.
        claim: the published answer, and who published it.
        verdicts: one per run that can judge it; may be empty.
        missing: which run could judge it, if none of this run can.
        table: the name of the table with the details, such as `recorded/methods`.
        planned: whether the configuration plans this comparison.
        note: whether the answers of a planned comparison differ, and how many cases it takes.
    """

    text: str
    claim: str
    verdicts: tuple[Verdict, ...]
    missing: str
    table: str
    planned: bool
    note: str = ""

    @property
    def is_of_run(self) -> bool:
        """Whether the run planned the question or has an answer to it."""
        return self.planned or bool(self.verdicts)

    def at(self, value: float) -> float:
        """Return where a value lies on the question's bars, in per cent of their length."""
        values = list[float]()
        for verdict in self.verdicts:
            values += [verdict.low, verdict.high, *verdict.threshold]
            if verdict.published is not None:
                values.append(verdict.published)
        low, high = min(values), max(values)
        return round(100 * (PAD + (1 - 2 * PAD) * (value - low) / ((high - low) or 1)), 2)
