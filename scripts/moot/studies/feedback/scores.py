"""Scores of Debate-Feedback: corrections, degradations, other T, and the assistant's quality.

The judge's replies do not depend on T, so O_n for another T follows from the transcript by
arithmetic. Thresholds of token probabilities are fitted on validation cases, separately for O_0 and
for O_n of each T.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from moot.core.likelihood import calibrate, log_shares
from moot.core.utterance_kinds import CONCLUSION, RELIABILITY, SMOOTHED, UNUSABLE
from moot.protocols.smoothing import (
    LABEL_ALONE,
    TOKEN_PROBABILITIES,
    Outlook,
    decide,
    recorded_outlook,
    replay,
)
from moot.scores import by_model, no_scores, scorer
from moot.scores.results import ExperimentResults
from moot.scores.score import Score
from moot.stats.arrays import Floats, as_numbers
from moot.stats.calibration import auc_statistic, calibration_error
from moot.stats.statistic import Statistic, share_statistic

PROTOCOL = "feedback"
WEIGHTS = tuple(step / 10 for step in range(11))


@dataclass(frozen=True)
class Judged:
    """The judge's results in one debate.

    They are O_0, and for each round LM(x, sum) and whether the threshold was met.
    """

    case_id: str
    first: Outlook
    rounds: tuple[tuple[Outlook, bool], ...]
    by_tokens: bool
    label_alone: bool


@scorer("feedback")
def feedback(results: ExperimentResults) -> pd.DataFrame:
    """The course of feedback, by model.

    `accuracy_initial`, `accuracy_final`, `corrections`, `degradations` at the experiment's own T;
    the last three again for each T of `WEIGHTS` (group "T=0.5"); and the assistant's
    `assistant_auc`, `assistant_brier`, `assistant_expected_calibration_error`, with the shares of
    rounds in which its threshold was met, and of opinions without a position.
    """
    if results.config.protocol != PROTOCOL:
        return no_scores()

    def scores_of(model: str) -> Iterator[Score]:
        debates = judged_debates(results, model)
        yield from _smoothing_scores(results, model, debates)
        yield from _assistant_scores(results, model, debates)

    return by_model(results, scores_of)


def judged_debates(results: ExperimentResults, model: str) -> list[Judged]:
    """Return the debates of one model that came to an answer, in the transcripts' order.

    Debates of validation cases are among them.
    """
    debates: dict[str, Judged] = {}
    for utterances in results.transcript_parts(["kind", "parsed"], model, include_validation=True):
        conclusions = utterances[utterances["kind"] == CONCLUSION]
        valid = {
            debate_id
            for debate_id, parsed in zip(
                conclusions["debate_id"], conclusions["parsed"], strict=True
            )
            if json.loads(parsed)["status"] == "valid"
        }
        for debate_id, rows in utterances[utterances["kind"] == SMOOTHED].groupby(
            "debate_id", sort=True
        ):
            if debate_id in valid:
                debates[str(debate_id)] = _judged(rows)
    return [debates[debate_id] for debate_id in sorted(debates)]


def _judged(rows: pd.DataFrame) -> Judged:
    """Return the results of a debate, from its smoothed probabilities in the order of turns."""
    steps = [json.loads(parsed) for parsed in rows["parsed"]]
    return Judged(
        rows["case_id"].iloc[0],
        recorded_outlook(steps[0]),
        tuple((recorded_outlook(step), step["threshold_met"]) for step in steps[1:]),
        all(step["probability"] == TOKEN_PROBABILITIES for step in steps),
        any(step["probability"] == LABEL_ALONE for step in steps),
    )


def right_at(results: ExperimentResults, debates: Sequence[Judged], weight: float | None) -> Floats:
    """Return 1 for each debate that is right at this T, else 0; None stands for O_0.

    For token probabilities the threshold of validation cases applies.
    """
    task = results.task
    outlooks = [
        debate.first if weight is None else replay(debate.first, debate.rounds, weight)
        for debate in debates
    ]
    frame = pd.DataFrame({"case_id": [debate.case_id for debate in debates]})
    frame["prediction"] = [decide(outlook, task) for outlook in outlooks]
    frame["confidence"], frame["score"] = np.nan, np.nan
    frame["logprobs"] = pd.Series(
        [
            None if task.multilabel or not debate.by_tokens else log_shares(outlook.probabilities)
            for debate, outlook in zip(debates, outlooks, strict=True)
        ],
        dtype=object,
    )
    targets = results.target_by_id
    answers = calibrate(frame, results.split_by_id, targets, task)["prediction"]
    return as_numbers(answers == frame["case_id"].map(targets.get))


def _smoothing_scores(
    results: ExperimentResults, model: str, debates: list[Judged]
) -> Iterator[Score]:
    evaluated = set(results.predictions["case_id"])
    positions = [place for place, debate in enumerate(debates) if debate.case_id in evaluated]
    n_invalid = len(results.predictions[results.predictions["model"] == model]) - len(positions)
    if not positions:
        groups = ("overall", *(f"T={weight:g}" for weight in WEIGHTS)) if n_invalid else ()
        for group, metric in product(groups, ("accuracy_final", "corrections", "degradations")):
            yield Score(metric, float("nan"), group=group, n_invalid=n_invalid)
        return
    sample = results.sample(debates[place].case_id for place in positions)
    initial = right_at(results, debates, None)[positions]
    yield sample.score("accuracy_initial", share_statistic(initial), n_invalid=n_invalid)
    experiment_weight = float(results.config.params["weight"])
    for group, weight in [
        ("overall", experiment_weight),
        *((f"T={weight:g}", weight) for weight in WEIGHTS),
    ]:
        smoothed = right_at(results, debates, weight)[positions]
        statistics: dict[str, Statistic] = {
            "accuracy_final": share_statistic(smoothed),
            "corrections": _sum_of((smoothed > initial).astype(float)),
            "degradations": _sum_of((smoothed < initial).astype(float)),
        }
        for metric, statistic in statistics.items():
            yield sample.score(metric, statistic, group, n_invalid=n_invalid)
    by_tokens = share_statistic([float(debates[place].by_tokens) for place in positions])
    yield sample.score("share_of_token_probabilities", by_tokens, n_invalid=n_invalid)
    label_alone = sum(debates[place].label_alone for place in positions)
    yield Score(
        "debates_without_confidence", float(label_alone), n=len(positions), n_invalid=n_invalid
    )


def _sum_of(values: Floats) -> Statistic:
    return Statistic(lambda weights: weights @ values, (0.0, float(len(values))))


def judged_opinions(results: ExperimentResults, model: str) -> pd.DataFrame:
    """Return every opinion over an evaluated case that the assistant judged.

    The columns are case_id, round, position, reliability and right.
    """
    evaluated = set(results.predictions["case_id"])
    rows = results.gather(
        lambda utterances: utterances[
            (utterances["model"] == model)
            & (utterances["kind"] == RELIABILITY)
            & utterances["case_id"].isin(evaluated)
        ],
        ["kind", "round", "prediction", "parsed"],
    )
    return pd.DataFrame(
        {
            "case_id": rows["case_id"].to_numpy(),
            "round": rows["round"].to_numpy(),
            "position": rows["prediction"].to_numpy(),
            "reliability": [json.loads(parsed)["reliability"] for parsed in rows["parsed"]],
            "right": (
                rows["prediction"].to_numpy() == results.targets.loc[rows["case_id"]].to_numpy()
            ),
        }
    )


def opinions_stated(results: ExperimentResults, model: str) -> pd.DataFrame:
    """Return every usable rebuttal over an evaluated case, by case_id and `is_unread`.

    An unread rebuttal has no position that can be read, so the assistant does not judge it.
    """
    evaluated = set(results.predictions["case_id"])
    rows = results.gather(
        lambda utterances: utterances[
            (utterances["model"] == model)
            & (utterances["kind"] == "rebuttal")
            & ~utterances["parse_status"].isin(UNUSABLE)
            & utterances["case_id"].isin(evaluated)
        ],
        ["kind", "prediction", "parse_status"],
    )
    has_no_position = rows["prediction"].isna() | (rows["prediction"] == "")
    return pd.DataFrame({"case_id": rows["case_id"], "is_unread": has_no_position})


def _assistant_scores(
    results: ExperimentResults, model: str, debates: list[Judged]
) -> Iterator[Score]:
    opinions = judged_opinions(results, model)
    if opinions.empty:
        return
    reliability, is_right = as_numbers(opinions["reliability"]), as_numbers(opinions["right"])
    sample = results.sample(opinions["case_id"])
    statistics = {
        "assistant_auc": auc_statistic(is_right, reliability),
        "assistant_brier": share_statistic((reliability - is_right) ** 2),
    }
    for metric, statistic in statistics.items():
        yield sample.score(metric, statistic)
    error = calibration_error(reliability, is_right)
    yield sample.count("assistant_expected_calibration_error", error)
    evaluated = set(results.predictions["case_id"])
    case_ids = list[str]()
    threshold_met = list[float]()
    for debate in debates:
        if debate.case_id in evaluated:
            case_ids += [debate.case_id] * len(debate.rounds)
            threshold_met += [float(is_met) for _, is_met in debate.rounds]
    sample = results.sample(case_ids)
    yield sample.score("share_of_rounds_above_threshold", share_statistic(threshold_met))
    stated = opinions_stated(results, model)
    if len(stated):
        sample = results.sample(stated["case_id"])
        is_unread = as_numbers(stated["is_unread"])
        yield sample.score("share_of_opinions_without_position", share_statistic(is_unread))
