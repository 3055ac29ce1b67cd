"""What tables and figures of recorded results start from: runs, and how the judges of the NYU debates ended."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from moot.report.content import StudyResults
from moot.scores.results import ExperimentResults

STUDY = "recorded"
NYU = "nyu-debates"


@dataclass(frozen=True)
class Run:
    """One recorded experiment with one of its models."""

    results: ExperimentResults
    model: str

    @property
    def method(self) -> str:
        """The condition in the records."""
        return str(self.results.config.params["method"])

    @property
    def predictions(self) -> pd.DataFrame:
        """Its rows of predictions, invalid ones too."""
        rows = self.results.predictions
        return rows[rows["model"] == self.model]


def recorded_runs(results: StudyResults) -> Iterator[Run]:
    """Every recorded experiment of a study with each of its models."""
    for found in results.where("recorded"):
        for model in found.config.models:
            yield Run(found, model)


def beliefs(run: Run) -> pd.DataFrame:
    """What the judge believed after each round, one row a belief, in the order of turns.

    Columns: case_id, repeat, debate_id, round, in_right (the probability given to the right answer), story, judge.
    """
    said = run.results.transcripts
    stated = said[(said["model"] == run.model) & (said["kind"] == "belief")].copy()
    facts = [json.loads(parsed) for parsed in stated["parsed"]]
    targets = run.results.cases.set_index("case_id")["target"]
    attributes = run.results.cases.set_index("case_id")["attributes"]
    truth = stated["case_id"].map(targets)
    stated["in_right"] = [fact["distribution"][right] for fact, right in zip(facts, truth, strict=True)]
    stated["judge"] = [fact["who"] for fact in facts]
    stated["story"] = [attributes[case]["story"] for case in stated["case_id"]]
    return stated[["case_id", "repeat", "debate_id", "round", "in_right", "story", "judge"]]


def judged(run: Run) -> pd.DataFrame:
    """How each debate ended, one row a debate.

    Columns: debate_id, right (1, 0, or one half where the judge ended undecided), squared_error (of the last belief in
    the right answer), story, judge, rounds and quoted (words; missing where only the last belief is known).
    """
    last = beliefs(run).groupby("debate_id", sort=True).last()
    share = last["in_right"]
    said = run.results.transcripts
    speeches = said[(said["model"] == run.model) & (said["kind"] == "speech")]
    quoted = pd.Series([json.loads(parsed)["quoted_words"] for parsed in speeches["parsed"]], speeches.index)
    return pd.DataFrame(
        {
            "right": (share > 0.5) + 0.5 * (share == 0.5),  # noqa: PLR2004 - the middle of a probability
            "squared_error": (1 - share) ** 2,
            "story": last["story"],
            "judge": last["judge"],
            "rounds": speeches.groupby("debate_id")["round"].max().reindex(share.index),
            "quoted": quoted.groupby(speeches["debate_id"]).sum().reindex(share.index),
        }
    ).reset_index()
