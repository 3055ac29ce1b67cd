"""Published claims (`data/published/claims.csv`, one row each) and the rule that judges them.

A claim states which runs on which data can judge it, which metric is measured, and on which side of
a threshold the value should lie.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path

import pandas as pd

from moot.core.errors import UserError
from moot.core.types import JsonObject
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.results import ExperimentView

METRIC_WORDS = {
    "f1": "F1",
    "macro_f1": "macro F1",
    "accuracy_of_valid": "accuracy of valid answers",
    "valid": "share of valid answers",
    "brier": "Brier score",
    "tokens": "tokens of a debate",
    "calls": "calls of a debate",
}
"""Metrics in words, for names that are not self-explanatory."""
VALUE, OVER_MAJORITY = "value", "gain over the majority class"
DIFFERENCE, RATIO_OF_ROUNDS = "difference", "ratio of rounds"
STATISTICS = (VALUE, OVER_MAJORITY, DIFFERENCE, RATIO_OF_ROUNDS)
DIRECTIONS = ("above", "below", "within")
LEVEL = 0.05
SUPPORTED, NOT_SUPPORTED, CANNOT_TELL = "supported", "not supported", "cannot tell"

_SELECTOR = re.compile(r"\s*(\w+)(?:\(([^()]*)\))?\s*")


def metric_in_words(metric: str) -> str:
    """Return a metric in words, such as "macro F1" for `macro_f1`."""
    return METRIC_WORDS.get(metric, metric.replace("_", " "))


@dataclass(frozen=True, slots=True)
class Selector:
    """The experiments that a claim is about: their protocol, parameters and data set.

    Attributes:
        protocol: the protocol's name.
        conditions: `dataset` or a parameter's name to its value; "*" for any value that is not
            empty.
    """

    protocol: str
    conditions: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        values = "; ".join(
            {"": f"no {name}", "*": f"any {name}"}.get(value, f"{name}={value}")
            for name, value in self.conditions
        )
        return f"{self.protocol} ({values})" if values else self.protocol

    def selects(self, view: ExperimentView) -> bool:
        """Return whether the selector matches an experiment."""
        values = {**view.params, "dataset": view.dataset}
        texts = {name: str(value or "") for name, value in values.items()}
        return self.protocol == view.protocol and all(
            texts.get(name) if expected == "*" else texts.get(name) == expected
            for name, expected in self.conditions
        )


@dataclass(frozen=True, slots=True)
class Claim:
    """One published claim.

    Attributes:
        study: the study that repeats it.
        source: who published it.
        question: the question that it answers.
        claim: the published answer, in words.
        published: the published value; NaN if none is printed.
        data: the data sets that can judge it, each by its name in a configuration or by its loader;
            a sample or synthetic data must be named as such, "nlsy97 (synthetic)".
        statistic: the measured statistic, one of `STATISTICS`; "" if no single number judges the
            claim.
        metric: of contrasts; "" for a ratio of rounds.
        first: the runs of the claim.
        second: the runs that they are compared with.
        direction: `above` or `below` the threshold, or `within` this distance from 0.
        threshold: the value that the interval is compared with.
        see: the table with the numbers behind it.
    """

    study: str
    source: str
    question: str
    claim: str
    published: float
    data: tuple[str, ...]
    statistic: str
    metric: str
    first: tuple[Selector, ...]
    second: tuple[Selector, ...]
    direction: str
    threshold: float
    see: str

    @property
    def support_range(self) -> str:
        """The range that must include the whole interval for the claim to be supported."""
        if not self.statistic:
            return ""
        return (
            f"within {self.threshold:g} of 0"
            if self.direction == "within"
            else f"{self.direction} {self.threshold:g}"
        )

    @property
    def description(self) -> str:
        """The measure, runs and data that can judge the claim, in words."""
        connective = " to " if self.statistic == RATIO_OF_ROUNDS else " less "
        runs = connective.join(
            " or ".join(map(str, side)) for side in (self.first, self.second) if side
        )
        return f"{self.measure_name}: {runs}, on {' or '.join(self.data)}"

    @property
    def measure_name(self) -> str:
        """The name of the measure."""
        metric = metric_in_words(self.metric)
        if self.statistic == DIFFERENCE:
            return f"difference in {metric}"
        return metric if self.statistic == VALUE else self.statistic

    def includes_dataset(self, dataset: str, loader: str, kind: str) -> bool:
        """Return whether the claim names a data set.

        `kind` is "sample" or "synthetic" for such data, else "".
        """
        return any(
            (f"{name} ({kind})" if kind else name) in self.data for name in (dataset, loader)
        )

    def matches_side(self, side: tuple[Selector, ...], view: ExperimentView, kind: str) -> bool:
        """Return whether an experiment can be the side `first` or `second` of the claim.

        `kind` is as in `includes_dataset`.
        """
        selected = view.split == "test" and any(selector.selects(view) for selector in side)
        return selected and self.includes_dataset(view.dataset, view.loader, kind)

    def p(self, p_of: Callable[[float], float]) -> float:
        """Return the p of the verdict, from the p of supposed values.

        For `within` it is the larger one of both ends.
        """
        return max(
            p_of(end)
            for end in ((-self.threshold, self.threshold) if self._is_within else (self.threshold,))
        )

    def judge(self, value: float, p: float) -> str:
        """Return the verdict on a value.

        It says on which side of the threshold the value lies, if p is below `LEVEL`.
        """
        if not p < LEVEL:
            return CANNOT_TELL
        on_side = (
            abs(value) < self.threshold
            if self._is_within
            else (value > self.threshold) == (self.direction == "above")
        )
        return SUPPORTED if on_side else NOT_SUPPORTED

    @property
    def _is_within(self) -> bool:
        return self.direction == "within"


COLUMNS = tuple(column.name for column in fields(Claim))


def read_claims(path: Path) -> list[Claim]:
    """Read the claims of a CSV file with the columns `COLUMNS`, in its order.

    Raises:
        UserError: a column is missing or a cell cannot be read; names file, line and column.
    """
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise UserError(f"{path}: column '{missing[0]}' not found; expected {', '.join(COLUMNS)}.")
    claims = []
    for line, row in enumerate(frame.to_dict("records"), start=2):
        cells = {name: str(row[name]) for name in COLUMNS}
        claims.append(_claim(cells, f"{path}, line {line}"))
    return claims


def _claim(row: dict[str, str], place: str) -> Claim:
    has_statistic = bool(row["statistic"])
    if has_statistic and row["statistic"] not in STATISTICS:
        raise UserError(
            f"{place}: statistic '{row['statistic']}', expected one of {', '.join(STATISTICS)}."
        )
    if row["statistic"] in (VALUE, DIFFERENCE, OVER_MAJORITY) and row["metric"] not in CASE_METRICS:
        raise UserError(
            f"{place}: metric '{row['metric']}', expected one of {', '.join(CASE_METRICS)}."
        )
    if has_statistic and row["direction"] not in DIRECTIONS:
        raise UserError(
            f"{place}: direction '{row['direction']}', expected one of {', '.join(DIRECTIONS)}."
        )
    if has_statistic and not row["data"].strip():
        raise UserError(
            f"{place}: data is empty, expected the data sets that can judge the claim: NAME or "
            "NAME | NAME."
        )
    parsed: JsonObject = {
        side: tuple(_selectors(row[side], f"{place}: {side}")) for side in ("first", "second")
    }
    parsed["published"] = _number(row["published"], f"{place}: published", optional=True)
    parsed["threshold"] = _number(
        row["threshold"], f"{place}: threshold", optional=not has_statistic
    )
    parsed["data"] = tuple(name.strip() for name in row["data"].split("|") if name.strip())
    return Claim(**{**row, **parsed})


def _number(text: str, place: str, optional: bool) -> float:
    if not text and optional:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{place} '{text}', expected a number.") from None


def _selectors(text: str, place: str) -> Iterator[Selector]:
    """Parse selectors such as `courtroom | recorded(method=debate; dataset=mine)`."""
    for part in text.split("|") if text else ():
        match = _SELECTOR.fullmatch(part)
        wanted = (
            [pair.partition("=") for pair in (match[2] or "").split(";") if pair.strip()]
            if match
            else []
        )
        if match is None or not all(sign for _, sign, _ in wanted):
            raise UserError(
                f"{place} '{part.strip()}', expected PROTOCOL or PROTOCOL(name=value; name=value)."
            )
        yield Selector(match[1], tuple((name.strip(), value.strip()) for name, _, value in wanted))
