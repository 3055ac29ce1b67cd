"""Scores of appellate panels: positions by step, volatility, majorities, whom a judge follows,
citations, repetition.

What a step and a change are: `moot.studies.appellate.panel_steps`.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd

from moot.core.errors import UserError
from moot.core.types import Column
from moot.scores import by_model, no_scores, scorer
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.labels import corrected_score, corrected_share, shares
from moot.scores.results import OVERALL, ExperimentResults, Score
from moot.stats.bootstrap import (
    AMOUNT,
    DIFFERENCE,
    SHARE,
    Bounds,
    ClusterBootstrap,
    Floats,
    Statistic,
    as_numbers,
    mean_statistic,
    ratio,
    ratio_statistic,
)
from moot.stats.prediction_powered import corrected_ratio
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, LABELS, NO_STANCE_CODE
from moot.studies.appellate.panel_steps import (
    HUMAN,
    groups_of_changes,
    is_panel,
    majorities,
    opposing_influences,
    panel_steps,
    position_changes,
    regular,
    wording_by_step,
)


def log_odds_ratio(moved: Floats, human: Floats, peer: Floats) -> Statistic:
    """The logarithm of the odds of moving where the human alone is opposed, over those where the
    peer alone is.

        Half a move and half a stay are added on each side (Haldane, Anscombe), so that no count of
        zero makes it infinite.
    """

    def ratio_of_odds(weights: Floats) -> Floats:
        def odds(group: Floats) -> Floats:
            return (weights @ (group * moved) + 0.5) / (weights @ (group * (1 - moved)) + 0.5)

        both = (weights @ human > 0) & (weights @ peer > 0)
        return np.where(both, np.log(odds(human) / odds(peer)), np.nan)

    return Statistic(ratio_of_odds, rows=(human + peer) > 0)


@scorer("panel")
def panel_scores(results: ExperimentResults) -> pd.DataFrame:
    """Scores of an appellate panel by model; no rows for other experiments, and for those without
    labels.
    """
    if not is_panel(results):
        return no_scores()
    every = panel_steps(results)

    def scores_of(model: str) -> Iterator[Score]:
        steps = every[every["model"] == model]
        if steps.empty:
            return
        for prefix, column in (("", "code"), ("vote_", "vote")):
            if not prefix or (steps[column] != NO_STANCE_CODE).any():
                yield from _position_scores(steps, column, prefix, results)
                yield from _volatility_scores(steps, column, prefix, results)
                yield from _alternation_scores(steps, column, prefix, results)
                yield from _influence_scores(opposing_influences(steps, column), prefix, results)
                yield from _majority_scores(results, steps, column, prefix)
        yield from _stance_scores(steps, results)
        yield from _wording_scores(results, steps)

    return by_model(results, scores_of)


def _mean(
    results: ExperimentResults, metric: str, values: Column, rows: pd.DataFrame, group: str = OVERALL,
    invalid: int = 0, bounds: Bounds = SHARE,
) -> Score:  # fmt: skip
    """The mean of some values, each of a row of a case."""
    return results.sample(rows["case_id"]).score(
        metric, mean_statistic(values, bounds), group, n_invalid=invalid
    )


def _position_scores(
    steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    for (number, seat), rows in regular(steps).groupby(["round", "seat"]):
        affirms, takes = rows[column] == AFFIRMED_CODE, rows[column] != NO_STANCE_CODE
        group, none = f"round={number};seat={seat}", int((~takes).sum())
        yield _mean(results, f"{prefix}affirm_share", affirms[takes], rows[takes], group, none)
        # As the paper counts: a statement without a position is one that does not affirm.
        yield _mean(results, f"{prefix}affirm_share_of_statements", affirms, rows, group)
        yield _mean(results, f"{prefix}position_share", takes, rows, group)


def _volatility_scores(
    steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    pairs = position_changes(steps, column)
    for group, among in groups_of_changes(pairs):
        rows = pairs[among]
        chances = rows[rows["opportunity"]]
        none = len(rows) - len(chances)
        yield _mean(results, f"{prefix}volatility", chances["changed"], chances, group, none)
        changes = float(rows["changed"].sum())
        yield results.sample(chances["case_id"]).count(
            f"{prefix}changes", changes, group, n_invalid=none
        )


def _alternation_scores(
    steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    """How often judge 2 opposes judge 1 in the same round, and any judge the one before."""
    index = ["model", "debate_id", "case_id", "round"]
    wide = regular(steps).pivot_table(index=index, columns="seat", values=column, aggfunc="first")
    for first, second in pairwise(wide.columns):
        both = wide[[first, second]].replace(NO_STANCE_CODE, np.nan).dropna().reset_index()
        opposed, none = both[first] != both[second], len(wide) - len(both)
        yield _mean(results, f"{prefix}alternation", opposed, both, f"seats={first}-{second}", none)


def _influence_scores(
    chances: pd.DataFrame, prefix: str, results: ExperimentResults
) -> Iterator[Score]:
    """Shares of moves by who was opposed, and the odds of the human over the peer with both kinds
    of interval.
    """
    for opposed, rows in chances.groupby("opposed"):
        yield _mean(results, f"{prefix}moved", rows["moved"], rows, f"opposed={opposed}")
    if chances.empty:
        return
    moved, human, peer = (
        as_numbers(values)
        for values in (
            chances["moved"],
            chances["opposed"] == "human",
            chances["opposed"] == "peer",
        )
    )
    sample = results.sample(chances.loc[(human + peer) > 0, "case_id"])
    by_case = [results.clusters[case] for case in chances["case_id"]]
    for name, clusters in (("case", by_case), ("debate", list(chances["debate_id"]))):
        estimate = np.exp(
            ClusterBootstrap(clusters, results.seed).estimate(log_odds_ratio(moved, human, peer))
        )
        value, low, high = (float(end) for end in estimate)
        metric, group = f"{prefix}human_over_peer_odds", f"clusters={name}"
        yield Score(metric, value, low, high, group=group, n=sample.n, n_cases=sample.n_cases)


def _stance_scores(steps: pd.DataFrame, results: ExperimentResults) -> Iterator[Score]:
    """What the human's stance does to the AI judges: their mean where the human affirms less that
    where not, by round.

        The bank's stance is balanced within each case, so the difference is an effect; in the first
        round, before the human is heard, it can only be chance.
    """
    ai = regular(steps)[regular(steps)["speaker"] != HUMAN]
    for number, rows in ai[ai["condition"].isin(["affirm", "not affirm"])].groupby("round"):
        for metric, values in (
            ("stance_effect", rows["code"].where(rows["code"] != NO_STANCE_CODE)),
            ("vote_belief_stance_effect", rows["belief"]),
        ):
            known = values.notna()
            affirming, numbers = (
                as_numbers(rows.loc[known, "condition"] == "affirm"),
                as_numbers(values[known]),
            )
            if 0 < affirming.sum() < len(affirming):
                effect = _difference_of_means(numbers, affirming)
                sample = results.sample(rows.loc[known, "case_id"])
                yield sample.score(metric, effect, f"round={number}", n_invalid=int((~known).sum()))


def _difference_of_means(values: Floats, first: Floats) -> Statistic:
    def difference(weights: Floats) -> Floats:
        means = [ratio(weights @ (part * values), weights @ part) for part in (first, 1 - first)]
        return means[0] - means[1]

    return Statistic(difference, DIFFERENCE)


def _majority_scores(
    results: ExperimentResults, steps: pd.DataFrame, column: str, prefix: str
) -> Iterator[Score]:
    """How often the first and the last majority are what the real court did (a mixed outcome is not
    affirmed).
    """
    found = majorities(steps, column)
    for stage in ("first", "last"):
        decided = found[found[stage].notna()]
        right = (decided[stage] == 1) == (decided["case_id"].map(results.targets) == "affirm")
        metric, undecided = f"{prefix}majority_accuracy", len(found) - len(decided)
        yield _mean(results, metric, right, decided, f"majority={stage}", undecided)


_CITED = {
    "citations": "total",
    "unverifiable_citations": "unverifiable",
    "citations_in_case": "in_case",
}
_MEASURED: dict[str, Bounds] = {"words": AMOUNT, "repetition": SHARE, "confidence": (0.0, 100.0)}


def _wording_scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    wording = wording_by_step(results, steps)
    groups = {OVERALL: wording} | {
        f"round={number}": rows for number, rows in wording.groupby("round")
    }
    if len(human := wording[wording["speaker"] == HUMAN]):
        groups[f"speaker={HUMAN}"] = human
    for group, rows in groups.items():
        for metric, bounds in _MEASURED.items():
            if len(known := rows[rows[metric].notna()]):
                yield _mean(
                    results, f"statement_{metric}", known[metric], known, group, bounds=bounds
                )
        for name, column in _CITED.items():
            yield _mean(results, f"{name}_per_statement", rows[column], rows, group, bounds=AMOUNT)
        formed = ratio_statistic(rows["well_formed"], rows["total"], SHARE)
        share = results.sample(rows["case_id"]).score("well_formed_citations", formed, group)
        yield replace(share, n=int(rows["total"].sum()))


# Positions and their changes as people's labels correct them (`moot.scores.labels`), and shares of
# labels


@scorer("panel_labels")
def panel_label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Shares of labels by the human's stance, and corrected positions, by model; no rows for other
    experiments.
    """
    if not is_panel(results):
        return no_scores()
    steps = regular(panel_steps(results))
    return by_model(results, lambda model: _label_scores(results, steps[steps["model"] == model]))


def _label_scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    for condition in sorted(set(steps["condition"]) - {""}):
        yield from shares(
            results, steps[steps["condition"] == condition], LABELS, f"condition={condition}"
        )
    if (steps["inclusion"].notna() & steps["spoken"]).any():
        yield from _corrected_positions(results, steps)
        yield from _corrected_volatility(results, steps)


def _corrected_positions(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    """As `_position_scores` counts them, by round and seat."""
    for (number, seat), rows in steps.groupby(["round", "seat"]):
        group = f"round={number};seat={seat}"
        affirms = rows["predicted_code"] == AFFIRMED_CODE, rows["drawn_code"] == AFFIRMED_CODE
        takes = rows["predicted_code"] != NO_STANCE_CODE, rows["drawn_code"] != NO_STANCE_CODE
        yield from corrected_share(results, rows, "affirm_share_of_statements", group, *affirms)
        yield from corrected_share(results, rows, "position_share", group, *takes)
        sample = as_numbers(rows["inclusion"])
        corrected = corrected_ratio((affirms[0], takes[0]), (affirms[1], takes[1]), sample)
        deviates = rows["predicted_code"] != rows["drawn_code"]
        yield from corrected_score(results, rows, "affirm_share", group, corrected, deviates)


def _corrected_volatility(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    """Changes over chances to change."""
    pairs, observed = (
        position_changes(steps, "predicted_code"),
        position_changes(steps, "drawn_code"),
    )
    for group, among in groups_of_changes(pairs):
        rows, people = pairs[among], observed[among]
        corrected = corrected_ratio(
            (rows["changed"], rows["opportunity"]),
            (people["changed"], people["opportunity"]),
            as_numbers(rows["inclusion"]),
        )
        deviates = (rows["changed"] != people["changed"]) | (
            rows["opportunity"] != people["opportunity"]
        )
        yield from corrected_score(results, rows, "volatility", group, corrected, deviates)


# What contrasts between panels compare: how often judges change their positions, and towards whom


def _panel(results: ExperimentResults, model: str) -> pd.DataFrame:
    if not is_panel(results):
        raise UserError(
            f"contrast with a metric of panels: {results.experiment} is no appellate panel, or its"
            " statements have no labels. Name a panel, and give it `labelers`."
        )
    steps = panel_steps(results)
    return steps[steps["model"] == model]


@case_metric("volatility")
def volatility(results: ExperimentResults, model: str) -> Terms:
    """Share of an artificial judge's successive rounds, both with a position, between which the
    position changes.
    """
    pairs = position_changes(_panel(results, model))
    pairs = pairs[pairs["speaker"] != HUMAN]
    return _by_debate(pairs, pairs["changed"], pairs["opportunity"])


@case_metric("moves_to_human")
def moves_to_human(results: ExperimentResults, model: str) -> Terms:
    """Share of rounds in which an artificial judge whom the person alone opposes goes over to the
    person's position.
    """
    return _moves(results, model, HUMAN)


@case_metric("moves_to_peer")
def moves_to_peer(results: ExperimentResults, model: str) -> Terms:
    """Share of rounds in which an artificial judge whom the other artificial judge alone opposes
    goes over to that.
    """
    return _moves(results, model, "peer")


def _moves(results: ExperimentResults, model: str, opposed: str) -> Terms:
    chances = opposing_influences(_panel(results, model))
    among = chances["opposed"] == opposed
    return _by_debate(chances, chances["moved"] & among, among)


def _by_debate(rows: pd.DataFrame, tops: "pd.Series[bool]", bottoms: "pd.Series[bool]") -> Terms:
    """Counts summed within each debate."""
    counted = rows.assign(top=tops.astype(float), bottom=bottoms.astype(float))
    summed = (
        counted.groupby(["case_id", "debate_id"], sort=True)[["top", "bottom"]].sum().reset_index()
    )
    return Terms(
        list(summed["case_id"]), as_numbers(summed[["top"]]), as_numbers(summed[["bottom"]])
    )
