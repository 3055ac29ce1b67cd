"""Scores of appellate panels: positions by step, volatility, majorities, whom a judge follows, citations, repetition.

What a step and a change are: `moot.studies.appellate.panel_steps`.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from moot.core.kinds import EXTRA, OVERRUN
from moot.core.types import Column
from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import ExperimentResults, Score
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
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, NO_STANCE_CODE
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

SOURCES = ("", "vote_")


def log_odds_ratio(moved: Floats, human: Floats, peer: Floats) -> Statistic:
    """The logarithm of the odds of moving where the human alone is opposed, over those where the peer alone is.

    Half a move and half a stay are added on each side (Haldane, Anscombe), so that no count of zero makes it infinite.
    """

    def ratio_of_odds(weights: Floats) -> Floats:
        def odds(group: Floats) -> Floats:
            return (weights @ (group * moved) + 0.5) / (weights @ (group * (1 - moved)) + 0.5)

        both = (weights @ human > 0) & (weights @ peer > 0)
        return np.where(both, np.log(odds(human) / odds(peer)), np.nan)

    return Statistic(ratio_of_odds, rows=(human + peer) > 0)


@scorer("panel")
def panel_scores(results: ExperimentResults) -> pd.DataFrame:
    """Scores of an appellate panel by model; no rows for other experiments, and for those without labels."""
    if not is_panel(results):
        return concat_scores([])
    steps = panel_steps(results)
    return concat_scores(
        to_frame(results.experiment, model, _scores(results, steps[steps["model"] == model]))
        for model in results.config.models
    )


def _scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    if steps.empty:
        return
    sources = [prefix for prefix in SOURCES if not prefix or (steps["vote"] != NO_STANCE_CODE).any()]
    for prefix in sources:
        column = "vote" if prefix else "code"
        yield from _position_scores(steps, column, prefix, results)
        yield from _volatility_scores(steps, column, prefix, results)
        yield from _alternation_scores(steps, column, prefix, results)
        yield from _influence_scores(opposing_influences(steps, column), prefix, results)
        yield from _majority_scores(results, steps, column, prefix)
    yield from _stance_scores(steps, results)
    yield from _overrun_scores(steps, results)
    yield from _wording_scores(results, steps)


def _estimate(
    metric: str,
    values: Column,
    cases: "pd.Series[str]",
    results: ExperimentResults,
    group: str,
    invalid: int = 0,
    bounds: Bounds = SHARE,
) -> Score:
    return results.sample(cases).score(metric, mean_statistic(values, bounds), group, n_invalid=invalid)


def _position_scores(steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    for (number, seat), rows in regular(steps).groupby(["round", "seat"]):
        positions = rows[rows[column] != NO_STANCE_CODE]
        group, none = f"round={number};seat={seat}", len(rows) - len(positions)
        yield _estimate(
            f"{prefix}affirm_share", positions[column] == AFFIRMED_CODE, positions["case_id"], results, group, none
        )
        # As the paper counts: a statement without a position is one that does not affirm.
        yield _estimate(
            f"{prefix}affirm_share_of_statements", rows[column] == AFFIRMED_CODE, rows["case_id"], results, group
        )
        yield _estimate(f"{prefix}position_share", rows[column] != NO_STANCE_CODE, rows["case_id"], results, group)


def _volatility_scores(steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    pairs = position_changes(steps, column)
    for group, among in groups_of_changes(pairs):
        rows = pairs[among]
        chances = rows[rows["opportunity"]]
        none = len(rows) - len(chances)
        yield _estimate(f"{prefix}volatility", chances["changed"], chances["case_id"], results, group, none)
        changes = float(rows["changed"].sum())
        yield results.sample(chances["case_id"]).count(f"{prefix}changes", changes, group, n_invalid=none)
        through = float(rows["through_none"].sum())
        yield results.sample(rows["case_id"]).count(f"{prefix}transitions_through_none", through, group)


def _alternation_scores(steps: pd.DataFrame, column: str, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    """How often judge 2 opposes judge 1 in the same round, and any judge the one before."""
    held = regular(steps)
    index = ["model", "debate_id", "case_id", "round"]
    wide = held.pivot_table(index=index, columns="seat", values=column, aggfunc="first")
    for first, second in zip(wide.columns[:-1], wide.columns[1:], strict=True):
        both = wide[[first, second]].replace(NO_STANCE_CODE, np.nan).dropna().reset_index()
        opposed = both[first] != both[second]
        yield _estimate(
            f"{prefix}alternation", opposed, both["case_id"], results, f"seats={first}-{second}", len(wide) - len(both)
        )


def _influence_scores(chances: pd.DataFrame, prefix: str, results: ExperimentResults) -> Iterator[Score]:
    """Shares of moves by who was opposed, and the odds of the human over the peer with both kinds of interval."""
    for opposed, rows in chances.groupby("opposed"):
        yield _estimate(f"{prefix}moved", rows["moved"], rows["case_id"], results, f"opposed={opposed}")
    if chances.empty:
        return
    moved, human, peer = (
        as_numbers(values) for values in (chances["moved"], chances["opposed"] == "human", chances["opposed"] == "peer")
    )
    compared = (human + peer) > 0
    sample = results.sample(chances.loc[compared, "case_id"])
    by_case = [results.clusters[case] for case in chances["case_id"]]
    for name, clusters in (("case", by_case), ("debate", list(chances["debate_id"]))):
        estimate = np.exp(ClusterBootstrap(clusters, results.seed).estimate(log_odds_ratio(moved, human, peer)))
        value, low, high = (float(end) for end in estimate)
        metric, group = f"{prefix}human_over_peer_odds", f"clusters={name}"
        yield Score(metric, value, low, high, group=group, n=sample.n, n_cases=sample.n_cases)


def _stance_scores(steps: pd.DataFrame, results: ExperimentResults) -> Iterator[Score]:
    """What the human's stance does to the AI judges: their mean where the human affirms less that where not, by round.

    The bank's stance is balanced within each case, so the difference is an effect; in the first round, before the human
    is heard, it can only be chance.
    """
    ai = regular(steps)[regular(steps)["speaker"] != HUMAN]
    for number in sorted(ai["round"].unique()):
        now = ai[(ai["round"] == number) & ai["condition"].isin(["affirm", "not affirm"])]
        for metric, values in (
            ("stance_effect", now["code"].where(now["code"] != NO_STANCE_CODE)),
            ("vote_belief_stance_effect", now["belief"]),
        ):
            known = values.notna()
            if now.loc[known, "condition"].nunique() > 1:
                yield _difference(metric, values[known], now[known], results, f"round={number}", int((~known).sum()))


def _difference(
    metric: str, values: Column, rows: pd.DataFrame, results: ExperimentResults, group: str, invalid: int
) -> Score:
    affirming = as_numbers(rows["condition"] == "affirm")
    numbers = as_numbers(values)

    def difference(weights: Floats) -> Floats:
        with_affirm = ratio(weights @ (affirming * numbers), weights @ affirming)
        return with_affirm - ratio(weights @ ((1 - affirming) * numbers), weights @ (1 - affirming))

    sample = results.sample(rows["case_id"])
    return sample.score(metric, Statistic(difference, DIFFERENCE), group, n_invalid=invalid)


def _majority_scores(results: ExperimentResults, steps: pd.DataFrame, column: str, prefix: str) -> Iterator[Score]:
    """How often the first and the last majority are what the real court did (a mixed outcome is not affirmed)."""
    targets = results.cases.set_index("case_id")["target"]
    found = majorities(steps, column)
    truth = found["case_id"].map(targets) == "affirm"
    for stage in ("first", "last"):
        decided = found[stage].notna()
        right = (found.loc[decided, stage] == 1) == truth[decided]
        undecided = int((~decided).sum())
        yield _estimate(
            f"{prefix}majority_accuracy", right, found.loc[decided, "case_id"], results, f"majority={stage}", undecided
        )


def _overrun_scores(steps: pd.DataFrame, results: ExperimentResults) -> Iterator[Score]:
    debates = steps.groupby("debate_id").agg(
        case_id=("case_id", "first"), overrun=("kind", lambda kinds: (kinds == "overrun").any())
    )
    yield _estimate("debates_overrunning", debates["overrun"], debates["case_id"], results, "overall")
    held = regular(steps)
    yield results.sample(held["case_id"]).count("missing_statements", float((held["text"] == "").sum()))
    spoken = results.sample(steps["case_id"])
    yield spoken.count("extra_statements", float((steps["kind"] == EXTRA).sum()))
    yield spoken.count("overrun_statements", float((steps["kind"] == OVERRUN).sum()))


def _wording_scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    wording = wording_by_step(results, steps)
    groups: list[tuple[str, pd.DataFrame]] = [("overall", wording)]
    groups += [(f"round={number}", rows) for number, rows in wording.groupby("round")]
    groups += (
        [(f"speaker={HUMAN}", wording[wording["speaker"] == HUMAN])] if (wording["speaker"] == HUMAN).any() else []
    )
    for group, rows in groups:
        for metric, bounds in (("words", AMOUNT), ("repetition", SHARE), ("confidence", (0.0, 100.0))):
            known = rows[rows[metric].notna()]
            if len(known):
                yield _estimate(f"statement_{metric}", known[metric], known["case_id"], results, group, bounds=bounds)
        for name, column in (
            ("citations", "total"),
            ("unverifiable_citations", "unverifiable"),
            ("citations_in_case", "in_case"),
        ):
            yield _estimate(f"{name}_per_statement", rows[column], rows["case_id"], results, group, bounds=AMOUNT)
        formed = ratio_statistic(rows["well_formed"], rows["total"], SHARE)
        share = results.sample(rows["case_id"]).score("well_formed_citations", formed, group)
        yield replace(share, n=int(rows["total"].sum()))
