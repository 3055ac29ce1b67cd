"""The table `deferral`: which share of cases a person would have to decide."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.analyses.deferral import risk
from moot.analyses.deferral.signals import gather_signals, missing_reason
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import Columns, Row
from moot.report.content import TableContent
from moot.report.study_results import Run, StudyResults, rows_of_runs
from moot.stats.intervals import wilson_interval
from moot.stats.statistic import share_statistic

ALLOWED_ERRORS = (0.05, 0.1, 0.2)
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
    .counts("answers kept", "answers measured", "cases", "answers")
    .plain("what is missing")
)
NOTES = (
    "This table audits a method. It does not permit a use on people: a bounded error does not say"
    " who bears it. The warning of the README holds for every row.",
    f"One half of the clusters gives the threshold, with {risk.CONFIDENCE:.0%} confidence, and the"
    " other half the share deferred and the error among the rest. Area: the error among kept"
    " answers, averaged over all shares that can be kept.",
)


@table(EVERY_STUDY_AND_COMPARISON, "deferral", "When should a person decide?")
def deferral(results: StudyResults) -> TableContent:
    """The share of cases that a person must decide to bound the error among the others."""
    return COLUMNS.table(rows_of_runs(results, _rows), NOTES)


def _rows(run: Run) -> Iterator[Row]:
    signals = list(gather_signals(run))
    for signal, answers in signals:
        yield from _signal_rows(run, signal, answers)
    if not signals:
        yield {
            "cases": run.predictions["case_id"].nunique(),
            "answers": len(run.predictions),
            "what is missing": missing_reason(run),
        }


def _signal_rows(run: Run, signal: str, answers: pd.DataFrame) -> Iterator[Row]:
    sample = run.resample(answers["case_id"])
    cases = answers["case_id"].nunique()
    row: Row = {"signal": signal, "cases": cases, "answers": len(answers)}
    if sample.clusters < MIN_CLUSTERS:
        row["what is missing"] = (
            f"too few cases: {sample.clusters} clusters; needed: {MIN_CLUSTERS}"
        )
        yield row
        return
    values, is_wrong = answers["value"].to_numpy(), answers["is_wrong"].to_numpy()
    row["error without deferral"] = sample.estimate(share_statistic(is_wrong))
    row["area below risk and coverage"] = sample.estimate(risk.area_statistic(values, is_wrong))
    positions = risk.draw_one_per_cluster(sample.codes.tolist(), run.results.seed)
    first, second = np.split(positions, [len(positions) // 2])
    for allowed_error in ALLOWED_ERRORS:
        candidates = risk.candidate_thresholds(values[second], allowed_error)
        threshold = risk.learn_threshold(values[first], is_wrong[first], candidates, allowed_error)
        kept_rows = second[values[second] >= threshold]
        share_deferred = 1 - len(kept_rows) / len(second)
        cells: Row = {
            "allowed error": allowed_error,
            "keep if the signal is at least": f"{threshold:.3g}" if len(kept_rows) else EVERYTHING,
            "share deferred": share_deferred,
            "cases for a person": round(share_deferred * cases),
            "answers kept": len(kept_rows),
            "answers measured": len(second),
        }
        if len(kept_rows):
            error = float(is_wrong[kept_rows].mean())
            cells["error among the rest"] = wilson_interval(error, len(kept_rows))
        yield row | cells
