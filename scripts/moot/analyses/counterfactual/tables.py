"""Counterfactual people: answers if the same person is described with another sex or race."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from moot.analyses.counterfactual.analysis import has_counterfactual_people
from moot.core.cases import positive_of_two
from moot.datasets.people.exchange import digest_of_texts
from moot.report import EVERY_STUDY_AND_COMPARISON, table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.notes import data_label
from moot.report.paired_cells import add_holm_correction
from moot.report.study_results import StudyResults
from moot.scores.groups import probability_of_positive
from moot.scores.results import ExperimentResults
from moot.stats.arrays import as_numbers
from moot.stats.asked_twice import NO_FLOOR, Change, changes, distance
from moot.stats.differences import PAIRED_NOTE, Difference, Sums, compare_paired
from moot.stats.statistic import DIFFERENCE as BOUNDS

REFERENCE_PARAMS = ("source_experiment", "single_prompt_experiment", "assistant")
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
)


@dataclass(frozen=True, slots=True)
class TellingPair:
    """Answers about the same people in two descriptions, by one method and model.

    Attributes:
        method, model: the method and the model of the answers.
        original, exchanged: the valid answers about each person, by case id and repeat: whether an
            answer is the positive label (`PREDICTION`) and the probability of that label
            (`BELIEF`); NaN if missing.
        asked_twice: the change between repeats if it is known without repeats: 0 for trained
            models.
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
def counterfactual_table(results: StudyResults) -> TableContent:
    """Change of prediction and belief if the same people are described with another sex or race."""
    rows, unpaired = list[Row](), list[str]()
    trained = set[str]()
    for control in results.controls.values():
        if not control.task.exchanged or control.config.control:
            continue
        origin = _find_original(control, results)
        if origin is None:
            unpaired.append(control.experiment)
            continue
        pairs = list(_debate_pairs(origin, control))
        if control.config.dataset not in trained:
            trained.add(control.config.dataset)
            pairs += _trained_pairs(origin, control)
        for pair in pairs:
            rows += _rows(origin, control, pair)
    missing = (
        f"No run over the same people as recorded exists for: {', '.join(unpaired)}."
        if unpaired
        else ""
    )
    return COLUMNS.table(
        add_holm_correction(rows),
        [
            (
                "The same people are described once as recorded and once with one feature"
                " exchanged, all else equal; a trained model is fitted on people as recorded."
                " Difference is `told so` less `told otherwise`, for every recorded value. Above"
                " 0, a person described in this way is given the positive label more often (or"
                " with more belief)."
            ),
            (
                "A person counts by the mean over repeats with a valid answer; people without a"
                f" valid answer to either description are left out. {PAIRED_NOTE}"
                " Holm's correction is over all methods, models and groups of people of one"
                " question (`family`)."
            ),
            (
                "`changed`: the mean distance between answers about a person in the two "
                "descriptions, over pairs of different repeats (or the only one) and over "
                "people. A model that samples gives varying answers: `changed if asked twice` is "
                "this distance among repeats of either description (0 for a trained model), and "
                "`changed by the telling` is the excess over it, with its interval by person. "
                f"Without repeats the effect of the description is unknown: {NO_FLOOR}."
            ),
            (
                "This measures the effect of the feature's words on an answer, not what the "
                "answer should be. People differ in more than these words, and unchanged "
                "features (height, record) may still reveal the feature."
            ),
            *filter(None, [missing]),
        ],
        exploratory=True,
    )


def _find_original(control: ExperimentResults, results: StudyResults) -> ExperimentResults | None:
    """Return the experiment that argues the same people as recorded, in the same way.

    It uses some of the control's models; of several experiments it is the one with the most
    repeats.
    """
    candidates = [
        experiment
        for experiment in results.experiments.values()
        if experiment.config.protocol == control.config.protocol
        and _params(experiment) == _params(control)
        and set(experiment.config.models) & set(control.config.models)
        and _origin_digest(experiment) == control.task.exchanged_from
    ]
    return max(
        candidates, key=lambda experiment: experiment.predictions["repeat"].max(), default=None
    )


def _params(results: ExperimentResults) -> Row:
    return {
        name: value for name, value in results.config.params.items() if name not in REFERENCE_PARAMS
    }


def _origin_digest(results: ExperimentResults) -> str:
    test = [case for case in results.case_by_id.values() if case.split == "test"]
    return digest_of_texts((case.case_id, case.text) for case in test)


def _debate_pairs(origin: ExperimentResults, control: ExperimentResults) -> Iterator[TellingPair]:
    for model in origin.config.models:
        if model in control.config.models:
            method = origin.config.protocol.replace("_", " ")
            original = _valid_answers(origin, model)
            yield TellingPair(method, model, original, _valid_answers(control, model))


def _valid_answers(results: ExperimentResults, model: str) -> pd.DataFrame:
    task, rows = results.task, results.predictions
    valid = rows[(rows["model"] == model) & (rows["status"] == "valid")]
    is_positive = as_numbers(valid["prediction"] == positive_of_two(task))
    belief = probability_of_positive(valid, task)
    return pd.DataFrame(
        {PREDICTION: is_positive, BELIEF: belief}, [valid["case_id"], valid["repeat"]]
    )


def _trained_pairs(origin: ExperimentResults, control: ExperimentResults) -> Iterator[TellingPair]:
    """Yield the trained models that both data sets have, with their answers to each.

    The models are fitted on the same people, and asked about them in two ways.
    """
    original_predictions = origin.baseline_predictions
    exchanged_predictions = control.baseline_predictions
    for name in original_predictions["baseline"].unique():
        if (exchanged_predictions["baseline"] == name).any():
            original, exchanged = (
                _trained_answers(frame[frame["baseline"] == name], positive_of_two(origin.task))
                for frame in (original_predictions, exchanged_predictions)
            )
            yield TellingPair(f"trained: {name}", "–", original, exchanged, asked_twice=0.0)


def _trained_answers(rows: pd.DataFrame, positive: str) -> pd.DataFrame:
    probability = (
        rows["score"].where(rows["score_kind"] == "probability").to_numpy(dtype=np.float64)
    )
    is_positive = as_numbers(rows["prediction"] == positive)
    return pd.DataFrame(
        {PREDICTION: is_positive, BELIEF: probability},
        [rows["case_id"], pd.Series(0, rows.index, name="repeat")],
    )


def _rows(
    origin: ExperimentResults, control: ExperimentResults, pair: TellingPair
) -> Iterator[Row]:
    feature = control.task.exchanged
    recorded, exchanged = (_attribute(results, feature) for results in (origin, control))
    both = set(pair.original.index.get_level_values(0)) & set(
        pair.exchanged.index.get_level_values(0)
    )
    people = sorted(case for case in both if recorded[case] != exchanged[case])
    values = sorted({recorded[case] for case in people} | {exchanged[case] for case in people})
    if len(values) != 2:  # no person was exchanged
        return
    first_value, second_value = values
    groups = {ALL: people}
    for value in values:
        groups[f"recorded {value}"] = [case for case in people if recorded[case] == value]
    for measure in (PREDICTION, BELIEF):
        for group, cases in groups.items():
            difference, changed = _compare(pair, measure, cases, recorded, first_value, origin)
            if difference.cases:
                yield {
                    "data": data_label(origin),
                    "method": pair.method,
                    "model": origin.config.name_of(pair.model),
                    "what changes": measure,
                    "told": first_value,
                    "rather than": second_value,
                    "people": group,
                    "told so": difference.first,
                    "told otherwise": difference.second,
                    "difference": (difference.difference, difference.low, difference.high),
                    "p": difference.p,
                    "family": f"{measure}: {first_value} or {second_value}",
                    "changed": changed.changed,
                    "changed if asked twice": changed.between_repeats,
                    "changed by the telling": (changed.excess, changed.low, changed.high),
                    "cases": difference.cases,
                    "clusters": difference.clusters,
                }


def _compare(
    pair: TellingPair,
    measure: str,
    cases: list[str],
    recorded: Mapping[str, str],
    telling: str,
    origin: ExperimentResults,
) -> tuple[Difference, Change]:
    """Measure how far answers change between the two descriptions of the same people."""
    answers = [
        frame.loc[frame.index.isin(cases, level=0), measure].dropna()
        for frame in (pair.original, pair.exchanged)
    ]
    original, exchanged = (side.groupby(level=0).mean() for side in answers)
    common_cases = [case for case in cases if case in original.index and case in exchanged.index]
    as_recorded = np.array([recorded[case] == telling for case in common_cases], dtype=bool)
    original_means = as_numbers(original[common_cases])
    exchanged_means = as_numbers(exchanged[common_cases])
    first = np.where(as_recorded, original_means, exchanged_means)
    second = np.where(as_recorded, exchanged_means, original_means)
    weights = np.ones((len(common_cases), 1))
    clusters = [origin.clusters[case] for case in common_cases]
    difference = compare_paired(
        Sums(first[:, None], weights), Sums(second[:, None], weights), clusters, BOUNDS
    )
    return difference, changes(answers[0], answers[1], distance, origin.clusters, pair.asked_twice)


def _attribute(results: ExperimentResults, name: str) -> Mapping[str, str]:
    return {str(case): attributes.get(name, "") for case, attributes in results.attributes.items()}
