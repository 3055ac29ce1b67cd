"""The table of the beliefs that are stated in recorded debates, by round."""

from collections.abc import Iterator

import pandas as pd

from moot.core.types import Fields
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.stats.arrays import as_numbers
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.studies.recorded.runs import STUDY, RecordedRun, mean_by_case, recorded_runs
from moot.studies.recorded.stated_beliefs import (
    AFTER_ROUNDS,
    OWN_SIDE,
    find_outcomes,
    has_stated_beliefs,
    read_stated_beliefs,
    verdict_authors,
)

SURE = 0.75
"""Beliefs above this probability are counted as sure."""
ALL_SPEAKERS, BOTH_SIDES = "all", "both"
MAX_SPEAKERS = 12
"""Up to this number of speakers, each speaker has rows."""


@table(
    STUDY,
    "beliefs_by_round",
    "Beliefs of debaters and judges by round",
    needs=(has_stated_beliefs,),
    loaders=("transcripts",),
)
def beliefs_by_round(results: StudyResults) -> TableContent:
    """What speakers believe after each round, by side, compared with the outcomes."""
    rows: list[Fields] = []
    for run in recorded_runs(results):
        rows += _rows_of_run(run)
    return _BY_ROUND.table(
        rows,
        [
            (
                "Belief is the mean probability that debaters give to their own side, and that"
                " other speakers give to the label in `belief in`. The confidence of a speaker with"
                " a side counts as the probability of this side. If the record has no"
                " rounds, the first belief of each speaker counts for round 1, and so on;"
                f" `{AFTER_ROUNDS}` are beliefs without a round after the last one."
            ),
            (
                "Outcome is the share of these beliefs whose label is the outcome: the true label,"
                " or without known truth the verdict of most judges (not shown for the judges"
                " themselves). The difference is belief minus outcome, above 0 for overconfidence."
            ),
            (
                f"Above {SURE}: the share of single beliefs. Both above {SURE}: the share of"
                " debates in which each side's mean belief in itself is above it, among debates"
                " with beliefs of at least two sides in the round."
            ),
        ],
    )


_BY_ROUND = (
    Columns()
    .keys("data", "method")
    .plain("round", "side", "speaker", "belief in")
    .estimate("belief")
    .plain("outcome is")
    .ours("outcome")
    .estimate("difference", "difference", role=DIFFERENCE, digits=SIGNED)
    .ours(f"above {SURE}")
    .estimate(f"both above {SURE}", "both")
    .counts("beliefs", "debates")
)


def _rows_of_run(run: RecordedRun) -> Iterator[Fields]:
    """Yield the rows of a run, round by round."""
    beliefs = read_stated_beliefs(run)
    if beliefs.empty:
        return
    outcome_name, outcomes = find_outcomes(run)
    beliefs = beliefs.assign(outcome=beliefs["debate_id"].map(outcomes), outcome_name=outcome_name)
    if outcome_name != "the truth":
        is_author = beliefs["speaker"].isin(verdict_authors(run, beliefs))
        beliefs["outcome"] = beliefs["outcome"].mask(is_author)
    for round_name in sorted(set(beliefs["round"]), key=_round_order):
        at_round = beliefs[beliefs["round"] == round_name]
        for side, speaker, rows in _groups_of_speakers(at_round):
            cells = _belief_cells(run, rows)
            both = _both_sure_cells(run, rows) if side == BOTH_SIDES else {}
            keys = {"data": run.data, "method": run.method, "round": round_name}
            yield {**keys, "side": side, "speaker": speaker, **cells, **both}


def _round_order(name: str) -> tuple[bool, int]:
    return (name == AFTER_ROUNDS, int(name) if name.lstrip("-").isdecimal() else 0)


def _groups_of_speakers(beliefs: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield side, speaker and beliefs of both sides, each side, others, and each speaker."""
    debaters = beliefs[beliefs["side"] != ""]
    sides = sorted(set(debaters["side"]))
    if len(sides) > 1:
        yield BOTH_SIDES, ALL_SPEAKERS, debaters
    for side in sides:
        yield from _groups_of_side(side, debaters[debaters["side"] == side])
    others = beliefs[beliefs["side"] == ""]
    if len(others):
        yield from _groups_of_side("", others)


def _groups_of_side(side: str, beliefs: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield all speakers of a side, and each of them if there are several but not many."""
    speakers = sorted(set(beliefs["speaker"]))
    if len(speakers) == 1:
        yield side, speakers[0], beliefs
        return
    yield side, ALL_SPEAKERS, beliefs
    if len(speakers) <= MAX_SPEAKERS:
        for speaker in speakers:
            yield side, speaker, beliefs[beliefs["speaker"] == speaker]


def _belief_cells(run: RecordedRun, beliefs: pd.DataFrame) -> Fields:
    """Return the cells of some beliefs of one round."""
    values = as_numbers(beliefs["belief"])
    has_outcome = beliefs["outcome"].notna().to_numpy()
    is_outcome = as_numbers(beliefs["label"] == beliefs["outcome"])
    cells: dict[str, object] = {
        "belief in": OWN_SIDE if (beliefs["side"] != "").all() else beliefs["label"].iloc[0],
        "belief": mean_by_case(run, beliefs["case_id"], values, (0.0, 1.0)),
        f"above {SURE}": float((values > SURE).mean()),
        "beliefs": len(beliefs),
        "debates": beliefs["debate_id"].nunique(),
    }
    if has_outcome.any():
        differences = (values - is_outcome)[has_outcome]
        case_ids = beliefs["case_id"][has_outcome]
        cells["outcome is"] = beliefs["outcome_name"].iloc[0]
        cells["outcome"] = float(is_outcome[has_outcome].mean())
        cells["difference"] = mean_by_case(run, case_ids, differences, BOUNDS)
    return cells


def _both_sure_cells(run: RecordedRun, beliefs: pd.DataFrame) -> Fields:
    """Return how often all sides of a debate are sure of themselves; empty without two sides."""
    by_side = beliefs.groupby(["debate_id", "side"]).agg({"belief": "mean", "case_id": "first"})
    debates = by_side.groupby("debate_id").agg(
        least=("belief", "min"), sides=("belief", "size"), case_id=("case_id", "first")
    )
    debates = debates[debates["sides"] > 1]
    if debates.empty:
        return {}
    is_sure = as_numbers(debates["least"] > SURE)
    return {f"both above {SURE}": mean_by_case(run, debates["case_id"], is_sure, (0.0, 1.0))}
