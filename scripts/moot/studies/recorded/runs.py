"""What tables and figures of recorded results start from: runs, and how the judges of the NYU
debates ended.
"""

import json

import numpy as np
import pandas as pd

from moot.core.cases import cluster_attributes
from moot.core.kinds import BELIEF, SPEECH
from moot.report.content import Run, StudyResults
from moot.stats.bootstrap import share_statistic
from moot.stats.paired import share_right

STUDY = "recorded"
CLUSTER_OF_JUDGED = "story"


class RecordedRun(Run):
    """One recorded experiment with one of its models."""

    @property
    def method(self) -> str:
        """The condition in the records."""
        return str(self.params["method"])

    @property
    def accuracy(self) -> tuple[float, float, float]:
        """The mean over cases of the share of repeats that are right, invalid ones wrong, with its
        interval by case.
        """
        shares = share_right(self.predictions)
        return self.results.sample(shares.index).bootstrap.estimate(share_statistic(shares))

    @property
    def judged(self) -> bool:
        """Whether a judge stated probabilities of two answers to a question about a story (the NYU
        debates).

                There the labels only say which answer comes first, so that scores of one label have
                no meaning.
        """
        return CLUSTER_OF_JUDGED in cluster_attributes(self.results.task.cluster)


def answered_runs(results: StudyResults) -> list[RecordedRun]:
    """The recorded answers of a study: predictions of one label for each case."""
    return [run for run in recorded_runs(results) if not run.judged]


def judged_runs(results: StudyResults) -> list[RecordedRun]:
    """The recorded debates of a study before a judge who stated a probability after each round."""
    return [run for run in recorded_runs(results) if run.judged]


def recorded_runs(results: StudyResults) -> list[RecordedRun]:
    """Every recorded experiment of a study with each of its models."""
    return results.runs(results.where("recorded"), RecordedRun)


def beliefs(run: RecordedRun) -> pd.DataFrame:
    """What the judge believed after each round, one row a belief, in the order of turns.

    Columns: case_id, repeat, debate_id, round, in_right (the probability given to the right
        answer), story, judge.
    """
    stated = run.utterances(BELIEF).copy()
    facts = [json.loads(parsed) for parsed in stated["parsed"]]
    truth = stated["case_id"].map(run.results.targets)
    stated["in_right"] = [
        fact["distribution"][right] for fact, right in zip(facts, truth, strict=True)
    ]
    stated["judge"] = [fact["who"] for fact in facts]
    stated["story"] = [run.results.attributes[case]["story"] for case in stated["case_id"]]
    return stated[["case_id", "repeat", "debate_id", "round", "in_right", "story", "judge"]]


def judged(run: RecordedRun) -> pd.DataFrame:
    """How each debate ended, one row a debate.

    Columns: debate_id, right (1, 0, or one half where the judge ended undecided), squared_error (of
    the last belief in the right answer), story, judge, cluster (both); and, missing where only the
    last belief is known, rounds, quoted (words) and flips (how often the judge came to favour the
    other answer than before; one half favours neither).
    """
    stated = beliefs(run)
    last = stated.groupby("debate_id", sort=True).last()
    share = last["in_right"]
    speeches = run.utterances(SPEECH)
    quoted = pd.Series(
        [json.loads(parsed)["quoted_words"] for parsed in speeches["parsed"]], speeches.index
    )
    rounds = speeches.groupby("debate_id")["round"].max().reindex(share.index)
    return pd.DataFrame(
        {
            "right": ((share > 0.5) + 0.5 * (share == 0.5)),  # noqa: PLR2004
            "squared_error": (1 - share) ** 2,
            "story": last["story"],
            "judge": last["judge"],
            "cluster": list(zip(last["story"], last["judge"], strict=True)),
            "rounds": rounds,
            "quoted": quoted.groupby(speeches["debate_id"]).sum().reindex(share.index),
            "flips": stated.groupby("debate_id")["in_right"].agg(_flips).where(rounds.notna()),
        }
    ).reset_index()


def _flips(in_right: "pd.Series[float]") -> float:
    favoured = np.sign(in_right - 0.5)
    decided = favoured[favoured != 0]
    return float((decided.diff().fillna(0) != 0).sum())
