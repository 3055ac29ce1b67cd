"""The table `deferral`: which share of cases a person would have to decide."""

from collections.abc import Iterator, Sequence

from moot.analyses.deferral.risk import CONFIDENCE, Deferral, area_statistic, defer
from moot.analyses.deferral.signals import (
    NO_SIGNAL,
    SignalledAnswers,
    gather_signals,
    missing_reason,
)
from moot.core.cases import Cluster
from moot.report import EVERY_STUDY_AND_COMPARISON, FIRST_PAGE_NOTES, table
from moot.report.columns import Columns, Row
from moot.report.content import Run, StudyResults, TableContent, rows_of_runs
from moot.stats.bootstrap import ClusterBootstrap, share_statistic

ALLOWED_ERRORS = (0.05, 0.1, 0.2)
"""The shares of errors that are allowed among kept answers."""
IN_WORDS = 0.1
"""The allowed share of the sentence on the first page."""
FEWEST_CLUSTERS = 10
EVERYTHING = "defer everything"
COLUMNS = (
    Columns()
    .keys("data", "answers of", "model", "signal")
    .estimate("error without deferral", "error")
    .estimate("area below risk and coverage", "area")
    .plain("allowed error", "keep if the signal is at least")
    .ours("share deferred")
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
    )
)
NOTES = (
    (
        "An audit of a method. It does not permit a use on people: a bounded error says nothing"
        " of who bears it, and the README's warning holds for every row."
    ),
    (
        "Clusters of cases are divided into halves at random, and one answer of each is drawn."
        " On the first half the lowest threshold is chosen whose error among kept answers is shown"
        f" to be at most `allowed error` with {CONFIDENCE:.0%} confidence (Learn-then-Test,"
        " Angelopoulos et al. 2022: binomial tests with Bonferroni's correction; at most five"
        " thresholds, which come from the signals of the second half). `share deferred` and"
        f" `error among the rest` are measured on the second half. `{EVERYTHING}`: no threshold"
        " is shown to be good enough. `clusters needed`: with fewer, not even a method without"
        " errors could keep every answer."
    ),
    (
        "The bound holds for clusters drawn like these. It does not hold for other people, other"
        " times or another model. An invalid answer counts as wrong and always goes to a person."
    ),
    (
        "Area: the mean error among kept answers over all shares that are kept, from the surest"
        " answer to all. A signal without information gives the error without deferral."
    ),
)


FIRST_PAGE_NOTES.register("deferral")(
    "An audit of a method, never a permission to use it on people. Brackets hold 95 % intervals."
)


@table(EVERY_STUDY_AND_COMPARISON, "deferral", "When should a person decide?")
def deferral(results: StudyResults) -> TableContent:
    """Return the share of cases that a person would have to decide so that the error among the
    rest is bounded, by signal of an answer's reliability.
    """
    return COLUMNS.table(rows_of_runs(results, _rows), NOTES)


def _rows(run: Run) -> Iterator[Row]:
    keys: Row = {"data": (run.data, run.experiment, run.model_name), "in words": ""}
    counts: Row = {"cases": run.predictions["case_id"].nunique(), "answers": len(run.predictions)}
    reason = missing_reason(run)
    if reason:
        yield keys | counts | {"what is missing": reason}
        return
    has_signal = False
    for answers in gather_signals(run):
        has_signal = True
        yield from _signal_rows(run, keys, answers)
    if not has_signal:
        yield keys | counts | {"what is missing": NO_SIGNAL}


def _signal_rows(run: Run, keys: Row, answers: SignalledAnswers) -> Iterator[Row]:
    clusters = independent_clusters([run.results.clusters[case] for case in answers.case_ids])
    counts: Row = {"cases": len(set(answers.case_ids)), "answers": len(answers.case_ids)}
    keys = keys | {"signal": answers.signal} | counts
    bootstrap = ClusterBootstrap(clusters, run.results.seed)
    if bootstrap.clusters < FEWEST_CLUSTERS:
        reason = f"too few cases: {bootstrap.clusters} clusters; needed: {FEWEST_CLUSTERS}"
        yield keys | {"what is missing": reason}
        return
    estimates: Row = {
        "error without deferral": bootstrap.estimate(share_statistic(answers.is_wrong)),
        "area below risk and coverage": bootstrap.estimate(
            area_statistic(answers.values, answers.is_wrong)
        ),
    }
    for allowed_error in ALLOWED_ERRORS:
        result = defer(answers.values, answers.is_wrong, clusters, allowed_error, run.results.seed)
        row = keys | estimates | _cells(result, allowed_error)
        if allowed_error == IN_WORDS:
            row["in words"] = _sentence(run, answers, result)
        yield row


def independent_clusters(clusters: Sequence[Cluster]) -> Sequence[Cluster]:
    """The clusters of rows; of several kinds at once, the kind with the fewest clusters."""
    if not clusters or not isinstance(clusters[0], tuple):
        return clusters
    kinds = list(zip(*(tuple(cluster) for cluster in clusters), strict=True))
    return min(kinds, key=lambda names: len(set(names)))


def _cells(result: Deferral, allowed_error: float) -> Row:
    threshold = EVERYTHING if result.threshold is None else f"{result.threshold:.3g}"
    return {
        "allowed error": allowed_error,
        "keep if the signal is at least": threshold,
        "share deferred": result.share_deferred,
        "error among the rest": (result.error, result.low, result.high),
        "answers kept": result.kept_answers,
        "answers measured": result.measured_answers,
        "clusters needed": result.needed_clusters,
    }


def _sentence(run: Run, answers: SignalledAnswers, result: Deferral) -> str:
    subject = f"{run.experiment}, {run.model_name}, by {answers.signal}"
    if result.threshold is None:
        return (
            f"{subject}: a person would have to decide all {counts_of(answers)} cases, since no"
            f" threshold is shown to keep the error at {IN_WORDS:.0%} or less."
        )
    rest = (
        f"{result.error:.0%} [{result.low:.0%}, {result.high:.0%}]"
        if result.kept_answers
        else "unknown"
    )
    return (
        f"{subject}: a person would have to decide {result.share_deferred:.0%} of the cases to keep"
        f" the error among the rest at {IN_WORDS:.0%} or less; on the other half of the cases it is"
        f" {rest} ({result.kept_answers} of {result.measured_answers} answers kept)."
    )


def counts_of(answers: SignalledAnswers) -> int:
    """The number of cases that have answers."""
    return len(set(answers.case_ids))
