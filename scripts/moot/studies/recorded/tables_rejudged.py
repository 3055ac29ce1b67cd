"""The table of debates that were judged again: a model's beliefs and the recorded judge's."""

import numpy as np
import pandas as pd

from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import UNUSABLE
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.study_results import Run, StudyResults
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.statistic import mean_statistic, share_statistic
from moot.studies.recorded.runs import STUDY

JUDGE, RECORDED_JUDGE = "judge", "recorded judge"
DEBATE, ROUND = "debate_id", "round"
_UNDECIDED, _UNDECIDED_BELIEF = "undecided", 0.5


def rejudged_runs(results: StudyResults) -> list[Run]:
    """Return every experiment that judged debates again, with each of its models."""
    return results.runs(results.find_experiments("rejudge"), Run)


def stated_beliefs(run: Run, seat: str) -> pd.DataFrame:
    """Return the last usable belief of a seat in each round, in the order of turns.

    Returns:
        debate_id, round, case_id, side (a label, or "undecided"), in_right (the probability of the
        right one of two labels; may be missing).
    """
    turns = run.results.transcripts
    is_belief = (
        (turns["model"] == run.model)
        & (turns["speaker"] == seat)
        & ~turns["parse_status"].isin(UNUSABLE)
    )
    beliefs = turns[is_belief]
    names_right = beliefs["prediction"] == beliefs["case_id"].map(run.results.targets)
    probability = beliefs["probability"].astype(float)
    in_right = probability.where(names_right)
    if len(run.results.task.labels) == 2:  # two labels share the probability
        in_right = in_right.where(names_right, 1 - probability)
    side = beliefs["prediction"].where(beliefs["prediction"] != "", _UNDECIDED)
    beliefs = beliefs.assign(
        side=side, in_right=in_right.mask(side == _UNDECIDED, _UNDECIDED_BELIEF)
    )
    last = beliefs.groupby([DEBATE, ROUND], sort=False).tail(1)
    return last[[DEBATE, ROUND, "case_id", "side", "in_right"]]


_KEYS = ("data", "debates of", "debated by")


@table(STUDY, "rejudged", "Beliefs of a model and of the recorded judge", protocols=("rejudge",))
def rejudged(results: StudyResults) -> TableContent:
    """How often a model that reads recorded debates favours the recorded judge's side."""
    rows = []
    for run in rejudged_runs(results):
        row = _row_of_run(run)
        if row:
            rows.append(row)
    return _REJUDGED.table(
        rows,
        [
            (
                "A belief of the model is compared with the recorded judge's after the same round,"
                " where both were stated. Belief is the mean probability of the right answer, over"
                " the rounds in which both stated one; the difference is the model's minus the"
                " recorded judge's. An undecided judge favours neither side: a belief of one half."
            ),
            "The model read the debaters' utterances, without the recorded judge's.",
        ],
    )


_REJUDGED = (
    Columns()
    .keys(*_KEYS)
    .plain("judge")
    .estimate("same side", "same side")
    .ours("recorded belief", "model belief")
    .estimate("difference", "difference", role=DIFFERENCE, digits=SIGNED)
    .counts("beliefs", "debates")
)


def _key_cells(run: Run) -> JsonObject:
    """Return the data, and the experiment and model whose debates were judged."""
    return {
        "data": run.data,
        "debates of": run.params["source_experiment"],
        "debated by": run.params["source_model"],
    }


def _row_of_run(run: Run) -> Fields | None:
    """Return the row of a run; None if no round has beliefs of both judges."""
    both = stated_beliefs(run, JUDGE).merge(
        stated_beliefs(run, RECORDED_JUDGE),
        on=[DEBATE, ROUND, "case_id"],
        suffixes=("", " recorded"),
    )
    if both.empty:
        return None
    jackknife = run.results.sample(both["case_id"]).jackknife
    differences = both["in_right"] - both["in_right recorded"]
    with_both_beliefs = both[differences.notna()]
    difference = (np.nan, np.nan, np.nan)
    if len(with_both_beliefs):
        sample = run.results.sample(with_both_beliefs["case_id"])
        difference = sample.jackknife.estimate(mean_statistic(differences.dropna(), BOUNDS))
    return {
        **_key_cells(run),
        "judge": run.model,
        "same side": jackknife.estimate(share_statistic(both["side"] == both["side recorded"])),
        "recorded belief": with_both_beliefs["in_right recorded"].mean(),
        "model belief": with_both_beliefs["in_right"].mean(),
        "difference": difference,
        "beliefs": len(both),
        "debates": both[DEBATE].nunique(),
    }
