"""Runs of recorded experiments, and the beliefs of the judges of the NYU debates."""

import json

import numpy as np
import pandas as pd

from moot.core.cases import cluster_attributes
from moot.core.utterance_kinds import BELIEF, SPEECH
from moot.report.study_results import Run, StudyResults
from moot.stats.arrays import Column, Floats, as_numbers
from moot.stats.paired import share_right
from moot.stats.statistic import Bounds, ratio_statistic, share_statistic

STUDY = "recorded"
CLUSTER_OF_JUDGED = "story"
UNDECIDED = 0.5
"""A belief that favours neither answer, and the score of a debate that ends with it."""


class RecordedRun(Run):
    """One recorded experiment with one of its models."""

    @property
    def method(self) -> str:
        """The name of the condition in the records."""
        return str(self.params["method"])

    @property
    def accuracy(self) -> tuple[float, float, float]:
        """The mean over cases of the share of right repeats, with its 95 % interval by case.

        Invalid answers count as wrong.
        """
        shares = share_right(self.predictions)
        return self.results.sample(shares.index).jackknife.estimate(share_statistic(shares))

    @property
    def has_beliefs(self) -> bool:
        """Whether a judge stated probabilities of two answers to a question about a story.

        This holds for the NYU debates. Their labels only name the first and the second answer, so
        scores of one label have no meaning.
        """
        return CLUSTER_OF_JUDGED in cluster_attributes(self.results.task.cluster)


def answered_runs(results: StudyResults) -> list[RecordedRun]:
    """Return the recorded runs of a study that predict one label for each case."""
    return [run for run in recorded_runs(results) if not run.has_beliefs]


def judged_runs(results: StudyResults) -> list[RecordedRun]:
    """Return the recorded debates of a study whose judge stated a probability after each round."""
    return [run for run in recorded_runs(results) if run.has_beliefs]


def recorded_runs(results: StudyResults) -> list[RecordedRun]:
    """Return every recorded experiment of a study with each of its models."""
    return results.runs(results.find_experiments("recorded"), RecordedRun)


def mean_by_case(
    run: RecordedRun, case_ids: Column, values: Floats, bounds: Bounds
) -> tuple[float, float, float]:
    """Return the mean of values, one per row, with its 95 % interval by the clusters of cases.

    Many values of few cases are resampled as these few cases.
    """
    codes, unique_ids = pd.factorize(case_ids, sort=True)
    sums = as_numbers(np.bincount(codes, values, len(unique_ids)))
    counts = as_numbers(np.bincount(codes, minlength=len(unique_ids)))
    jackknife = run.results.sample(unique_ids).jackknife
    return jackknife.estimate(ratio_statistic(sums, counts, bounds))


def read_beliefs(run: RecordedRun) -> pd.DataFrame:
    """Return the judge's belief after each round, in the order of turns.

    Returns:
        One row a belief: case_id, repeat, debate_id, round, in_right (the probability of the right
        answer), story, judge.
    """
    beliefs = run.utterances(BELIEF).copy()
    targets = beliefs["case_id"].map(run.results.targets)
    in_right, judges = [], []
    for parsed, target in zip(beliefs["parsed"], targets, strict=True):
        facts = json.loads(parsed)
        in_right.append(facts["distribution"][target])
        judges.append(facts["who"])
    beliefs["in_right"] = in_right
    beliefs["judge"] = judges
    beliefs["story"] = [run.results.attributes[case_id]["story"] for case_id in beliefs["case_id"]]
    return beliefs[["case_id", "repeat", "debate_id", "round", "in_right", "story", "judge"]]


def read_outcomes(run: RecordedRun) -> pd.DataFrame:
    """Return the outcome of each debate by its judge's last belief.

    Returns:
        One row per debate: debate_id; right (1, 0, or one half for an undecided judge);
        squared_error (of the last belief in the right answer); story; judge; cluster (story and
        judge); rounds; quoted (words); and flips (how often the judge came to favour the other
        answer; a belief of one half favours neither). The last three are missing where only the
        last belief is known.
    """
    beliefs = read_beliefs(run)
    by_debate = beliefs.groupby("debate_id", sort=True)
    last = by_debate.last()
    in_right = last["in_right"]
    speeches = run.utterances(SPEECH)
    quoted_words = pd.Series(
        [json.loads(parsed)["quoted_words"] for parsed in speeches["parsed"]], speeches.index
    )
    rounds = speeches.groupby("debate_id")["round"].max().reindex(last.index)
    flips = by_debate["in_right"].agg(_count_flips)
    outcomes = pd.DataFrame(
        {
            "right": (in_right > UNDECIDED) + 0.5 * (in_right == UNDECIDED),
            "squared_error": (1 - in_right) ** 2,
            "story": last["story"],
            "judge": last["judge"],
            "cluster": list(zip(last["story"], last["judge"], strict=True)),
            "rounds": rounds,
            "quoted": quoted_words.groupby(speeches["debate_id"]).sum().reindex(last.index),
            "flips": flips.where(rounds.notna()),
        }
    )
    return outcomes.reset_index()


def _count_flips(in_right: "pd.Series[float]") -> float:
    favoured = np.sign(in_right - UNDECIDED)
    decided = favoured[favoured != 0]
    return float((decided.diff().fillna(0) != 0).sum())
