"""Shares of labels by the human's stance, and positions and their changes as people's labels correct them.

What every study counts of labels is in `moot.scores.labels`, with what corrected scores are.
"""

from collections.abc import Iterator

import pandas as pd

from moot.scores import by_model, no_scores, scorer
from moot.scores.labels import corrected_score, corrected_share, shares
from moot.scores.results import ExperimentResults, Score
from moot.stats.bootstrap import as_numbers
from moot.stats.prediction_powered import corrected_ratio
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, LABELS, NO_STANCE_CODE
from moot.studies.appellate.panel_steps import groups_of_changes, is_panel, panel_steps, position_changes, regular


@scorer("panel_labels")
def panel_label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Shares of labels by the human's stance, and corrected positions, by model; no rows for other experiments."""
    if not is_panel(results):
        return no_scores()
    steps = regular(panel_steps(results))
    return by_model(results, lambda model: _scores(results, steps[steps["model"] == model]))


def _scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    for condition in sorted(set(steps["condition"]) - {""}):
        yield from shares(results, steps[steps["condition"] == condition], LABELS, f"condition={condition}")
    if (steps["inclusion"].notna() & steps["spoken"]).any():
        yield from _positions(results, steps)
        yield from _volatility(results, steps)


def _positions(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    """As `moot.studies.appellate.scores_panel` counts positions, by round and seat."""
    for (number, seat), rows in steps.groupby(["round", "seat"]):
        group = f"round={number};seat={seat}"
        affirms = rows["predicted_code"] == AFFIRMED_CODE, rows["drawn_code"] == AFFIRMED_CODE
        takes = rows["predicted_code"] != NO_STANCE_CODE, rows["drawn_code"] != NO_STANCE_CODE
        yield from corrected_share(results, rows, "affirm_share_of_statements", group, *affirms)
        yield from corrected_share(results, rows, "position_share", group, *takes)
        sample = as_numbers(rows["inclusion"])
        ratio = corrected_ratio((affirms[0], takes[0]), (affirms[1], takes[1]), sample)
        deviates = rows["predicted_code"] != rows["drawn_code"]
        yield from corrected_score(results, rows, "affirm_share", group, ratio, deviates)


def _volatility(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    """Changes over chances to change."""
    pairs, observed = position_changes(steps, "predicted_code"), position_changes(steps, "drawn_code")
    for group, among in groups_of_changes(pairs):
        rows, people = pairs[among], observed[among]
        ratio = corrected_ratio(
            (rows["changed"], rows["opportunity"]),
            (people["changed"], people["opportunity"]),
            as_numbers(rows["inclusion"]),
        )
        deviates = (rows["changed"] != people["changed"]) | (rows["opportunity"] != people["opportunity"])
        yield from corrected_score(results, rows, "volatility", group, ratio, deviates)
