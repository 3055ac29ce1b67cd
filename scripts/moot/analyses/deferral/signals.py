"""What an answer says of its own reliability: the signals by which cases could be deferred."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.core.utterance_kinds import BELIEF, VOTES
from moot.report.content import Run
from moot.stats.bootstrap import Floats, Truths, as_numbers

STATED_CONFIDENCE, PROBABILITY = "stated confidence", "probability of the label"
AGREEMENT, SPLIT = "share of repeats that agree", "share of judges that agree"
VOTE_SHARE = "share of votes for the answer"
BELIEF_PATH = "mean belief in the answer over the debate"
NO_SIGNAL = (
    "no confidence: answers have no stated confidence, probability, repeats, judges or beliefs"
)
NO_TRUTH = "no truth: the true labels of the cases are unknown"
SINGLE_CLASS = "a single class: all true labels are"
NO_ANSWER = "no valid answer"
FULL_CONFIDENCE = 100


@dataclass(frozen=True, slots=True)
class SignalledAnswers:
    """Answers with a signal of their reliability.

    Attributes:
        signal: its name.
        values: the signal of each answer, the higher the surer; -inf for an invalid answer, which
            always goes to a person.
        is_wrong: whether each answer is wrong; an invalid one is.
        case_ids: the case of each answer.
    """

    signal: str
    values: Floats
    is_wrong: Truths
    case_ids: Sequence[str]


def missing_reason(run: Run) -> str:
    """What keeps a run's answers from being judged; "" if nothing does."""
    rows = run.predictions
    targets = rows["target"].fillna("")
    if rows.empty or not (rows["status"] == "valid").any():
        return NO_ANSWER
    if (targets == "").all():
        return NO_TRUTH
    labels = targets[targets != ""].unique()
    if len(labels) == 1:
        return f"{SINGLE_CLASS} {labels[0]}"
    return ""


def gather_signals(run: Run) -> Iterator[SignalledAnswers]:
    """The answers of a run, once for each signal that they have."""
    rows = run.predictions[run.predictions["target"].fillna("") != ""].reset_index(drop=True)
    is_valid = rows["status"] == "valid"
    for signal, column, unit in (
        (STATED_CONFIDENCE, "confidence", FULL_CONFIDENCE),
        (PROBABILITY, "probability", 1),
    ):
        values = rows[column].where(is_valid).astype("float64") / unit
        if values.nunique() > 1:
            yield _signalled(signal, rows, values)
    judged = [name for name in ("judge", "persona", "judge_repeat") if rows[name].nunique() > 1]
    if judged:
        yield from _signal_of_votes(SPLIT, rows, ["case_id", "repeat"])
    elif rows["repeat"].nunique() > 1:
        yield from _signal_of_votes(AGREEMENT, rows, ["case_id"])
    yield from _signal_of_counts(run, rows)
    yield from _signal_of_beliefs(run, rows)


def _signalled(signal: str, rows: pd.DataFrame, values: "pd.Series[float]") -> SignalledAnswers:
    is_wrong = (rows["status"] != "valid") | (rows["prediction"] != rows["target"])
    return SignalledAnswers(
        signal,
        as_numbers(values.fillna(-np.inf)),
        is_wrong.to_numpy(dtype=bool),
        list(rows["case_id"]),
    )


def _signal_of_votes(
    signal: str, rows: pd.DataFrame, keys: list[str]
) -> Iterator[SignalledAnswers]:
    """The most frequent answer of each group, with the share of all answers that give it."""
    valid = rows[rows["status"] == "valid"]
    votes = valid.groupby([*keys, "prediction"]).size().rename("votes").reset_index()
    winners = votes.sort_values(["votes", "prediction"], ascending=[False, True])
    winners = winners.drop_duplicates(keys)
    groups = rows.groupby(keys, as_index=False).agg(
        target=("target", "first"), answers=("target", "size")
    )
    if groups["answers"].max() < 2:
        return
    groups = groups.merge(winners, on=keys, how="left")
    groups["status"] = np.where(groups["votes"].notna(), "valid", "invalid")
    yield _signalled(signal, groups, groups["votes"] / groups["answers"])


def _signal_of_counts(run: Run, rows: pd.DataFrame) -> Iterator[SignalledAnswers]:
    """The answer of each vote whose counts were recorded, with the share of the votes for it."""
    votes = _utterances(run, VOTES, ["parsed"]).drop_duplicates(["case_id", "repeat"])
    if votes.empty:
        return
    counts = votes.set_index(["case_id", "repeat"])["parsed"].map(json.loads)
    shares: list[float] = []
    for case, repeat, prediction in zip(
        rows["case_id"], rows["repeat"], rows["prediction"].fillna(""), strict=True
    ):
        by_label = counts.get((case, repeat)) or {}
        shares.append(by_label.get(prediction, 0) / (sum(by_label.values()) or 1))
    values = pd.Series(shares, rows.index).where(rows["status"] == "valid")
    if values.nunique() > 1:
        yield _signalled(VOTE_SHARE, rows, values)


def _utterances(run: Run, kind: str, columns: list[str]) -> pd.DataFrame:
    """The utterances of one kind in a run's debates, with some columns of their transcripts."""
    parts = run.results.transcript_parts(["kind", "repeat", *columns], run.model)
    frames = [part[part["kind"] == kind] for part in parts]
    return pd.concat(frames) if frames else pd.DataFrame(columns=["case_id"])


def _signal_of_beliefs(run: Run, rows: pd.DataFrame) -> Iterator[SignalledAnswers]:
    """The final answer of each debate, with the mean probability that the beliefs before it gave
    to this answer.
    """

    beliefs = _utterances(run, BELIEF, ["prediction", "probability"])
    beliefs = beliefs[beliefs["probability"].notna()]
    if beliefs.empty or len(run.results.task.labels) != 2:
        return
    beliefs = beliefs[["case_id", "repeat", "prediction", "probability"]]
    answers = rows[["case_id", "repeat", "prediction"]].drop_duplicates(["case_id", "repeat"])
    pairs = answers.merge(beliefs, on=["case_id", "repeat"], suffixes=("", " believed"))
    agrees = pairs["prediction"] == pairs["prediction believed"]
    pairs["mean"] = pairs["probability"].where(agrees, 1 - pairs["probability"])
    means = pairs.groupby(["case_id", "repeat"])["mean"].mean()
    values = rows.join(means, on=["case_id", "repeat"])["mean"].where(rows["status"] == "valid")
    if values.nunique() > 1:
        yield _signalled(BELIEF_PATH, rows, values)
