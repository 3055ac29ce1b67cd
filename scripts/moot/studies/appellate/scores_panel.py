"""Scores of appellate panels: positions, volatility, majorities, influence.

`moot.studies.appellate.panel_steps` defines steps and changes.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.core.errors import CannotTellError
from moot.core.types import Column
from moot.scores import by_model, no_scores, scorer
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.labels import shares
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL, Score
from moot.stats.arrays import Floats, as_numbers
from moot.stats.jackknife import ClusterJackknife
from moot.stats.statistic import Statistic, share_statistic
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, LABELS, NO_STANCE_CODE
from moot.studies.appellate.panel_steps import (
    HUMAN,
    build_panel_steps,
    find_majorities,
    find_opposing_influences,
    group_pairs,
    is_panel,
    pair_positions,
    select_regular_steps,
)


def log_odds_ratio(moved: Floats, human: Floats, peer: Floats) -> Statistic:
    """Return the log odds ratio of moving: only the human opposed over only the peer opposed.

    Half a move and half a stay are added on each side (Haldane, Anscombe), so that the ratio is
    finite for counts of zero.
    """

    def ratio_of_odds(weights: Floats) -> Floats:
        def odds(group: Floats) -> Floats:
            return (weights @ (group * moved) + 0.5) / (weights @ (group * (1 - moved)) + 0.5)

        has_both_groups = (weights @ human > 0) & (weights @ peer > 0)
        return np.where(has_both_groups, np.log(odds(human) / odds(peer)), np.nan)

    return Statistic(ratio_of_odds, rows=(human + peer) > 0)


@scorer("panel")
def panel_scores(results: ExperimentResults) -> pd.DataFrame:
    """Score an appellate panel by model. Other and unlabelled experiments have no rows."""
    if not is_panel(results):
        return no_scores()
    all_steps = build_panel_steps(results)

    def score_model(model: str) -> Iterator[Score]:
        steps = all_steps[all_steps["model"] == model]
        if select_regular_steps(steps).empty:  # a weak model may miss the form in every round
            return
        for prefix, column in (("", "code"), ("vote_", "vote")):
            if not prefix or (steps[column] != NO_STANCE_CODE).any():
                yield from _score_positions(steps, column, prefix, results)
                yield from _score_volatility(steps, column, prefix, results)
                yield from _score_influence(
                    find_opposing_influences(steps, column), prefix, results
                )
                yield from _score_majorities(results, steps, column, prefix)

    return by_model(results, score_model)


def _score_mean(
    results: ExperimentResults,
    metric: str,
    values: Column,
    rows: pd.DataFrame,
    group: str = OVERALL,
    invalid: int = 0,
) -> Score:
    """Score the mean of values between 0 and 1, one per row of `rows`."""
    return results.sample(rows["case_id"]).score(
        metric, share_statistic(values), group, n_invalid=invalid
    )


def _score_positions(
    steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    for (number, seat), rows in select_regular_steps(steps).groupby(["round", "seat"]):
        is_affirming, has_position = rows[column] == AFFIRMED_CODE, rows[column] != NO_STANCE_CODE
        group, invalid_count = f"round={number};seat={seat}", int((~has_position).sum())
        yield _score_mean(
            results,
            f"{prefix}affirm_share",
            is_affirming[has_position],
            rows[has_position],
            group,
            invalid_count,
        )
        # As in the paper, a statement without a position counts as one that does not affirm.
        yield _score_mean(results, f"{prefix}affirm_share_of_statements", is_affirming, rows, group)
        yield _score_mean(results, f"{prefix}position_share", has_position, rows, group)


def _score_volatility(
    steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    pairs = pair_positions(steps, column)
    for group, in_group in group_pairs(pairs):
        rows = pairs[in_group]
        chances = rows[rows["opportunity"]]
        invalid_count = len(rows) - len(chances)
        yield _score_mean(
            results, f"{prefix}volatility", chances["changed"], chances, group, invalid_count
        )
        changes = float(rows["changed"].sum())
        yield results.sample(chances["case_id"]).count(
            f"{prefix}changes", changes, group, n_invalid=invalid_count
        )
        # The paper's 600 opportunities are all pairs; a move to or from code 3 counts here.
        differs = rows["before"] != rows["after"]
        yield _score_mean(results, f"{prefix}volatility_of_all_pairs", differs, rows, group)
        yield results.sample(rows["case_id"]).count(
            f"{prefix}changes_of_all_pairs", float(differs.sum()), group
        )


def _score_influence(
    chances: pd.DataFrame, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    """Yield the shares of moves by who was opposed, and the odds of the human over the peer.

    The odds have an interval by case and one by debate.
    """
    for opposed, rows in chances.groupby("opposed"):
        yield _score_mean(results, f"{prefix}moved", rows["moved"], rows, f"opposed={opposed}")
    if chances.empty:
        return
    moved = as_numbers(chances["moved"])
    human = as_numbers(chances["opposed"] == "human")
    peer = as_numbers(chances["opposed"] == "peer")
    sample = results.sample(chances.loc[(human + peer) > 0, "case_id"])
    case_clusters = [results.clusters[case_id] for case_id in chances["case_id"]]
    for name, clusters in (("case", case_clusters), ("debate", list(chances["debate_id"]))):
        jackknife = ClusterJackknife(clusters)
        estimate = np.exp(jackknife.estimate(log_odds_ratio(moved, human, peer)))
        value, low, high = (float(bound) for bound in estimate)
        metric, group = f"{prefix}human_over_peer_odds", f"clusters={name}"
        yield Score(metric, value, low, high, group=group, n=sample.n, n_cases=sample.n_cases)


def _score_majorities(
    results: ExperimentResults, steps: pd.DataFrame, column: str, prefix: str
) -> Iterator[Score]:
    """Score how often the first and the last majority agree with the real court.

    A mixed outcome counts as not affirmed.
    """
    panel_majorities = find_majorities(steps, column)
    for stage in ("first", "last"):
        decided = panel_majorities[panel_majorities[stage].notna()]
        is_correct = (decided[stage] == 1) == (decided["case_id"].map(results.targets) == "affirm")
        metric, invalid_count = f"{prefix}majority_accuracy", len(panel_majorities) - len(decided)
        yield _score_mean(results, metric, is_correct, decided, f"majority={stage}", invalid_count)


# Shares of labels (`moot.scores.labels`).


@scorer("panel_labels")
def panel_label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Score shares of labels by the human's stance, by model.

    Other experiments have no rows.
    """
    if not is_panel(results):
        return no_scores()
    steps = select_regular_steps(build_panel_steps(results))
    return by_model(results, lambda model: _score_labels(results, steps[steps["model"] == model]))


def _score_labels(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    for condition in sorted(set(steps["condition"]) - {""}):
        yield from shares(
            results, steps[steps["condition"] == condition], LABELS, f"condition={condition}"
        )


# Metrics of contrasts between panels: how often judges change position, and towards whom.


def _select_panel_steps(results: ExperimentResults, model: str) -> pd.DataFrame:
    if not is_panel(results):
        raise CannotTellError(
            f"contrast with a metric of panels: {results.experiment} is not an appellate panel, or"
            " its statements have no labels. Name a panel, and give it `labelers`."
        )
    steps = build_panel_steps(results)
    return steps[steps["model"] == model]


@case_metric("volatility")
def volatility(results: ExperimentResults, model: str) -> Terms:
    """Share of an AI judge's pairs of successive rounds in which the position changes.

    Only pairs with a position in both rounds count.
    """
    pairs = pair_positions(_select_panel_steps(results, model))
    pairs = pairs[pairs["speaker"] != HUMAN]
    return _sum_by_debate(pairs, pairs["changed"], pairs["opportunity"])


@case_metric("moves_to_human")
def moves_to_human(results: ExperimentResults, model: str) -> Terms:
    """Share of rounds in which an AI judge joins the human if only the human opposes it."""
    return _measure_moves(results, model, HUMAN)


@case_metric("moves_to_peer")
def moves_to_peer(results: ExperimentResults, model: str) -> Terms:
    """Share of rounds in which an AI judge adopts the other AI judge's if only that one opposes."""
    return _measure_moves(results, model, "peer")


def _measure_moves(results: ExperimentResults, model: str, opposed: str) -> Terms:
    chances = find_opposing_influences(_select_panel_steps(results, model))
    is_opposed = chances["opposed"] == opposed
    return _sum_by_debate(chances, chances["moved"] & is_opposed, is_opposed)


def _sum_by_debate(
    rows: pd.DataFrame, numerators: "pd.Series[bool]", denominators: "pd.Series[bool]"
) -> Terms:
    """Sum the counts within each debate."""
    counts = rows.assign(top=numerators.astype(float), bottom=denominators.astype(float))
    sums = (
        counts.groupby(["case_id", "debate_id"], sort=True)[["top", "bottom"]].sum().reset_index()
    )
    return Terms(list(sums["case_id"]), as_numbers(sums[["top"]]), as_numbers(sums[["bottom"]]))
