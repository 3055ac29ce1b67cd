"""A value that a run measured, with its interval and counts."""

from dataclasses import dataclass

from moot.stats.intervals import Interval

NOT_A_NUMBER = float("nan")


@dataclass(frozen=True, slots=True)
class Measurement:
    """A value measured by this run; all fields are NaN if it was not measured."""

    value: float = NOT_A_NUMBER
    low: float = NOT_A_NUMBER
    high: float = NOT_A_NUMBER
    n: float = NOT_A_NUMBER
    n_invalid: float = NOT_A_NUMBER
    n_cases: float = NOT_A_NUMBER

    @property
    def interval(self) -> Interval:
        """The value with its interval."""
        return Interval(self.value, self.low, self.high)

    @property
    def counts(self) -> dict[str, float]:
        """The numbers of cases, answers and invalid answers, as cells of a table."""
        return {"cases": self.n_cases, "n": self.n, "n invalid": self.n_invalid}


NOT_MEASURED = Measurement()
