"""The signals of an answer's reliability by which cases could be deferred."""

from collections.abc import Iterator
from math import inf

import pandas as pd

from moot.report.notes import NO_TRUTH
from moot.report.study_results import Run

STATED_CONFIDENCE, REPEATS_AGREE = "stated confidence", "share of repeats that agree"
NO_SIGNAL = "no confidence: answers have no stated confidence, probability, repeats or judges"


def missing_reason(run: Run) -> str:
    """Return what a run without rows lacks: answers, true labels, or else a signal."""
    if run.valid.empty:
        return "no valid answer"
    return NO_SIGNAL if run.predictions["target"].fillna("").any() else NO_TRUTH


def gather_signals(run: Run) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each signal of a run's answers with a row for each answer.

    Columns: case_id; value (of the signal; a higher one means more reliable, and -inf belongs to
    an invalid answer, which always goes to a person); is_wrong (also of an invalid answer).
    """
    if missing_reason(run) != NO_SIGNAL:
        return
    rows = run.predictions[run.predictions["target"].fillna("") != ""].reset_index(drop=True)
    rows["prediction"] = rows["prediction"].where(rows["status"] == "valid")
    signals = {
        STATED_CONFIDENCE: rows["confidence"].astype("float64") / 100,
        "probability of the label": rows["probability"].astype("float64"),
    }
    for signal, values in signals.items():
        if values[rows["prediction"].notna()].nunique() > 1:
            yield signal, _with_signal(rows, values)
    if (rows[["judge", "persona", "judge_repeat"]].nunique() > 1).any():
        signal, group = "share of judges that agree", ["case_id", "repeat"]
    else:
        signal, group = REPEATS_AGREE, ["case_id"]
    if rows.duplicated(group).any():
        yield signal, _most_frequent_answers(rows, group)


def _with_signal(rows: pd.DataFrame, values: "pd.Series[float]") -> pd.DataFrame:
    values = values.where(rows["prediction"].notna()).fillna(-inf)
    return rows.assign(value=values, is_wrong=rows["prediction"] != rows["target"])


def _most_frequent_answers(rows: pd.DataFrame, group: list[str]) -> pd.DataFrame:
    """Return the most frequent valid answer of each group and the share of answers that give it."""
    answers = rows.groupby(group)["target"].transform("size")
    votes = rows.groupby([*group, "prediction"])["target"].transform("size")
    rows = rows.assign(share=votes / answers)
    rows = rows.sort_values(["share", "prediction"], ascending=[False, True])
    rows = rows.drop_duplicates(group).sort_values(group, ignore_index=True)
    return _with_signal(rows, rows["share"])
