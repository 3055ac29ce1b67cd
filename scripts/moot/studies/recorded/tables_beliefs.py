"""Tables of the beliefs that are stated in recorded debates, by round and as aggregates."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.core.types import Fields
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns
from moot.report.content import TableContent
from moot.report.study_results import StudyResults
from moot.scores.groups import find_undecided, probability_of_positive
from moot.stats.arrays import Floats, as_numbers
from moot.stats.statistic import DIFFERENCE as BOUNDS
from moot.stats.statistic import mean_statistic, share_statistic
from moot.studies.recorded.runs import STUDY, RecordedRun, mean_by_case, recorded_runs
from moot.studies.recorded.stated_beliefs import (
    AFTER_ROUNDS,
    OWN_SIDE,
    find_outcomes,
    has_beliefs_and_truth,
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
    """What the speakers of recorded debates believe after each round, by side and speaker, compared
    with the outcomes, and how often both sides are above 0.75; with 95 % intervals by cluster.
    """
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
    .short_form(
        "data",
        "round",
        "side",
        "speaker",
        "belief",
        "95 % interval",
        "outcome",
        "difference",
        f"both above {SURE}",
        "debates",
    )
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


EXTREMISING = 2.5
"""The exponent by which the odds of a mean belief are extremised (Baron et al. 2014)."""
PANEL_SIZES = (1, 2, 3, 5, 7, 9, 12, 16, 20)
WHOLE_PANEL = "all"
MAX_PANELS_DRAWN = 200
"""Of more panels of some members of one panel, this number is drawn."""


def extremise(means: Floats) -> Floats:
    """Raise the odds of probabilities to the power EXTREMISING."""
    positive, negative = means**EXTREMISING, (1 - means) ** EXTREMISING
    return as_numbers(positive / (positive + negative))


AGGREGATES: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda beliefs: as_numbers(beliefs.mean(axis=1)),
    "extremised mean": lambda beliefs: extremise(as_numbers(beliefs.mean(axis=1))),
    "median": lambda beliefs: as_numbers(np.median(beliefs, axis=1)),
}
"""Aggregates of the beliefs of panels, shape (panels, members)."""


@table(
    STUDY,
    "belief_aggregates",
    "Aggregated beliefs of panels",
    needs=(has_beliefs_and_truth,),
    loaders=("transcripts",),
)
def belief_aggregates(results: StudyResults) -> TableContent:
    """The Brier score of the mean, the extremised mean and the median of the beliefs of a panel, by
    the number of its members, compared with one member; with 95 % intervals by cluster.
    """
    rows: list[Fields] = []
    for run in recorded_runs(results):
        rows += _rows_of_aggregates(run)
    return _AGGREGATES.table(
        rows,
        [
            (
                "A panel is the judges or members who answer about one debate, or the repeats of "
                "a case if each debate has one answer. A row of k members is the mean over all "
                f"panels of k of its members (over {MAX_PANELS_DRAWN} at random, if there are "
                f"more), of the panels with at least k. `{WHOLE_PANEL}` are the whole panels."
            ),
            (
                "The Brier score is the mean squared distance of the aggregated probability from"
                " the truth: 0 is best, 0.25 is one half for every case. The difference is the"
                " aggregate's score minus the mean score of one member of the same panels, below 0"
                " if the aggregate is better. Right: the aggregate is on the side of the truth;"
                " exactly one half counts one half."
            ),
            (
                f"The extremised mean raises the odds of the mean to the power {EXTREMISING}"
                " (Baron, Mellers, Tetlock, Stone and Ungar 2014, Decision Analysis 11). The"
                " exponent is not fitted to these data."
            ),
        ],
    )


_AGGREGATES = (
    Columns()
    .keys("data", "method", "model", "aggregate")
    .plain("members")
    .estimate("Brier score", "Brier")
    .estimate("difference from one member", "difference", role=DIFFERENCE, digits=SIGNED)
    .estimate("right", "right")
    .counts("panels", "cases")
    .short_form(
        "data",
        "method",
        "aggregate",
        "members",
        "Brier score",
        "Brier, 95 % interval",
        "difference from one member",
        "difference, 95 % interval",
        "panels",
    )
)


def gather_panels(run: RecordedRun) -> pd.DataFrame:
    """Return the beliefs of panels in the positive label, with the truth.

    Returns:
        A row a panel of at least two members: case_id, beliefs (an array), truth (0 or 1).
    """
    positive = positive_of_two(run.results.task)
    rows = run.predictions
    rows = rows[(rows["status"] == "valid") | find_undecided(rows)]
    if not positive or rows.empty:
        return pd.DataFrame(columns=["case_id", "beliefs", "truth"])
    rows = rows.assign(belief=probability_of_positive(rows, run.results.task))
    rows = rows[rows["belief"].notna() & (rows["target"].fillna("") != "")]
    if rows.empty:
        return pd.DataFrame(columns=["case_id", "beliefs", "truth"])
    debates = rows["case_id"] + "#" + rows["repeat"].astype(str)
    panels = rows.groupby(debates if debates.duplicated().any() else "case_id", sort=True)
    frame = pd.DataFrame(
        {
            "case_id": panels["case_id"].first(),
            "beliefs": pd.Series({key: as_numbers(group["belief"]) for key, group in panels}),
            "truth": (panels["target"].first() == positive).astype(float),
        }
    ).reset_index(drop=True)
    return frame[frame["beliefs"].map(len) > 1]


def _rows_of_aggregates(run: RecordedRun) -> Iterator[Fields]:
    """Yield the rows of each aggregate: by the number of members, and of the whole panels."""
    panels = gather_panels(run)
    if panels.empty:
        return
    largest = int(panels["beliefs"].map(len).max())
    sizes = [size for size in PANEL_SIZES if size <= largest]
    random = np.random.default_rng(run.results.seed)
    for aggregate, combine in AGGREGATES.items():
        for size in (*sizes, 0):
            rows = panels[panels["beliefs"].map(len) >= size]
            parts = [_draw_panels(beliefs, size, random) for beliefs in rows["beliefs"]]
            probabilities = [combine(part) for part in parts]
            yield {
                "data": run.data,
                "method": run.method,
                "model": run.model_name,
                "aggregate": aggregate,
                "members": str(size) if size else WHOLE_PANEL,
                **_aggregate_cells(run, rows, probabilities),
                "panels": len(rows),
                "cases": rows["case_id"].nunique(),
            }


def _draw_panels(beliefs: Floats, size: int, random: np.random.Generator) -> Floats:
    """Return the panels of some members, shape (panels, size); the whole panel for size 0."""
    if size in (0, len(beliefs)):
        return beliefs[None, :]
    if comb(len(beliefs), size) <= MAX_PANELS_DRAWN:
        return as_numbers(list(combinations(beliefs.tolist(), size)))
    draws = random.permuted(np.tile(beliefs, (MAX_PANELS_DRAWN, 1)), axis=1)
    return as_numbers(draws[:, :size])


def _aggregate_cells(
    run: RecordedRun, panels: pd.DataFrame, probabilities: Sequence[Floats]
) -> Fields:
    """Return Brier score, difference from one member, and share of right aggregates of some
    panels.
    """
    errors, differences, right = [], [], []
    for truth, beliefs, aggregates in zip(
        panels["truth"], panels["beliefs"], probabilities, strict=True
    ):
        error = float(((aggregates - truth) ** 2).mean())
        errors.append(error)
        differences.append(error - float(((beliefs - truth) ** 2).mean()))
        distances = np.abs(aggregates - truth)
        right.append(float((distances < 1 / 2).mean() + (distances == 1 / 2).mean() / 2))
    bootstrap = run.results.sample(panels["case_id"]).bootstrap
    return {
        "Brier score": bootstrap.estimate(share_statistic(errors)),
        "difference from one member": bootstrap.estimate(mean_statistic(differences, BOUNDS)),
        "right": bootstrap.estimate(share_statistic(right)),
    }
