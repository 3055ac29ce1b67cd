"""The questions of a first page: the tested contrasts, with their answers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from moot.core.types import Fields
from moot.report.escaping import capitalised
from moot.scores.contrasts import CANNOT_TELL, NOT_SUPPORTED, SUPPORTED

MOST_QUESTIONS = 20
"""The most questions on a page; the table of contrasts has all."""
EITHER_SIDE = "they differ"
"""What a contrast without a direction expects. The answer then says so: a question such as "is A
better than B" would seem answered yes by any difference."""
SIGNS = {SUPPORTED: "✓", NOT_SUPPORTED: "✗", CANNOT_TELL: "?"}
TOO_FEW = "this run has too few cases for an interval"
PAD = 0.08
"""The share of a bar that is empty at each end."""
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


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value with its 95 % interval, and the value that it is compared with."""

    value: float
    low: float
    high: float
    threshold: float

    def at(self, value: float) -> float:
        """Return where a value lies on the bar of the estimate, in per cent of its length."""
        values = (self.low, self.high, self.threshold)
        low, high = min(values), max(values)
        return round(100 * (PAD + (1 - 2 * PAD) * (value - low) / ((high - low) or 1)), 2)

    @property
    def clarity(self) -> float:
        """The distance of the interval from the threshold, in widths; negative if it is inside."""
        distance = max(self.low - self.threshold, self.threshold - self.high)
        return distance / ((self.high - self.low) or 1.0)


@dataclass(frozen=True, slots=True)
class StudyQuestion:
    """A contrast as a question.

    Attributes:
        text: the question.
        published: the published answer, and who published it.
        answer: `SUPPORTED`, `NOT_SUPPORTED` or `CANNOT_TELL`.
        estimate: the measured value; None if the run has no interval for it.
        about: the measure, its sides and the number of cases.
        why: the reason for the answer.
        note: whether the two sides differ, and how many cases settle the question.
        table: the name of the table with the details, such as `recorded/contrasts`.
        debates: addresses and names of the compared runs, if the run built their pages.
        is_own: whether the run's configuration, not the shipped one, plans it.
        expects_side: whether the contrast has a direction.
    """

    text: str
    published: str
    answer: str
    estimate: Estimate | None
    about: str
    why: str
    note: str
    table: str
    debates: Sequence[tuple[str, str]]
    is_own: bool
    expects_side: bool

    @property
    def sign(self) -> str:
        """The sign of the answer."""
        return SIGNS[self.answer]

    @property
    def answer_text(self) -> str:
        """The answer; if no side was expected, it says so."""
        if self.expects_side or self.answer == CANNOT_TELL:
            return self.answer
        return f"{self.answer} ({EITHER_SIDE})"


def choose_questions(
    rows: Sequence[Fields], readers: Mapping[str, str], own: Collection[str]
) -> list[StudyQuestion]:
    """Return the questions of a page, at most `MOST_QUESTIONS`.

    Those of the run's configuration come first, also if they have no answer. Of the shipped ones
    only those with an interval follow, answered ones first.

    Args:
        rows: of the table of contrasts, with all values as text.
        readers: the address of the page with the debates of each experiment.
        own: the names of the contrasts of the run's configuration.
    """
    questions = [_read_question(row, readers, row["contrast"] in own) for row in rows]
    shown = [question for question in questions if question.is_own or question.estimate]
    shown.sort(key=_rank)
    return shown[:MOST_QUESTIONS]


def _rank(question: StudyQuestion) -> tuple[bool, bool, float]:
    clarity = question.estimate.clarity if question.estimate else float("-inf")
    return not question.is_own, question.answer == CANNOT_TELL, -clarity


def _read_question(row: Fields, readers: Mapping[str, str], is_own: bool) -> StudyQuestion:
    """Return a row of the table of contrasts as a question."""
    has_interval = bool(row["difference low"] and row["p (Holm)"])
    word, _, reason = row["answer"].partition(": ")
    metrics = [metric_in_words(metric) for metric in row["metric"].split(" against ")]
    first, second = _side_with_value(row, "first"), _side_with_value(row, "second")
    cases = f"; {int(float(row['cases']))} cases" if row["cases"] else ""
    if row["threshold"]:
        about = f"{' against '.join(metrics)} of {row['first']}{cases}"
    elif row["first"] == row["second"] and len(metrics) > 1:
        values = (row["first value"], row["second value"])
        terms = [
            f"{metric} ({float(value):.3f})" if value else metric
            for metric, value in zip(metrics, values, strict=True)
        ]
        about = f"{row['first']}: {' less '.join(terms)}{cases}"
    else:
        about = f"difference in {' against '.join(metrics)}: {first} less {second}{cases}"
    estimate = _read_estimate(row) if has_interval else None
    missing = capitalised(row["not tested because"] or TOO_FEW).removesuffix(".") + "."
    return StudyQuestion(
        row["question"] or row["contrast"],
        row["published"],
        word if row["p (Holm)"] else CANNOT_TELL,
        estimate,
        capitalised(about),
        _explain(row, estimate, reason) if row["p (Holm)"] else missing,
        row["in words"],
        f"{row['study']}/contrasts",
        [
            _debates_link(side, readers)
            for side in dict.fromkeys((row["first"], row["second"]))
            if side.split(", ")[0] in readers
        ],
        is_own,
        row["expected"] != EITHER_SIDE,
    )


def _read_estimate(row: Fields) -> Estimate:
    """Return the difference, or the value itself where it is compared with a threshold."""
    threshold = float(row["threshold"] or 0)
    value, low, high = (
        threshold + float(row[name]) for name in ("difference", "difference low", "difference high")
    )
    return Estimate(value, low, high, threshold)


def _explain(row: Fields, estimate: Estimate | None, reason: str) -> str:
    tests = int(float(row["tests in family"]))
    corrected = f" (Holm's correction for {tests} tests)" if tests > 1 else ""
    p = f"p = {float(row['p (Holm)']):.3f}".replace("= 0.000", "< 0.001")
    interval = "There is no interval"
    if estimate:
        is_inside = estimate.low <= estimate.threshold <= estimate.high
        verb = "includes" if is_inside else "leaves out"
        interval = f"The 95 % interval {verb} {estimate.threshold:g}"
    sentence = f"{interval}; {p}{corrected}."
    return f"{sentence} {capitalised(reason)}." if reason else sentence


def metric_in_words(metric: str) -> str:
    """Return a metric in words, such as "macro F1" for `macro_f1`."""
    return METRIC_WORDS.get(metric, metric.replace("_", " "))


def _side_with_value(row: Fields, side: str) -> str:
    """Return a side of a contrast with its value, if it has one."""
    value = row[f"{side} value"]
    return f"{row[side]} ({float(value):.3f})" if value else str(row[side])


def _debates_link(side: str, readers: Mapping[str, str]) -> tuple[str, str]:
    """Return the address and the name of a run's debates.

    The run is one side of a comparison, as tables name it.
    """
    experiment, model = side.partition(" where ")[0].split(", ", 1)
    query = {"experiment": experiment} | ({} if model.endswith(" models") else {"model": model})
    return f"{readers[experiment]}#?{urlencode(query)}", side
