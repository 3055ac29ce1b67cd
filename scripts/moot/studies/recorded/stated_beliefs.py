"""The beliefs that the speakers of recorded debates state, and the outcomes of their debates."""

import json
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from moot.core.cases import positive_of_two
from moot.core.types import Fields, Json
from moot.core.utterance_kinds import CONCLUSION, UNUSABLE
from moot.datasets.turn_columns import TranscriptsOptions
from moot.report.content import StudyPlan
from moot.scores.dynamics import judge_names
from moot.studies.recorded.runs import RecordedRun

OWN_SIDE = "own side"
AFTER_ROUNDS = "end"
"""The round of a belief that states no round and follows the rounds of its debate."""
_PERCENT = 100
_COLUMNS = [
    "debate_id",
    "case_id",
    "repeat",
    "turn",
    "round",
    "speaker",
    "kind",
    "parsed",
    "parse_status",
    "prediction",
    "confidence",
]


class StatedBelief(NamedTuple):
    """A belief of a speaker.

    Attributes:
        debate_id, case_id, repeat: the debate.
        round: the number of the round, or AFTER_ROUNDS.
        speaker: the speaker.
        side: the label that the speaker argues for; "" for a judge.
        label: the label that the probability is about: the side, or the positive label.
        belief: the probability of this label.
    """

    debate_id: str
    case_id: str
    repeat: int
    round: str
    speaker: str
    side: str
    label: str
    belief: float


def has_stated_beliefs(plan: StudyPlan) -> bool:
    """Return whether the turns of debates have beliefs, or confidences of speakers with a side."""
    for experiment in plan.experiments:
        options = plan.options_of(experiment)
        if isinstance(options, TranscriptsOptions):
            columns = options.columns
            if columns.debate and (columns.belief or (columns.confidence and columns.side)):
                return True
    return False


def read_stated_beliefs(run: RecordedRun) -> pd.DataFrame:
    """Return the last belief of each speaker in each round, as rows of `StatedBelief`.

    If the record has no rounds, the first belief of a speaker counts for round 1, and so on.
    The confidence of a speaker with a side is a belief in the answer, or else in this side.
    """
    beliefs: list[StatedBelief] = []
    for part in run.results.transcript_parts(_COLUMNS, run.model):
        turns = part[(part["kind"] != CONCLUSION) & ~part["parse_status"].isin(UNUSABLE)]
        for _, debate_turns in turns.groupby("debate_id", sort=False):
            beliefs += _beliefs_of_debate(run, debate_turns)
    frame = pd.DataFrame(beliefs, columns=StatedBelief._fields)
    if set(frame["round"]) <= {"0"}:
        speakers = frame.groupby(["debate_id", "speaker"], sort=False)
        frame["round"] = (speakers.cumcount() + 1).astype(str)
    return frame.drop_duplicates(["debate_id", "round", "speaker"], keep="last")


def _beliefs_of_debate(run: RecordedRun, turns: pd.DataFrame) -> Iterator[StatedBelief]:
    """Yield the beliefs of one debate in the order of its turns."""
    labels = run.results.task.labels
    has_started = False
    rows: list[Json] = turns.to_dict("records")
    for row in rows:
        has_started |= row["round"] > 0
        facts: Fields = json.loads(row["parsed"]) or {} if row["parsed"] else {}
        side = str(facts.get("side", ""))
        side = side if side in labels else ""
        label = side or positive_of_two(run.results.task)
        belief = _probability(row, facts, side, label)
        if belief is not None:
            is_after = has_started and not row["round"]
            yield StatedBelief(
                debate_id=row["debate_id"],
                case_id=row["case_id"],
                repeat=row["repeat"],
                round=AFTER_ROUNDS if is_after else str(row["round"]),
                speaker=row["speaker"],
                side=side,
                label=label,
                belief=belief,
            )


def _probability(row: Fields, facts: Fields, side: str, label: str) -> float | None:
    """Return the stated probability of a label, or None."""
    shares: Mapping[str, float] = facts.get("distribution", {})
    if shares:
        return shares.get(label)
    if not side or pd.isna(row["confidence"]) or row["prediction"] not in ("", side):
        return None
    return float(row["confidence"]) / _PERCENT


def find_outcomes(run: RecordedRun) -> tuple[str, "pd.Series[str]"]:
    """Return a description of the debates' outcome, and the outcome by debate.

    It is the true label of the case, or without known truth the verdict of the majority of its
    judges. Debates with an even split have no outcome.
    """
    predictions = run.predictions.assign(
        debate_id=run.predictions["case_id"] + "#" + run.predictions["repeat"].astype(str)
    )
    targets = predictions.groupby("debate_id")["target"].first()
    if (targets != "").all():
        return "the truth", targets
    votes = predictions[predictions["status"] == "valid"].groupby("debate_id")["prediction"]
    outcomes = {debate: _majority(labels) for debate, labels in votes}
    return "the verdict", pd.Series(outcomes, dtype="object").dropna()


def _majority(labels: "pd.Series[str]") -> str | None:
    counts = labels.value_counts()
    is_split = len(counts) > 1 and counts.iloc[0] == counts.iloc[1]
    return None if is_split else str(counts.index[0])


def verdict_authors(run: RecordedRun, beliefs: pd.DataFrame) -> set[str]:
    """Return the speakers whose answers are the verdicts.

    Without named judges they are those without a side.
    """
    return judge_names(run.predictions) or set(beliefs.loc[beliefs["side"] == "", "speaker"])
