"""The signals of an answer's reliability by which cases could be deferred."""

import json
from collections.abc import Iterator
from math import inf

import pandas as pd

from moot.core.utterance_kinds import BELIEF, VOTES
from moot.report.notes import NO_TRUTH
from moot.report.study_results import Run

STATED_CONFIDENCE, REPEATS_AGREE = "stated confidence", "share of repeats that agree"
NO_SIGNAL = (
    "no confidence: answers have no stated confidence, probability, repeats, judges or beliefs"
)
DEBATE = ["case_id", "repeat"]


def missing_reason(run: Run) -> str:
    """Return why a run's answers cannot be judged; `NO_SIGNAL` if they can."""
    labels = run.predictions["target"].replace("", None).dropna().unique()
    if run.valid.empty:
        return "no valid answer"
    if len(labels) == 1:
        return f"a single class: all true labels are {labels[0]}"
    return NO_SIGNAL if len(labels) else NO_TRUTH


def gather_signals(run: Run) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each signal of a run's answers with a row for each answer.

    Columns: case_id; value (of the signal; a higher one means more reliable, and -inf belongs to
    an invalid answer, which always goes to a person); is_wrong (also of an invalid answer).
    """
    if missing_reason(run) != NO_SIGNAL:
        return
    rows = run.predictions[run.predictions["target"].fillna("") != ""].reset_index(drop=True)
    rows["prediction"] = rows["prediction"].where(rows["status"] == "valid")
    columns = ["kind", "repeat", "parsed", "prediction", "probability"]
    parts = run.results.transcript_parts(columns, run.model)
    utterances = pd.concat([part[part["kind"].isin((VOTES, BELIEF))] for part in parts])
    signals = {
        STATED_CONFIDENCE: rows["confidence"].astype("float64") / 100,
        "probability of the label": rows["probability"].astype("float64"),
        "share of votes for the answer": _vote_shares(rows, utterances),
    }
    if len(run.results.task.labels) == 2:
        signals["mean belief in the answer over the debate"] = _mean_beliefs(rows, utterances)
    for signal, values in signals.items():
        if values[rows["prediction"].notna()].nunique() > 1:
            yield signal, _with_signal(rows, values)
    if (rows[["judge", "persona", "judge_repeat"]].nunique() > 1).any():
        signal, group = "share of judges that agree", DEBATE
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


def _vote_shares(rows: pd.DataFrame, utterances: pd.DataFrame) -> "pd.Series[float]":
    """Return the share of the recorded votes of each debate that its answer got."""
    votes = utterances[utterances["kind"] == VOTES].drop_duplicates(DEBATE)
    counts_by_debate = votes.set_index(DEBATE)["parsed"]
    shares: list[float] = []
    for case, repeat, answer in rows[[*DEBATE, "prediction"]].itertuples(index=False):
        counts = json.loads(counts_by_debate.get((case, repeat)) or "{}")
        shares.append(counts.get(answer, 0) / max(1, sum(counts.values())))
    return pd.Series(shares, rows.index, dtype="float64")


def _mean_beliefs(rows: pd.DataFrame, utterances: pd.DataFrame) -> "pd.Series[float]":
    """Return the mean probability that the beliefs in each debate gave to its answer, of two."""
    beliefs = utterances[utterances["kind"] == BELIEF]
    answers = rows[[*DEBATE, "prediction"]].reset_index()
    pairs = answers.merge(beliefs, on=DEBATE, suffixes=("", " believed"))
    agrees = pairs["prediction"] == pairs["prediction believed"]
    probabilities = pairs["probability"].where(agrees, 1 - pairs["probability"])
    return probabilities.groupby(pairs["index"]).mean().reindex(rows.index)
