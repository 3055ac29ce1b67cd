"""The table of the first page: each question, the published claim, this run's value and a verdict.

`data/published/claims.csv` holds the questions and thresholds. `moot.report.published_claims` turns
an interval into a verdict.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from moot.core.cases import REFERENCE_MODELS
from moot.core.errors import CannotTellError
from moot.core.experiment_config import COMPARISON
from moot.core.types import Column
from moot.core.utterance_kinds import SAMPLE, SPEECH, VOTES
from moot.report import table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.needs import is_in_run
from moot.report.notes import data_kind
from moot.report.published_claims import (
    CANNOT_TELL,
    DIFFERENCE,
    OVER_MAJORITY,
    RATIO_OF_ROUNDS,
    VALUE,
    Claim,
    Selector,
)
from moot.report.study_results import Run, StudyResults
from moot.scores.contrasts import DIFFER, Contrast, Side
from moot.scores.inference_scope import (
    ACCURACY,
    OF_VALID,
    Estimate,
    by_cluster,
    carried_note,
    contrast_estimate,
    estimate_metric,
)
from moot.stats.arrays import Floats, as_numbers, ratio
from moot.stats.paired import holm, share_right
from moot.stats.statistic import AMOUNT, Statistic, mean_statistic
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.within_cases import FEWEST_CASES

VOTES_ASKED, MANY_VOTES = "{votes}", "many"
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
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one run, or of two runs of one model, for a claim.

    Attributes:
        first, second: The runs. `second` is None if a single run is measured.
        estimate: The measured value with its interval.
        valid: The estimate among valid answers alone; None if all answers are valid.
        p: The p-value of the interval against the claim's threshold.
    """

    first: Run
    second: Run | None
    estimate: Estimate
    valid: Estimate | None
    p: float


@table(COMPARISON, "questions", "Questions and answers", needs=(is_in_run,))
def questions(results: StudyResults) -> TableContent:
    """Each question with its published claim and this run's answer."""
    rows: list[Row] = []
    for claim in results.claims:
        rows += _rows(results, claim)
    return COLUMNS.table(
        rows,
        [
            (
                "The rule: with p (Holm) below 0.05, the answer is `supported` if the value is "
                "on the claim's side (column `supported where`) and `not supported` if it is on "
                "the other side; otherwise it is `cannot tell`. p is for the threshold and agrees "
                "with the 95 % interval. Holm's correction is over all runs and models that judge "
                "one claim (`tests in family`), not over the questions. Therefore the answer may "
                "be `cannot tell` although the interval excludes the threshold."
            ),
            (
                f"If fewer than {FEWEST_CASES} cases (or clusters of cases) were each debated "
                "several times, debates are compared within cases. The answer then applies to "
                "these cases (`speaks of`), and `cases needed` is the number that could show "
                "this difference for cases like these, with 80 % power. Few cases that were "
                "debated once cannot tell."
            ),
            (
                "Invalid answers count as wrong, and miss their case in F1. `valid answers "
                "alone` is the value without them, on the cases with valid answers in both runs. "
                "If it leads to another answer, invalid answers carry the difference, and the "
                "answer says so. Two runs of one model are compared on the cases that both "
                "argued. If they argued different cases, as in the arms of the NYU debates, all "
                "cases of both count."
            ),
            (
                "A claim is judged by runs on the data that it names, but not by samples, "
                "synthetic data or trial runs. A claim with a published threshold is judged only "
                "by runs with the paper's settings. Recorded answers were published by the "
                "studies' authors; their models are others than the papers'."
            ),
            *(
                ["Simulated voices do not judge claims: the answer is always `cannot tell`."]
                * results.is_rehearsal
            ),
        ],
    )


def _rows(results: StudyResults, claim: Claim) -> Iterator[Row]:
    published = None if results.is_rehearsal else claim.published
    claim_cells: Row = {
        "study": claim.study,
        "question": _question(claim),
        "published claim": claim.claim,
    }
    claim_cells |= {
        "published value": published,
        "supported where": claim.support_range,
        "source": claim.source,
        "see": claim.see,
    }
    verdicts: list[Verdict] = []
    reason = f"needed: {claim.description}" if claim.statistic else "no single number judges it"
    if claim.statistic:
        try:
            verdicts = list(_judge_claim(results, claim))
        except CannotTellError as error:
            reason = str(error)
    if not verdicts:
        yield claim_cells | {
            "answer": CANNOT_TELL,
            "measured": reason,
            "data": " or ".join(claim.data),
        }
    adjusted = holm([verdict.p for verdict in verdicts])
    for verdict, p in zip(verdicts, adjusted, strict=True):
        first, second = verdict.first, verdict.second
        conjunction = "to" if claim.statistic == RATIO_OF_ROUNDS else "less"
        subject = _method(first) + (f" {conjunction} {_method(second)}" if second else "")
        cells = {
            "question": _question(claim, second),
            "answer": CANNOT_TELL if results.is_rehearsal else _answer(claim, verdict, p),
            "data": first.data,
            "measured": f"{claim.measure_name}: {subject}",
            "model": first.model_name,
            "p (Holm)": p,
            "tests in family": len(verdicts),
            "first": str(Side(first.experiment, (first.model,), claim.metric)),
        }
        if second:
            cells["second"] = str(Side(second.experiment, (second.model,), claim.metric))
        yield claim_cells | _cells(verdict) | cells


def _question(claim: Claim, votes: Run | None = None) -> str:
    """Return the question, with the number of answers in a vote if it is about votes."""
    return claim.question.replace(
        VOTES_ASKED,
        format_vote_size(votes) if votes and VOTES_ASKED in claim.question else MANY_VOTES,
    )


def format_vote_size(run: Run) -> str:
    """Return the number of answers in each vote: "3", "2 to 3" where votes differ, else "many"."""
    sizes = set[int]()
    for utterances in run.results.transcript_parts(["kind", "parsed", "prediction"], run.model):
        sizes |= {
            sum(json.loads(parsed).values())
            for parsed in utterances.loc[utterances["kind"] == VOTES, "parsed"]
        }
        sizes |= set(
            utterances[(utterances["kind"] == SAMPLE) & (utterances["prediction"] != "")]
            .groupby("debate_id")
            .size()
        )
    return (
        " to ".join(str(size) for size in sorted({min(sizes), max(sizes)})) if sizes else MANY_VOTES
    )


def _cells(verdict: Verdict) -> Row:
    measured, valid = verdict.estimate, verdict.valid
    cells: Row = {
        "this run": measured.value,
        "95 % low": measured.low,
        "95 % high": measured.high,
        "cases": measured.cases,
        "speaks of": measured.population,
        "cases needed": measured.needed_cases,
    }
    if valid:
        cells |= {
            "valid answers alone": valid.value,
            "valid low": valid.low,
            "valid high": valid.high,
            "cases with valid": valid.cases,
        }
    return cells


def _answer(claim: Claim, verdict: Verdict, p: float) -> str:
    word = claim.judge(verdict.estimate.value, p)
    valid = verdict.valid
    if (
        word == CANNOT_TELL
        or valid is None
        or claim.judge(valid.value, claim.p(valid.p_of)) == word
    ):
        return word
    return f"{CANNOT_TELL}: {carried_note(verdict.estimate.value, valid.value)}"


def _method(run: Run) -> str:
    return str(run.params.get("method") or run.results.config.protocol.replace("_", " "))


def _judge_claim(results: StudyResults, claim: Claim) -> Iterator[Verdict]:
    """Yield a verdict for each run, or pair of runs, that can judge a claim."""
    for first in _select_runs(results, claim, claim.first):
        if claim.statistic in MEASURES_OF_ONE_RUN:
            published = not np.isnan(claim.published)
            if (
                not (claim.statistic == VALUE and published)
                or first.paper_match.repeats
                or first.paper_match.repeated_but_model
            ):
                yield from _verdicts(claim, first)
            continue
        for second in _select_runs(results, claim, claim.second):
            if (second.model, second.results.config.dataset) == (
                first.model,
                first.results.config.dataset,
            ):
                yield from _verdicts(claim, first, second)


def _verdicts(claim: Claim, first: Run, second: Run | None = None) -> Iterator[Verdict]:
    measured = _measure(claim, first, second)
    if measured is None:
        return
    has_invalid_answers = any(
        (run.predictions["status"] != "valid").any() for run in (first, second) if run
    )
    valid = None
    if has_invalid_answers and claim.metric == ACCURACY:
        valid = _measure(replace(claim, metric=OF_VALID), first, second)
    yield Verdict(first, second, measured, valid, claim.p(measured.p_of))


def _measure(claim: Claim, first: Run, second: Run | None) -> Estimate | None:
    return (
        MEASURES_OF_TWO_RUNS[claim.statistic](claim, first, second)
        if second
        else MEASURES_OF_ONE_RUN[claim.statistic](claim, first)
    )


def _select_runs(results: StudyResults, claim: Claim, selectors: tuple[Selector, ...]) -> list[Run]:
    experiments = results.experiments.values()
    relevant_experiments = (
        runs for runs in experiments if claim.matches_side(selectors, runs.config, data_kind(runs))
    )
    runs = [
        run for run in results.runs(relevant_experiments, Run) if run.model not in REFERENCE_MODELS
    ]
    largest_runs = {
        _setting_key(run): run for run in sorted(runs, key=lambda run: len(run.predictions))
    }
    return [run for run in runs if largest_runs[_setting_key(run)] is run]


def _setting_key(run: Run) -> str:
    """Return a key that runs with equal settings share; the largest of these runs judges."""
    config = run.results.config
    return repr((run.model, config.protocol, config.dataset, sorted(config.params.items())))


# Measures of one run


def _measure_value(claim: Claim, run: Run) -> Estimate | None:
    return estimate_metric(run.results, run.model, claim.metric)


def _measure_gain_over_majority(claim: Claim, run: Run) -> Estimate | None:
    """Return the gain in accuracy over always answering with the most frequent true label."""
    rows = run.predictions
    rows = rows[rows["status"] == "valid"] if claim.metric == OF_VALID else rows
    if rows.empty:
        return None
    shares = share_right(rows)
    truths = rows.drop_duplicates("case_id").set_index("case_id")["target"][shares.index]
    gains = as_numbers(shares) - as_numbers(truths == truths.value_counts().idxmax())
    return by_cluster(run.results, list(shares.index), mean_statistic(gains, BOUNDS))


# Measures of two runs


def _measure_difference(claim: Claim, first: Run, second: Run) -> Estimate | None:
    """Return the difference in a metric on common cases, or on all cases without common ones."""
    first_cases, second_cases = (set(run.predictions["case_id"]) for run in (first, second))
    sides = [Side(run.experiment, (run.model,), claim.metric) for run in (first, second)]
    contrast = Contrast(
        "",
        claim.question,
        sides[0],
        sides[1],
        DIFFER,
        bool(first_cases & second_cases),
        claim.study,
    )
    return contrast_estimate(contrast, {run.experiment: run.results for run in (first, second)})


def _measure_ratio_of_rounds(_claim: Claim, first: Run, second: Run) -> Estimate:
    first_rounds, second_rounds = (_rounds(run) for run in (first, second))
    rounds, is_first = (
        as_numbers([*first_rounds, *second_rounds]),
        np.repeat([1.0, 0.0], [len(first_rounds), len(second_rounds)]),
    )

    def compare(weights: Floats) -> Floats:
        means = [
            ratio(weights @ (rounds * part), weights @ part) for part in (is_first, 1 - is_first)
        ]
        return ratio(means[0], means[1])

    return by_cluster(
        first.results, [*first_rounds.index, *second_rounds.index], Statistic(compare, AMOUNT)
    )


def _rounds(run: Run) -> Column:
    """Return the number of rounds of each debate with recorded speeches, indexed by case."""
    return (
        run.utterances(SPEECH)
        .groupby("debate_id")
        .agg({"case_id": "first", "round": "max"})
        .set_index("case_id")["round"]
    )


MEASURES_OF_ONE_RUN: dict[str, Callable[[Claim, Run], Estimate | None]] = {
    VALUE: _measure_value,
    OVER_MAJORITY: _measure_gain_over_majority,
}
MEASURES_OF_TWO_RUNS: dict[str, Callable[[Claim, Run, Run], Estimate | None]] = {
    DIFFERENCE: _measure_difference,
    RATIO_OF_ROUNDS: _measure_ratio_of_rounds,
}
