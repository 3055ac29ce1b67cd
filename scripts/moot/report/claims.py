"""Published claims and the rule that judges them: `data/published/claims.csv`, one row a claim.

A claim says which runs it is about, what is measured of them, and on which side of a threshold the value should lie.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError

COLUMNS = (
    "study",
    "source",
    "question",
    "claim",
    "published",
    "statistic",
    "metric",
    "average",
    "group",
    "first",
    "second",
    "direction",
    "threshold",
    "see",
)
SCORE, OVER_MAJORITY = "score", "gain over the majority class"
ACCURACY_DIFFERENCE, F1_DIFFERENCE, RATIO_OF_ROUNDS = "difference in accuracy", "difference in F1", "ratio of rounds"
STATISTICS = (SCORE, OVER_MAJORITY, ACCURACY_DIFFERENCE, F1_DIFFERENCE, RATIO_OF_ROUNDS)
DIRECTIONS = ("above", "below", "within")
FEWEST_CASES = 10
SUPPORTED, NOT_SUPPORTED, CANNOT_TELL = "supported", "not supported", "cannot tell"

_SELECTOR = re.compile(r"\s*(\w+)(?:\(([^()]*)\))?\s*")


@dataclass(frozen=True, slots=True)
class Selector:
    """Which experiments a claim is about: their protocol, and values of their parameters or data set.

    Attributes:
        protocol: the protocol's name.
        wanted: `dataset` or a parameter's name to its value; "*" for any value that is not empty.
    """

    protocol: str
    wanted: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One published claim.

    Attributes:
        study: the study that repeats it.
        source: who published it.
        question: the question that it answers.
        claim: the published answer, in words.
        published: the published value; NaN where none is printed.
        statistic: what is measured, one of `STATISTICS`; "" where no single number judges it.
        metric: the score's name, where the statistic is a score.
        average: the score's average.
        group: the score's group.
        first: the runs that it is about.
        second: the runs that they are compared with.
        direction: `above` or `below` the threshold, or `within` it of 0.
        threshold: the value that the interval is held against.
        see: the table with the numbers behind it.
    """

    study: str
    source: str
    question: str
    claim: str
    published: float
    statistic: str
    metric: str
    average: str
    group: str
    first: tuple[Selector, ...]
    second: tuple[Selector, ...]
    direction: str
    threshold: float
    see: str

    @property
    def needed(self) -> str:
        """Where the whole interval must lie for the claim to be supported."""
        if not self.statistic:
            return ""
        return (
            f"within {self.threshold:g} of 0" if self.direction == "within" else f"{self.direction} {self.threshold:g}"
        )

    def judge(self, low: float, high: float, cases: float) -> str:
        """The word for an interval: `supported` where all of it is on the claim's side, `not supported` where none is.

        Fewer than `FEWEST_CASES` cases, and an interval on both sides, cannot tell.
        """
        if math.isnan(low) or math.isnan(high) or cases < FEWEST_CASES:
            return CANNOT_TELL
        bottom, top = {
            "above": (self.threshold, math.inf),
            "below": (-math.inf, self.threshold),
            "within": (-self.threshold, self.threshold),
        }[self.direction]
        if bottom < low and high < top:
            return SUPPORTED
        return NOT_SUPPORTED if high < bottom or low > top else CANNOT_TELL


def read_claims(path: Path) -> list[Claim]:
    """The claims of a CSV file with the columns `COLUMNS`, in its order.

    Raises:
        UserError: a column is missing or a cell cannot be read; names file, line and column.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UserError(f"{path}: column '{missing[0]}' not found; expected {', '.join(COLUMNS)}.")
    return [
        _claim({name: str(row[name]) for name in COLUMNS}, f"{path}, line {line}")
        for line, row in enumerate(frame.to_dict("records"), start=2)
    ]


def _claim(row: dict[str, str], place: str) -> Claim:
    judged = bool(row["statistic"])
    if judged and row["statistic"] not in STATISTICS:
        raise UserError(f"{place}: statistic '{row['statistic']}', expected one of {', '.join(STATISTICS)}.")
    if judged and row["direction"] not in DIRECTIONS:
        raise UserError(f"{place}: direction '{row['direction']}', expected one of {', '.join(DIRECTIONS)}.")
    return Claim(
        row["study"],
        row["source"],
        row["question"],
        row["claim"],
        _number(row["published"], f"{place}: published", optional=True),
        row["statistic"],
        row["metric"],
        row["average"],
        row["group"],
        tuple(_selectors(row["first"], f"{place}: first")),
        tuple(_selectors(row["second"], f"{place}: second")),
        row["direction"],
        _number(row["threshold"], f"{place}: threshold", optional=not judged),
        row["see"],
    )


def _number(text: str, place: str, optional: bool) -> float:
    if not text and optional:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{place} '{text}', expected a number.") from None


def _selectors(text: str, place: str) -> Iterator[Selector]:
    """Selectors such as `courtroom | recorded(method=debate; dataset=mine)`."""
    for part in text.split("|") if text else ():
        found = _SELECTOR.fullmatch(part)
        wanted = [pair.partition("=") for pair in (found[2] or "").split(";") if pair.strip()] if found else []
        if found is None or not all(sign for _, sign, _ in wanted):
            raise UserError(f"{place} '{part.strip()}', expected PROTOCOL or PROTOCOL(name=value; name=value).")
        yield Selector(found[1], tuple((name.strip(), value.strip()) for name, _, value in wanted))
