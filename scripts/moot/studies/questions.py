"""The report's first page: each question, what was published, what this run says, and whether that supports the claim.

`data/published/claims.csv` holds the questions; nothing is typed here. How an interval becomes a word is in
`moot.report.claims`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from moot.core.cases import REFERENCE_MODELS
from moot.core.config import COMPARISON
from moot.report.claims import (
    ACCURACY_DIFFERENCE,
    CANNOT_TELL,
    F1_DIFFERENCE,
    FEWEST_CASES,
    OVER_MAJORITY,
    RATIO_OF_ROUNDS,
    SCORE,
    Claim,
    Selector,
)
from moot.report.content import DESIGN, Run, StudyResults, TableContent
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import (
    AMOUNT,
    DIFFERENCE,
    ClusterBootstrap,
    Floats,
    Statistic,
    as_numbers,
    mean_statistic,
    ratio,
)
from moot.stats.paired import share_right
from moot.studies import table


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its 95 % interval, and the number of cases that it rests on."""

    value: float
    low: float
    high: float
    cases: int


@table(
    COMPARISON,
    "questions",
    "Questions and answers",
    "What the studies ask, what was published, and what this run says.",
    (DESIGN,),
)
def questions(results: StudyResults) -> TableContent:
    """One row a claim and pair of runs that can judge it, or one that says why none can."""
    rows = [row for claim in results.claims for row in _rows(results, claim)]
    columns = ["study", "question", "published claim", "answer", "this run", "95 % low", "95 % high", "cases"]
    columns += ["measured", "model", "published value", "supported where", "source", "see"]
    frame = pd.DataFrame(rows, columns=columns)
    return TableContent(
        frame.astype({"cases": "Int64"}),
        notes=[
            "The rule: `supported` where the whole 95 % interval lies on the claim's side (column `supported where`), "
            "`not supported` where the whole interval lies on the other side, `cannot tell` where the interval holds "
            f"the threshold, rests on fewer than {FEWEST_CASES} cases, or no run of this report can judge the claim.",
            "Invalid answers count as wrong in accuracy, and are dropped in F1. Two runs of one model are compared on "
            "the cases that both argued; where they argued different ones, as the arms of the NYU debates, all cases "
            "of both count. Intervals are by cluster; they are not corrected for the number of questions.",
            "A claim with a published threshold is judged only by runs on the paper's data and with its settings. "
            "Recorded answers were published by the studies' authors; their models are others than the papers'.",
            *(
                ["Simulated voices judge no claim: whatever they measure, the answer is `cannot tell`."]
                * results.simulated
            ),
        ],
        ours=("this run", "95 % low", "95 % high"),
        published=("published value",),
        intervals={"95 % interval": ("95 % low", "95 % high")},
        keys=("study", "question", "published claim"),
    )


def _rows(results: StudyResults, claim: Claim) -> Iterator[dict[str, Any]]:
    asked = {
        "study": claim.study,
        "question": claim.question,
        "published claim": claim.claim,
        "published value": None if results.simulated else claim.published,
        "supported where": claim.needed,
        "source": claim.source,
        "see": claim.see,
    }
    found = list(_judged(results, claim)) if claim.statistic else []
    for first, second, estimate in found:
        measured = claim.statistic if claim.statistic != SCORE else f"{claim.metric} {claim.average}".strip()
        joined = "to" if claim.statistic == RATIO_OF_ROUNDS else "less"
        subject = _method(first) + (f" {joined} {_method(second)}" if second else "")
        yield asked | {
            "answer": CANNOT_TELL if results.simulated else claim.judge(estimate.low, estimate.high, estimate.cases),
            "this run": estimate.value,
            "95 % low": estimate.low,
            "95 % high": estimate.high,
            "cases": estimate.cases,
            "measured": f"{measured}: {subject}",
            "model": first.model,
        }
    if not found:
        reason = "no run of this report judges it" if claim.statistic else "not judged by one number"
        yield asked | {"answer": CANNOT_TELL, "measured": reason}


def _method(run: Run) -> str:
    params = run.results.config.params
    return str(params.get("method") or run.results.config.protocol.replace("_", " "))


def _judged(results: StudyResults, claim: Claim) -> Iterator[tuple[Run, Run | None, Estimate]]:
    """The runs that can judge a claim, with what they measured."""
    for first in _runs(results, claim.first):
        if claim.statistic in OF_ONE:
            if (single := OF_ONE[claim.statistic](results, claim, first)) is not None:
                yield first, None, single
            continue
        for second in _runs(results, claim.second):
            if (second.model, second.results.config.dataset) == (first.model, first.results.config.dataset):
                yield first, second, OF_TWO[claim.statistic](first, second)


def _runs(results: StudyResults, selectors: tuple[Selector, ...]) -> list[Run]:
    return [
        Run(found, model)
        for found in results.experiments.values()
        if any(_selects(selector, found) for selector in selectors)
        for model in found.config.models
        if found.config.split == "test" and model not in REFERENCE_MODELS
    ]


def _selects(selector: Selector, found: ExperimentResults) -> bool:
    values = {**found.config.params, "dataset": found.config.dataset}
    texts = {name: str(value or "") for name, value in values.items()}
    return selector.protocol == found.config.protocol and all(
        texts.get(name) if wanted == "*" else texts.get(name) == wanted for name, wanted in selector.wanted
    )


# What can be measured of one run


def _score(results: StudyResults, claim: Claim, run: Run) -> Estimate | None:
    """A score of a run whose data and settings are the paper's."""
    as_published = results.comparable.run(run.experiment, run.model)
    score = results.score_index.get((run.experiment, run.model, claim.metric, claim.average, claim.group or "overall"))
    if score is None or not (as_published.repeats or as_published.alike):
        return None
    return Estimate(score.value, score.ci_low, score.ci_high, score.n_cases)


def _over_majority(_results: StudyResults, _claim: Claim, run: Run) -> Estimate:
    """The share of right answers less that of always naming the label that is true of most cases."""
    shares = share_right(run.predictions)
    truths = run.predictions.drop_duplicates("case_id").set_index("case_id")["target"][shares.index]
    gains = as_numbers(shares) - as_numbers(truths == truths.value_counts().idxmax())
    return _estimate(run, list(shares.index), mean_statistic(gains, DIFFERENCE))


# What can be measured of two


def _accuracy_difference(first: Run, second: Run) -> Estimate:
    one, other = _on_common_cases(share_right(first.predictions), share_right(second.predictions))
    cases = [*one.index, *other.index]
    right, is_first = as_numbers([*one, *other]), np.repeat([1.0, 0.0], [len(one), len(other)])
    return _estimate(first, cases, Statistic(_difference_of_means(right, is_first), DIFFERENCE))


def _f1_difference(first: Run, second: Run) -> Estimate:
    one, other = _on_common_cases(*(_valid(run).set_index("case_id") for run in (first, second)))
    rows, is_first = pd.concat([one, other]), np.repeat([True, False], [len(one), len(other)])
    positive = first.results.task.positive
    actual, named = (rows["target"] == positive).to_numpy(), (rows["prediction"] == positive).to_numpy()
    both, either = as_numbers(actual & named), as_numbers(actual) + as_numbers(named)

    def difference(weights: Floats) -> Floats:
        f1 = [ratio(2 * weights @ (both * part), weights @ (either * part)) for part in (is_first, ~is_first)]
        return f1[0] - f1[1]

    return _estimate(first, list(rows.index), Statistic(difference, DIFFERENCE))


def _valid(run: Run) -> pd.DataFrame:
    return run.predictions[run.predictions["status"] == "valid"]


def _ratio_of_rounds(first: Run, second: Run) -> Estimate:
    one, other = (_rounds(run) for run in (first, second))
    rounds, is_first = as_numbers([*one, *other]), np.repeat([1.0, 0.0], [len(one), len(other)])

    def compare(weights: Floats) -> Floats:
        means = [ratio(weights @ (rounds * part), weights @ part) for part in (is_first, 1 - is_first)]
        return ratio(means[0], means[1])

    return _estimate(first, [*one.index, *other.index], Statistic(compare, AMOUNT))


def _rounds(run: Run) -> "pd.Series[Any]":
    """The number of rounds of each debate of which the speeches are known, by case."""
    said = run.results.transcripts
    speeches = said[(said["model"] == run.model) & (said["kind"] == "speech")]
    return speeches.groupby("debate_id").agg({"case_id": "first", "round": "max"}).set_index("case_id")["round"]


def _difference_of_means(values: Floats, is_first: Floats) -> Callable[[Floats], Floats]:
    def difference(weights: Floats) -> Floats:
        means = [ratio(weights @ (values * part), weights @ part) for part in (is_first, 1 - is_first)]
        return means[0] - means[1]

    return difference


def _on_common_cases(one: Any, other: Any) -> tuple[Any, Any]:
    """Both restricted to the cases that both have, or as they are where they have none in common."""
    common = one.index.intersection(other.index)
    return (one[one.index.isin(common)], other[other.index.isin(common)]) if len(common) else (one, other)


def _estimate(run: Run, cases: list[str], statistic: Statistic) -> Estimate:
    bootstrap = ClusterBootstrap([run.results.clusters[case] for case in cases], run.results.seed)
    return Estimate(*bootstrap.estimate(statistic), len(set(cases)))


OF_ONE: dict[str, Callable[[StudyResults, Claim, Run], Estimate | None]] = {
    SCORE: _score,
    OVER_MAJORITY: _over_majority,
}
OF_TWO: dict[str, Callable[[Run, Run], Estimate]] = {
    ACCURACY_DIFFERENCE: _accuracy_difference,
    F1_DIFFERENCE: _f1_difference,
    RATIO_OF_ROUNDS: _ratio_of_rounds,
}
