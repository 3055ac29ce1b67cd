"""The report's first page: each question, what was published, what this run says, and whether that
supports the claim.

`data/published/claims.csv` holds the questions; nothing is typed here. How an interval becomes a
word is in `moot.report.claims`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from moot.core.cases import REFERENCE_MODELS
from moot.core.experiment_config import COMPARISON
from moot.core.kinds import SAMPLE, SPEECH, VOTES
from moot.core.types import Column
from moot.report import table
from moot.report.claims import (
    CANNOT_TELL,
    DIFFERENCE,
    OVER_MAJORITY,
    RATIO_OF_ROUNDS,
    VALUE,
    Claim,
    Selector,
)
from moot.report.columns import Columns, Row
from moot.report.content import Run, StudyResults, TableContent, data_kind
from moot.report.needs import is_in_run
from moot.scores.answers import (
    ACCURACY,
    OF_VALID,
    Estimate,
    by_cluster,
    carried_note,
    compared,
    estimate,
)
from moot.scores.contrasts import DIFFER, Contrast, Side
from moot.stats import bootstrap
from moot.stats.bootstrap import AMOUNT, Floats, Statistic, as_numbers, mean_statistic, ratio
from moot.stats.paired import holm, share_right
from moot.stats.within_cases import FEWEST_CASES

VOTES_ASKED, MANY = "{votes}", "many"
COLUMNS = (
    Columns()
    .keys("study", "question", "published claim")
    .plain("answer")
    .estimate("this run")
    .counts("cases")
    .estimate("valid answers alone", "valid")
    .counts("cases with valid")
    .plain("data", "measured", "model", "p (Holm)")
    .counts("tests in family")
    .plain("speaks of")
    .counts("cases needed")
    .published("published value")
    .plain("supported where", "source", "see", "first", "second")
    .short_form(
        "study", "question", "answer", "this run", "95 % interval", "data", "model", "p (Holm)"
    )
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one run, or two of one model, say of a claim.

    Attributes:
        first, second: the runs; `second` is None where one is measured.
        found: the estimate.
        valid: the same among valid answers alone, where an answer is invalid; else None.
        p: of the verdict, by the interval.
    """

    first: Run
    second: Run | None
    found: Estimate
    valid: Estimate | None
    p: float


@table(COMPARISON, "questions", "Questions and answers", needs=(is_in_run,))
def questions(results: StudyResults) -> TableContent:
    """What the studies ask, what was published, and what this run says."""
    rows = [row for claim in results.claims for row in _rows(results, claim)]
    return COLUMNS.table(
        rows,
        [
            (
                "The rule: `supported` where the value lies on the claim's side (column `supported"
                " where`) and p (Holm) is below 0.05, `not supported` where it lies on the other,"
                " else `cannot tell`. p is that of the 95 % interval against the threshold. Holm's"
                " correction is over all runs and models that judge one claim (`tests in family`),"
                " so that an interval that leaves the threshold out may come with `cannot tell`; it"
                " is not over the questions."
            ),
            (
                f"Where fewer than {FEWEST_CASES} cases (or clusters of cases) were debated several"
                " times each, debates are compared within cases: the answer then holds for these"
                " cases (`speaks of`), and `cases needed` is the number that could show this"
                " difference for cases like these, with 80 % power. Few cases that were debated"
                " once cannot tell."
            ),
            (
                "Invalid answers count as wrong, and miss their case in F1. Where some are, `valid"
                " answers alone` is the same without them, on the cases that have some in both"
                " runs; where that leads to another answer, invalid answers carry the difference"
                " and the answer says so. Two runs of one model are compared on the cases that both"
                " argued; where they argued different ones, as the arms of the NYU debates, all"
                " cases of both count."
            ),
            (
                "A claim is judged by runs on the data that it names; a sample, synthetic data and"
                " trial runs judge none. A claim with a published threshold is judged only by runs"
                " with the paper's settings. Recorded answers were published by the studies'"
                " authors; their models are others than the papers'."
            ),
            *(
                ["Simulated voices judge no claim: whatever they say, the answer is `cannot tell`."]
                * results.simulated
            ),
        ],
    )


def _rows(results: StudyResults, claim: Claim) -> Iterator[Row]:
    published = None if results.simulated else claim.published
    asked: Row = {
        "study": claim.study,
        "question": _question(claim),
        "published claim": claim.claim,
    }
    asked["published value"] = (published, claim.needed, claim.source, claim.see)
    found = list(_judged(results, claim)) if claim.statistic else []
    if not found:
        reason = f"needed: {claim.comparison}" if claim.statistic else "no single number judges it"
        yield asked | {"answer": CANNOT_TELL, "measured": reason, "data": " or ".join(claim.data)}
    adjusted = holm([verdict.p for verdict in found])
    for verdict, p in zip(found, adjusted, strict=True):
        first, second = verdict.first, verdict.second
        joined = "to" if claim.statistic == RATIO_OF_ROUNDS else "less"
        subject = _method(first) + (f" {joined} {_method(second)}" if second else "")
        yield asked | _cells(verdict) | {
            "question": _question(claim, second),
            "answer": CANNOT_TELL if results.simulated else _answer(claim, verdict, p),
            "data": (first.data, f"{claim.measured}: {subject}", first.model_name, p, len(found)),
            "first": tuple(str(Side(run.experiment, (run.model,), claim.metric)) for run in (first, second) if run),
        }  # fmt: skip


def _question(claim: Claim, votes: Run | None = None) -> str:
    """The question, with the number of answers that a vote is over where it asks about one."""
    return claim.question.replace(
        VOTES_ASKED, vote_size(votes) if votes and VOTES_ASKED in claim.question else MANY
    )


def vote_size(run: Run) -> str:
    """The number of answers that each vote counts, "2 to 3" where they differ; "many" where it is
    not known.
    """
    sizes = set[int]()
    for said in run.results.parts(["kind", "parsed", "prediction"], run.model):
        sizes |= {
            sum(json.loads(parsed).values()) for parsed in said.loc[said["kind"] == VOTES, "parsed"]
        }
        sizes |= set(
            said[(said["kind"] == SAMPLE) & (said["prediction"] != "")].groupby("debate_id").size()
        )
    return " to ".join(str(size) for size in sorted({min(sizes), max(sizes)})) if sizes else MANY


def _cells(verdict: Verdict) -> Row:
    found, valid = verdict.found, verdict.valid
    cells: Row = {"this run": (found.value, found.low, found.high, found.cases)}
    cells["speaks of"] = (found.speaks_of, found.needed)
    if valid:
        cells["valid answers alone"] = (valid.value, valid.low, valid.high, valid.cases)
    return cells


def _answer(claim: Claim, verdict: Verdict, p: float) -> str:
    word = claim.judge(verdict.found.value, p)
    valid = verdict.valid
    if (
        word == CANNOT_TELL
        or valid is None
        or claim.judge(valid.value, claim.p(valid.p_of)) == word
    ):
        return word
    return f"{CANNOT_TELL}: {carried_note(verdict.found.value, valid.value)}"


def _method(run: Run) -> str:
    return str(run.params.get("method") or run.results.config.protocol.replace("_", " "))


def _judged(results: StudyResults, claim: Claim) -> Iterator[Verdict]:
    """The runs that can judge a claim, with what they measured."""
    for first in _runs(results, claim, claim.first):
        if claim.statistic in OF_ONE:
            published = not np.isnan(claim.published)
            if (
                not (claim.statistic == VALUE and published)
                or first.as_published.repeats
                or first.as_published.alike
            ):
                yield from _verdicts(claim, first)
            continue
        for second in _runs(results, claim, claim.second):
            if (second.model, second.results.config.dataset) == (
                first.model,
                first.results.config.dataset,
            ):
                yield from _verdicts(claim, first, second)


def _verdicts(claim: Claim, first: Run, second: Run | None = None) -> Iterator[Verdict]:
    found = _measure(claim, first, second)
    if found is None:
        return
    some_invalid = any(
        (run.predictions["status"] != "valid").any() for run in (first, second) if run
    )
    valid = None
    if some_invalid and claim.metric == ACCURACY:
        valid = _measure(replace(claim, metric=OF_VALID), first, second)
    yield Verdict(first, second, found, valid, claim.p(found.p_of))


def _measure(claim: Claim, first: Run, second: Run | None) -> Estimate | None:
    return (
        OF_TWO[claim.statistic](claim, first, second)
        if second
        else OF_ONE[claim.statistic](claim, first)
    )


def _runs(results: StudyResults, claim: Claim, selectors: tuple[Selector, ...]) -> list[Run]:
    experiments = results.experiments.values()
    about = (
        found for found in experiments if claim.is_about(selectors, found.config, data_kind(found))
    )
    found = [run for run in results.runs(about, Run) if run.model not in REFERENCE_MODELS]
    largest = {_setting(run): run for run in sorted(found, key=lambda run: len(run.predictions))}
    return [run for run in found if largest[_setting(run)] is run]


def _setting(run: Run) -> str:
    """What runs of one setting share: of several, as one that is repeated for control arms, the
    largest judges.
    """
    config = run.results.config
    return repr((run.model, config.protocol, config.dataset, sorted(config.params.items())))


# What can be measured of one run


def _value(claim: Claim, run: Run) -> Estimate | None:
    return estimate(run.results, run.model, claim.metric)


def _over_majority(claim: Claim, run: Run) -> Estimate | None:
    """The share of right answers less that of always naming the label that is true of most cases."""
    rows = run.predictions
    rows = rows[rows["status"] == "valid"] if claim.metric == OF_VALID else rows
    if rows.empty:
        return None
    shares = share_right(rows)
    truths = rows.drop_duplicates("case_id").set_index("case_id")["target"][shares.index]
    gains = as_numbers(shares) - as_numbers(truths == truths.value_counts().idxmax())
    return by_cluster(run.results, list(shares.index), mean_statistic(gains, bootstrap.DIFFERENCE))


# What can be measured of two


def _difference(claim: Claim, first: Run, second: Run) -> Estimate | None:
    """The difference in a metric on the cases that both argued, or on all where they have none in
    common.
    """
    one, other = (set(run.predictions["case_id"]) for run in (first, second))
    sides = [Side(run.experiment, (run.model,), claim.metric) for run in (first, second)]
    planned = Contrast(
        "", claim.question, sides[0], sides[1], DIFFER, bool(one & other), claim.study
    )
    return compared(planned, {run.experiment: run.results for run in (first, second)})


def _ratio_of_rounds(_claim: Claim, first: Run, second: Run) -> Estimate:
    one, other = (_rounds(run) for run in (first, second))
    rounds, is_first = as_numbers([*one, *other]), np.repeat([1.0, 0.0], [len(one), len(other)])

    def compare(weights: Floats) -> Floats:
        means = [
            ratio(weights @ (rounds * part), weights @ part) for part in (is_first, 1 - is_first)
        ]
        return ratio(means[0], means[1])

    return by_cluster(first.results, [*one.index, *other.index], Statistic(compare, AMOUNT))


def _rounds(run: Run) -> Column:
    """The number of rounds of each debate of which the speeches are known, by case."""
    return (
        run.utterances(SPEECH)
        .groupby("debate_id")
        .agg({"case_id": "first", "round": "max"})
        .set_index("case_id")["round"]
    )


OF_ONE: dict[str, Callable[[Claim, Run], Estimate | None]] = {
    VALUE: _value,
    OVER_MAJORITY: _over_majority,
}
OF_TWO: dict[str, Callable[[Claim, Run, Run], Estimate | None]] = {
    DIFFERENCE: _difference,
    RATIO_OF_ROUNDS: _ratio_of_rounds,
}
