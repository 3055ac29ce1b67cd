"""What contrasts between appellate panels compare: how often judges change their positions, and towards whom."""

import pandas as pd

from moot.core.errors import UserError
from moot.scores.case_metrics import Terms, case_metric
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import as_numbers
from moot.studies.appellate.panel_steps import HUMAN, is_panel, opposing_influences, panel_steps, position_changes


def _panel(results: ExperimentResults, model: str) -> pd.DataFrame:
    if not is_panel(results):
        raise UserError(
            f"contrast with a metric of panels: {results.experiment} is no appellate panel, or its statements have no "
            "labels. Name a panel, and give it `labelers`."
        )
    steps = panel_steps(results)
    return steps[steps["model"] == model]


@case_metric("volatility")
def volatility(results: ExperimentResults, model: str) -> Terms:
    """Share of an artificial judge's successive rounds, both with a position, between which the position changes."""
    pairs = position_changes(_panel(results, model))
    pairs = pairs[pairs["speaker"] != HUMAN]
    return _by_debate(pairs, pairs["changed"], pairs["opportunity"])


@case_metric("moves_to_human")
def moves_to_human(results: ExperimentResults, model: str) -> Terms:
    """Share of rounds in which an artificial judge whom the person alone opposes goes over to the person's position."""
    return _moves(results, model, HUMAN)


@case_metric("moves_to_peer")
def moves_to_peer(results: ExperimentResults, model: str) -> Terms:
    """Share of rounds in which an artificial judge whom the other artificial judge alone opposes goes over to that."""
    return _moves(results, model, "peer")


def _moves(results: ExperimentResults, model: str, opposed: str) -> Terms:
    chances = opposing_influences(_panel(results, model))
    among = chances["opposed"] == opposed
    return _by_debate(chances, chances["moved"] & among, among)


def _by_debate(rows: pd.DataFrame, tops: "pd.Series[bool]", bottoms: "pd.Series[bool]") -> Terms:
    """Counts summed within each debate."""
    counted = rows.assign(top=tops.astype(float), bottom=bottoms.astype(float))
    summed = counted.groupby(["case_id", "debate_id"], sort=True)[["top", "bottom"]].sum().reset_index()
    return Terms(list(summed["case_id"]), as_numbers(summed[["top"]]), as_numbers(summed[["bottom"]]))
