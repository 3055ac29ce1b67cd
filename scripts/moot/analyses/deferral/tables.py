"""The table `deferral`: which share of cases a person would have to decide."""

from collections.abc import Iterator
from math import isinf

from moot.analyses.deferral.risk import CONFIDENCE, Deferral, area_statistic, defer
from moot.analyses.deferral.signals import (
    NO_SIGNAL,
    SignalledAnswers,
    gather_signals,
    missing_reason,
)
from moot.report import EVERY_STUDY_AND_COMPARISON, FIRST_PAGE_NOTES, table
from moot.report.columns import Columns, Row
from moot.report.content import Run, StudyResults, TableContent, rows_of_runs
from moot.stats.bootstrap import share_statistic

ALLOWED_ERRORS = (0.05, 0.1, 0.2)
"""The shares of errors that are allowed among kept answers."""
ERROR_IN_WORDS = 0.1
"""The allowed share of errors in the sentence on the first page."""
MIN_CLUSTERS = 10
EVERYTHING = "defer everything"
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "signal")
    .estimate("error without deferral", "error")
    .estimate("area below risk and coverage", "area")
    .plain("allowed error", "keep if the signal is at least")
    .ours("share deferred")
    .counts("cases for a person")
    .estimate("error among the rest", "rest")
    .counts("answers kept", "answers measured", "clusters needed", "cases", "answers")
    .plain("what is missing", "in words")
    .short_form(
        "data",
        "answers of",
        "model",
        "signal",
        "error without deferral",
        "allowed error",
        "share deferred",
        "error among the rest",
        "answers measured",
        "what is missing",
    )
)
NOTES = (
    (
        "This table audits a method. It does not permit a use on people: a bounded error does not"
        " say who bears it. The warning of the README holds for every row."
    ),
    (
        "Clusters of cases are divided into two halves at random, and one answer of each cluster is"
        " drawn. The first half gives the lowest threshold whose error among kept answers is shown"
        f" to be at most `allowed error` with {CONFIDENCE:.0%} confidence (Learn-then-Test,"
        " Angelopoulos et al. 2022). The second half gives `share deferred` and `error among the"
        " rest`. `cases for a person` is this share of all cases."
    ),
    (
        f"`{EVERYTHING}`: no threshold is shown to be good enough. `clusters needed`: with fewer"
        " clusters, even a method without errors could not keep every answer. An invalid answer"
        " counts as wrong and always goes to a person."
    ),
    (
        "The bound holds for clusters from the same source. It does not hold for other people,"
        " other times or another model."
    ),
    (
        "Area: the error among kept answers, averaged over all shares that can be kept. The area of"
        " a signal without information equals the error without deferral."
    ),
)


FIRST_PAGE_NOTES.register("deferral")(
    "This audits a method. It does not permit a use on people. Brackets hold 95 % intervals."
)


@table(EVERY_STUDY_AND_COMPARISON, "deferral", "When should a person decide?")
def deferral(results: StudyResults) -> TableContent:
    """The share of cases that a person would have to decide to bound the error among the
    other cases, by signal of an answer's reliability.
    """
    return COLUMNS.table(rows_of_runs(results, _rows), NOTES)


def _rows(run: Run) -> Iterator[Row]:
    reason = missing_reason(run)
    signals = [] if reason else list(gather_signals(run))
    for answers in signals:
        yield from _signal_rows(run, answers)
    if not signals:
        cases = run.predictions["case_id"].nunique()
        counts: Row = {"cases": cases, "answers": len(run.predictions)}
        yield counts | {"what is missing": reason or NO_SIGNAL}


def _signal_rows(run: Run, answers: SignalledAnswers) -> Iterator[Row]:
    sample = run.resample(answers.case_ids)
    cases = len(set(answers.case_ids))
    row: Row = {"signal": answers.signal, "cases": cases, "answers": len(answers.case_ids)}
    if sample.clusters < MIN_CLUSTERS:
        reason = f"too few cases: {sample.clusters} clusters; needed: {MIN_CLUSTERS}"
        yield row | {"what is missing": reason}
        return
    area = area_statistic(answers.values, answers.is_wrong)
    row["error without deferral"] = sample.estimate(share_statistic(answers.is_wrong))
    row["area below risk and coverage"] = sample.estimate(area)
    clusters = sample.codes.tolist()
    for allowed_error in ALLOWED_ERRORS:
        result = defer(answers.values, answers.is_wrong, clusters, allowed_error, run.results.seed)
        is_in_words = allowed_error == ERROR_IN_WORDS
        yield row | {
            "allowed error": allowed_error,
            "keep if the signal is at least": (
                EVERYTHING if isinf(result.threshold) else f"{result.threshold:.3g}"
            ),
            "share deferred": result.share_deferred,
            "cases for a person": round(result.share_deferred * cases),
            "error among the rest": result.error,
            "answers kept": result.kept_answers,
            "answers measured": result.measured_answers,
            "clusters needed": result.needed_clusters,
            "in words": _sentence(run, answers.signal, cases, result) if is_in_words else "",
        }


def _sentence(run: Run, signal: str, cases: int, result: Deferral) -> str:
    subject = f"{run.experiment}, {run.model_name}, by {signal}: a person would have to decide"
    if isinf(result.threshold):
        return (
            f"{subject} all {cases:,} cases, because no threshold is shown to keep the error at"
            f" {ERROR_IN_WORDS:.0%} or less."
        )
    deferred_cases = round(result.share_deferred * cases)
    error, low, high = result.error
    return (
        f"{subject} {deferred_cases:,} of {cases:,} cases to keep the error among the rest at"
        f" {ERROR_IN_WORDS:.0%} or less. In the half of the cases that did not set the threshold,"
        f" {result.kept_answers:,} of {result.measured_answers:,} answers are kept, with an error"
        f" of {error:.0%} [{low:.0%}, {high:.0%}]."
    )
