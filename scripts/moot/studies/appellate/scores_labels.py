"""Shares of labels in appellate panels, and shares and changes of positions as people's labels correct them.

Raw scores use the one label that counts for each statement. `corrected_...` scores estimate what people
would say of all statements (`moot.stats.prediction_powered`); they exist where people have labelled a drawn sample
(`moot.labels.sample`), and nowhere else. Their n counts the statements, or pairs of them, that people labelled.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from moot.scores import concat_scores, scorer, to_frame
from moot.scores.results import OVERALL, ExperimentResults, Score
from moot.stats.bootstrap import Statistic, as_numbers, share_statistic
from moot.stats.prediction_powered import corrected_mean, corrected_ratio, estimate_share
from moot.studies.appellate.legal.rubric import AFFIRMED_CODE, LABELS, NO_STANCE_CODE
from moot.studies.appellate.panel_steps import groups_of_changes, is_panel, panel_steps, position_changes, regular

CORRECTED = "corrected_"
"""How the names of corrected scores begin."""


@scorer("panel_labels")
def label_scores(results: ExperimentResults) -> pd.DataFrame:
    """Shares of labels, and corrected shares of labels and positions, by model; no rows for other experiments."""
    if not is_panel(results):
        return concat_scores([])
    steps = regular(panel_steps(results))
    steps = steps.assign(spoken=steps["text"].str.strip() != "")
    return concat_scores(
        to_frame(results.experiment, model, _scores(results, steps[steps["model"] == model]))
        for model in results.config.models
    )


def _scores(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    corrects = (steps["inclusion"].notna() & steps["spoken"]).any()
    for group, among in _groups_of_labels(steps):
        rows = steps[among]
        for label in LABELS:
            named = f"label={label}" if group == OVERALL else f"label={label};{group}"
            share = share_statistic(rows["label"] == label)
            yield results.sample(rows["case_id"]).score("label_share", share, named)
            if corrects:
                yield from _share(
                    results, rows, "label_share", named, rows["predicted"] == label, rows["drawn_label"] == label
                )
    if corrects:
        yield from _positions(results, steps)
        yield from _volatility(results, steps)


def _groups_of_labels(steps: pd.DataFrame) -> Iterator[tuple[str, "pd.Series[bool]"]]:
    yield OVERALL, pd.Series(True, steps.index)
    for number in sorted(steps["round"].unique()):
        yield f"round={number}", steps["round"] == number
    for condition in sorted(set(steps["condition"]) - {""}):
        yield f"condition={condition}", steps["condition"] == condition


def _positions(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    """As `moot.studies.appellate.scores_panel` counts positions, by round and seat."""
    for (number, seat), rows in steps.groupby(["round", "seat"]):
        group = f"round={number};seat={seat}"
        affirms = rows["predicted_code"] == AFFIRMED_CODE, rows["drawn_code"] == AFFIRMED_CODE
        takes = rows["predicted_code"] != NO_STANCE_CODE, rows["drawn_code"] != NO_STANCE_CODE
        yield from _share(results, rows, "affirm_share_of_statements", group, *affirms)
        yield from _share(results, rows, "position_share", group, *takes)
        sample = as_numbers(rows["inclusion"])
        ratio = corrected_ratio((affirms[0], takes[0]), (affirms[1], takes[1]), sample)
        deviates = rows["predicted_code"] != rows["drawn_code"]
        yield from _estimate(results, rows, "affirm_share", group, ratio, deviates)


def _volatility(results: ExperimentResults, steps: pd.DataFrame) -> Iterator[Score]:
    """Changes over chances to change. Both statements of a pair are of one unit, so one probability is that of both."""
    predicted, observed = position_changes(steps, "predicted_code"), position_changes(steps, "drawn_code")
    at = steps.set_index(["debate_id", "turn"])[["inclusion", "spoken"]]
    ends = [
        at.loc[pd.MultiIndex.from_frame(predicted[["debate_id", turn]])].reset_index()
        for turn in ("turn", "turn_after")
    ]
    pairs = predicted.assign(
        inclusion=np.minimum(ends[0]["inclusion"], ends[1]["inclusion"]), spoken=ends[0]["spoken"] | ends[1]["spoken"]
    )
    for group, among in groups_of_changes(pairs):
        rows, people = pairs[among], observed[among]
        ratio = corrected_ratio(
            (rows["changed"], rows["opportunity"]),
            (people["changed"], people["opportunity"]),
            as_numbers(rows["inclusion"]),
        )
        deviates = (rows["changed"] != people["changed"]) | (rows["opportunity"] != people["opportunity"])
        yield from _estimate(results, rows, "volatility", group, ratio, deviates)


def _share(
    results: ExperimentResults,
    rows: pd.DataFrame,
    metric: str,
    group: str,
    predicted: "pd.Series[bool]",
    observed: "pd.Series[bool]",
) -> Iterator[Score]:
    mean = corrected_mean(predicted, observed, as_numbers(rows["inclusion"]))
    yield from _estimate(results, rows, metric, group, mean, predicted != observed)


def _estimate(
    results: ExperimentResults,
    rows: pd.DataFrame,
    metric: str,
    group: str,
    statistic: Statistic,
    deviates: "pd.Series[bool]",
) -> Iterator[Score]:
    """The corrected score of a group; none where people labelled nothing of it."""
    drawn = rows[rows["inclusion"].notna() & rows["spoken"]]
    if len(drawn):
        sample = results.sample(rows["case_id"])
        value, low, high = estimate_share(sample.bootstrap, statistic, deviates)
        cases = drawn["case_id"].nunique()
        yield Score(f"{CORRECTED}{metric}", value, low, high, group=group, n=len(drawn), n_cases=cases)
