"""The signals of an answer's reliability by which cases could be deferred."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from moot.core.utterance_kinds import BELIEF, VOTES
from moot.report.content import Run
from moot.stats.bootstrap import Floats, Truths, as_numbers

Signal: TypeAlias = "pd.Series[Any]"
STATED_CONFIDENCE, PROBABILITY = "stated confidence", "probability of the label"
REPEATS_AGREE, JUDGES_AGREE = "share of repeats that agree", "share of judges that agree"
VOTE_SHARE = "share of votes for the answer"
BELIEF_PATH = "mean belief in the answer over the debate"
NO_SIGNAL = (
    "no confidence: answers have no stated confidence, probability, repeats, judges or beliefs"
)
NO_TRUTH = "no truth: the true labels of the cases are unknown"
NO_ANSWER = "no valid answer"
FULL_CONFIDENCE = 100
_DEBATE = ["case_id", "repeat"]


@dataclass(frozen=True, slots=True)
class SignalledAnswers:
    """Answers with a signal of their reliability.

    Attributes:
        signal: its name.
        values: the signal of each answer. A higher one means more reliable; -inf for an invalid
            answer, which always goes to a person.
        is_wrong: whether each answer is wrong. An invalid answer is wrong.
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
    labels = targets[targets != ""].unique()
    if not (rows["status"] == "valid").any():
        return NO_ANSWER
    if not len(labels):
        return NO_TRUTH
    return f"a single class: all true labels are {labels[0]}" if len(labels) == 1 else ""


def gather_signals(run: Run) -> Iterator[SignalledAnswers]:
    """The answers of a run, once for each signal that they have."""
    rows = run.predictions[run.predictions["target"].fillna("") != ""].reset_index(drop=True)
    signals = {
        STATED_CONFIDENCE: rows["confidence"].astype("float64") / FULL_CONFIDENCE,
        PROBABILITY: rows["probability"].astype("float64"),
        VOTE_SHARE: _vote_shares(run, rows),
        BELIEF_PATH: _mean_beliefs(run, rows),
    }
    for signal, values in signals.items():
        if values[rows["status"] == "valid"].nunique() > 1:
            yield _join_signal(signal, rows, values)
    if (rows[["judge", "persona", "judge_repeat"]].nunique() > 1).any():
        yield from _agreement_of(JUDGES_AGREE, rows, _DEBATE)
    elif rows["repeat"].nunique() > 1:
        yield from _agreement_of(REPEATS_AGREE, rows, ["case_id"])


def _join_signal(signal: str, rows: pd.DataFrame, values: Signal) -> SignalledAnswers:
    is_valid = rows["status"] == "valid"
    is_wrong = ~is_valid | (rows["prediction"] != rows["target"])
    reliabilities = values.where(is_valid).fillna(-np.inf)
    return SignalledAnswers(
        signal, as_numbers(reliabilities), is_wrong.to_numpy(dtype=bool), list(rows["case_id"])
    )


def _agreement_of(signal: str, rows: pd.DataFrame, keys: list[str]) -> Iterator[SignalledAnswers]:
    """The most frequent valid answer of each group, with the share of all answers that give it."""
    groups = rows.groupby(keys, as_index=False)
    answers = groups.agg(target=("target", "first"), answers=("target", "size"))
    if answers["answers"].max() < 2:
        return
    votes = rows[rows["status"] == "valid"].value_counts([*keys, "prediction"]).rename("votes")
    winners = votes.reset_index().sort_values(["votes", "prediction"], ascending=[False, True])
    answers = answers.merge(winners.drop_duplicates(keys), on=keys, how="left")
    answers["status"] = np.where(answers["votes"].notna(), "valid", "invalid")
    yield _join_signal(signal, answers, answers["votes"] / answers["answers"])


def _vote_shares(run: Run, rows: pd.DataFrame) -> Signal:
    """The share of the recorded votes of each debate that its answer got."""
    votes = _read_utterances(run, VOTES, ["parsed"]).drop_duplicates(_DEBATE)
    counts_by_debate = votes.set_index(_DEBATE)["parsed"]
    shares: list[float] = []
    for case, repeat, answer in rows[[*_DEBATE, "prediction"]].itertuples(index=False):
        counts = json.loads(counts_by_debate.get((case, repeat)) or "{}")
        shares.append(counts.get(answer, 0) / max(1, sum(counts.values())))
    return pd.Series(shares, rows.index, dtype="float64")


def _mean_beliefs(run: Run, rows: pd.DataFrame) -> Signal:
    """The mean probability that the beliefs in each debate gave to its answer; NaN unless the task
    has two labels.
    """
    if len(run.results.task.labels) != 2:
        return pd.Series(np.nan, rows.index)
    beliefs = _read_utterances(run, BELIEF, ["prediction", "probability"])
    answers = rows[[*_DEBATE, "prediction"]].reset_index()
    pairs = answers.merge(beliefs, on=_DEBATE, suffixes=("", " believed"))
    agrees = pairs["prediction"] == pairs["prediction believed"]
    probabilities = pairs["probability"].where(agrees, 1 - pairs["probability"])
    return probabilities.groupby(pairs["index"]).mean().reindex(rows.index)


def _read_utterances(run: Run, kind: str, columns: list[str]) -> pd.DataFrame:
    """Read some columns of a run's utterances of one kind, a part of the transcripts at a time."""
    columns = [*_DEBATE, *columns]
    parts = run.results.transcript_parts(["kind", *columns], run.model)
    frames = [part.loc[part["kind"] == kind, columns] for part in parts]
    return pd.concat(frames) if frames else pd.DataFrame(columns=columns)
