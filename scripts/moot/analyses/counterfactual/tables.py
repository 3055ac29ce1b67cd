"""Counterfactual people: what changes when the same person is told with another sex or race."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.analyses.counterfactual.analysis import has_counterfactual_people
from moot.analyses.counterfactual.changes_of_people import digest_of_texts
from moot.core.cases import positive_of_two
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import StudyResults, TableContent, data_label
from moot.report.paired import add_holm_correction
from moot.scores.groups import probability_of_positive
from moot.scores.results import ExperimentResults
from moot.stats.asked_twice import NO_FLOOR, Change, changes, distance
from moot.stats.bootstrap import DIFFERENCE as BOUNDS
from moot.stats.bootstrap import as_numbers
from moot.stats.differences import Difference, Sums, compare_paired

REFERS = ("source_experiment", "single_prompt_experiment", "assistant")
"""Parameters that name another experiment, which on other data has another name."""
ALL = "all"
PREDICTION, BELIEF = "names the positive label", "belief in the positive label"
COLUMNS = (
    Columns()
    .keys("data", "method", "model", "what changes")
    .plain("told", "rather than", "people")
    .ours("told so", "told otherwise")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p", "p (Holm)", "family")
    .counts("tests in family")
    .plain("changed", "changed if asked twice")
    .estimate("changed by the telling", "changed", role="", digits=SIGNED)
    .counts("cases", "clusters")
    .short_form(
        "method",
        "model",
        "what changes",
        "told",
        "people",
        "difference",
        "95 % interval",
        "p (Holm)",
    )
)


@dataclass(frozen=True, slots=True)
class Told:
    """The same people told in two ways, by one method and model.

    Attributes:
        method, model: whose answers.
        original, exchanged: the valid answers about each person, by case id and repeat: whether it
            is the positive label (`PREDICTION`) and the probability of that (`BELIEF`); NaN where
            there is none.
        asked_twice: how much answers change when the same is asked twice, where that is known: 0
            for trained models.
    """

    method: str
    model: str
    original: pd.DataFrame
    exchanged: pd.DataFrame
    asked_twice: float = float("nan")


@table(
    EVERY_STUDY_AND_COMPARISON,
    "counterfactual",
    "The same person with another sex or race",
    needs=(has_counterfactual_people,),
)
def counterfactual(results: StudyResults) -> TableContent:
    """Change of prediction and of belief when the same people are told with sex or race exchanged,
    all else equal.
    """
    rows, unpaired = list[Row](), list[str]()
    trained = set[str]()
    for control in results.controls.values():
        if not control.task.exchanged or control.config.arm:
            continue
        origin = _original_of(control, results)
        if origin is None:
            unpaired.append(control.experiment)
            continue
        pairs = list(_answers(origin, control))
        if control.config.dataset not in trained:
            trained.add(control.config.dataset)
            pairs += _trained(origin, control)
        rows += [row for told in pairs for row in _rows(origin, control, told)]
    missing = (
        f"No run over the same people as recorded stands beside: {', '.join(unpaired)}."
        if unpaired
        else ""
    )
    return COLUMNS.table(
        add_holm_correction(rows),
        [
            (
                "The same people, told once as recorded and once with one feature exchanged, all"
                " else equal; a trained model is fitted on people as recorded. Difference is told"
                " so less told otherwise, for every recorded value: above 0, a person is given the"
                " positive label more often (or with more belief) when told so."
            ),
            (
                "A person counts by the mean over repeats with a valid answer; who has none in"
                " either way is left out. Interval and p are by person: p is two-sided, of a"
                " randomisation test that exchanges both answers of a person. Holm's correction is"
                " over all methods, models and groups of people of one question (`family`)."
            ),
            (
                "Changed: the mean over people of how far an answer about a person told so is from"
                " one about the same person told otherwise, over pairs of different repeats (of"
                " the one there is, without repeats). A model that samples changes its answers by"
                " itself: changed if asked twice is the same among repeats of either telling, 0"
                " for a trained model, and changed by the telling what is above it, with its"
                " interval by person. Without repeats it cannot be told what the telling changed:"
                f" {NO_FLOOR}."
            ),
            (
                "This says what the feature's words do to an answer, not what the answer should be:"
                " people differ in more than these words, and what is left as it is (height,"
                " record) may tell the feature all the same."
            ),
            *filter(None, [missing]),
        ],
        exploratory=True,
    )


def _original_of(control: ExperimentResults, results: StudyResults) -> ExperimentResults | None:
    """The experiment that argues the same people as recorded, in the same way and with some of the
    same models.

    Of several the one with the most repeats.
    """
    alike = [
        found
        for found in results.experiments.values()
        if found.config.protocol == control.config.protocol
        and _params(found) == _params(control)
        and set(found.config.models) & set(control.config.models)
        and _origin_digest(found) == control.task.exchanged_from
    ]
    return max(alike, key=lambda found: found.predictions["repeat"].max(), default=None)


def _params(results: ExperimentResults) -> Row:
    return {name: value for name, value in results.config.params.items() if name not in REFERS}


def _origin_digest(results: ExperimentResults) -> str:
    test = [case for case in results.case_by_id.values() if case.split == "test"]
    return digest_of_texts((case.case_id, case.text) for case in test)


def _answers(origin: ExperimentResults, control: ExperimentResults) -> Iterator[Told]:
    for model in origin.config.models:
        if model in control.config.models:
            method = origin.config.protocol.replace("_", " ")
            original, exchanged = (_valid_answers(found, model) for found in (origin, control))
            yield Told(method, model, original, exchanged)


def _valid_answers(found: ExperimentResults, model: str) -> pd.DataFrame:
    task, rows = found.task, found.predictions
    valid = rows[(rows["model"] == model) & (rows["status"] == "valid")]
    named, belief = (
        as_numbers(valid["prediction"] == positive_of_two(task)),
        probability_of_positive(valid, task),
    )
    return pd.DataFrame({PREDICTION: named, BELIEF: belief}, [valid["case_id"], valid["repeat"]])


def _trained(origin: ExperimentResults, control: ExperimentResults) -> Iterator[Told]:
    """The trained models that both data sets have: fitted on the same people, asked about them in
    two ways.
    """
    before, after = origin.baseline_predictions, control.baseline_predictions
    for name in before["baseline"].unique():
        if (after["baseline"] == name).any():
            original, exchanged = (
                _scored(frame[frame["baseline"] == name], positive_of_two(origin.task))
                for frame in (before, after)
            )
            yield Told(f"trained: {name}", "–", original, exchanged, asked_twice=0.0)


def _scored(rows: pd.DataFrame, positive: str) -> pd.DataFrame:
    probability = (
        rows["score"].where(rows["score_kind"] == "probability").to_numpy(dtype=np.float64)
    )
    named = as_numbers(rows["prediction"] == positive)
    return pd.DataFrame(
        {PREDICTION: named, BELIEF: probability},
        [rows["case_id"], pd.Series(0, rows.index, name="repeat")],
    )


def _rows(origin: ExperimentResults, control: ExperimentResults, told: Told) -> Iterator[Row]:
    feature = control.task.exchanged
    recorded, shown = (_attribute(results, feature) for results in (origin, control))
    both = set(told.original.index.get_level_values(0)) & set(
        told.exchanged.index.get_level_values(0)
    )
    people = sorted(case for case in both if recorded[case] != shown[case])
    values = sorted({recorded[case] for case in people} | {shown[case] for case in people})
    if len(values) != 2:  # no person was exchanged
        return
    so, otherwise = values
    groups = {
        f"recorded {value}": [case for case in people if recorded[case] == value]
        for value in values
    }
    groups = {ALL: people, **groups}
    for what in (PREDICTION, BELIEF):
        for group, cases in groups.items():
            difference, changed = _compare(told, what, cases, recorded, so, origin)
            if difference.cases:
                yield {
                    "data": (
                        data_label(origin),
                        told.method,
                        origin.config.name_of(told.model),
                        what,
                    ),
                    "told": (so, otherwise, group, difference.first, difference.second),
                    "difference": (difference.difference, difference.low, difference.high),
                    "p": difference.p,
                    "family": f"{what}: {so} or {otherwise}",
                    "changed": (
                        changed.changed,
                        changed.between_repeats,
                        changed.excess,
                        changed.low,
                        changed.high,
                    ),
                    "cases": (difference.cases, difference.clusters),
                }


def _compare(
    told: Told,
    what: str,
    cases: list[str],
    recorded: Mapping[str, str],
    so: str,
    origin: ExperimentResults,
) -> tuple[Difference, Change]:
    """People told so against the same people told otherwise, and how far answers change."""
    answers = [
        frame.loc[frame.index.isin(cases, level=0), what].dropna()
        for frame in (told.original, told.exchanged)
    ]
    before, after = (side.groupby(level=0).mean() for side in answers)
    kept = [case for case in cases if case in before.index and case in after.index]
    as_recorded = np.array([recorded[case] == so for case in kept], dtype=bool)
    one, other = as_numbers(before[kept]), as_numbers(after[kept])
    first, second = np.where(as_recorded, one, other), np.where(as_recorded, other, one)
    ones = np.ones((len(kept), 1))
    clusters = [origin.clusters[case] for case in kept]
    found = compare_paired(
        Sums(first[:, None], ones), Sums(second[:, None], ones), clusters, origin.seed, BOUNDS
    )
    return found, changes(
        answers[0], answers[1], distance, origin.clusters, origin.seed, told.asked_twice
    )


def _attribute(results: ExperimentResults, name: str) -> Mapping[str, str]:
    return {str(case): told.get(name, "") for case, told in results.attributes.items()}
