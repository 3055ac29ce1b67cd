"""Counterfactual people: what changes when the same person is told with another sex or race."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from moot.core.cases import positive_of_two
from moot.core.config import COMPARISON
from moot.datasets.people.exchange import digest_of_texts
from moot.report.content import EXCHANGED, StudyResults, TableContent, data_label
from moot.scores.groups import probability_of_positive
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import DIFFERENCE, as_numbers
from moot.stats.contrasts import Difference, Sums, compare_paired
from moot.stats.paired import holm
from moot.studies import table

REFERS = ("beside", "single", "assistant")
"""Parameters that name another experiment, which on other data has another name."""
ALL = "all"
PREDICTION, BELIEF = "names the positive label", "belief in the positive label"
COLUMNS = (
    "data",
    "method",
    "model",
    "what changes",
    "told",
    "rather than",
    "people",
    "told so",
    "told otherwise",
    "difference",
    "difference low",
    "difference high",
    "p",
    "p (Holm)",
    "tests",
    "changed",
    "cases",
    "clusters",
)


@dataclass(frozen=True, slots=True)
class Told:
    """The same people told in two ways, by one method and model.

    Attributes:
        method, model: whose answers.
        original, exchanged: of each person, by case id; share of positive answers (`PREDICTION`) and mean probability
            of the positive label (`BELIEF`), over the repeats with a valid answer; NaN where there is none.
    """

    method: str
    model: str
    original: pd.DataFrame
    exchanged: pd.DataFrame


def counterfactual(results: StudyResults) -> TableContent:
    """Each method and model, for all exchanged people and for those recorded with either value."""
    rows, unpaired = list[dict[str, Any]](), list[str]()
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
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    missing = f"No run over the same people as recorded stands beside: {', '.join(unpaired)}." if unpaired else ""
    return TableContent(
        frame.astype(dict.fromkeys(("cases", "clusters", "tests"), "Int64")),
        notes=[
            "The same people, told once as recorded and once with one feature exchanged, all else equal; a trained "
            "model is fitted on people as recorded. Difference is told so less told otherwise, whatever the record "
            "says: above 0, a person is given the positive label more often (or with more belief) when told so.",
            "A person counts by the mean over repeats with a valid answer; who has none in either way is left out. "
            "Interval and p are by person: p is two-sided, of a randomisation test that exchanges both answers of a "
            "person. Holm's correction is over the groups of people of one method, model and kind of change. Changed: "
            "the mean size of a person's change.",
            "This says what the feature's words do to an answer, not what the answer should be: people differ in more "
            "than these words, and what is left as it is (height, record) may tell the feature all the same.",
            *filter(None, [missing]),
        ],
        ours=("told so", "told otherwise"),
        difference=("difference", "difference low", "difference high"),
        intervals={"95 % interval": ("difference low", "difference high")},
        keys=("data", "method", "model", "what changes"),
        formats={"difference": "+.3f"},
        exploratory=True,
    )


for _study in ("courtroom", "feedback", COMPARISON):
    table(
        _study,
        "counterfactual",
        "The same person with another sex or race",
        "Change of prediction and of belief when the same people are told with sex or race exchanged, all else equal.",
        (EXCHANGED,),
    )(counterfactual)


def _original_of(control: ExperimentResults, results: StudyResults) -> ExperimentResults | None:
    """The experiment that argues the same people as recorded, in the same way and with some of the same models."""
    for found in results.experiments.values():
        alike = found.config.protocol == control.config.protocol and _params(found) == _params(control)
        if (
            alike
            and set(found.config.models) & set(control.config.models)
            and _origin_digest(found) == control.task.exchanged_from
        ):
            return found
    return None


def _params(results: ExperimentResults) -> dict[str, Any]:
    return {name: value for name, value in results.config.params.items() if name not in REFERS}


def _origin_digest(results: ExperimentResults) -> str:
    test = results.cases[results.cases["split"] == "test"]
    return digest_of_texts(zip(test["case_id"], test["text"], strict=True))


def _answers(origin: ExperimentResults, control: ExperimentResults) -> Iterator[Told]:
    for model in origin.config.models:
        if model in control.config.models:
            method = origin.config.protocol.replace("_", " ")
            yield Told(
                method,
                model,
                *(
                    _by_person(found, found.predictions[found.predictions["model"] == model])
                    for found in (origin, control)
                ),
            )


def _by_person(results: ExperimentResults, rows: pd.DataFrame) -> pd.DataFrame:
    valid = rows[rows["status"] == "valid"]
    positive = positive_of_two(results.task)
    named = (valid["prediction"] == positive).astype("float64")
    belief = pd.Series(probability_of_positive(valid, results.task), index=valid.index)
    frame = pd.DataFrame({PREDICTION: named, BELIEF: belief})
    return frame.groupby(valid["case_id"]).mean()


def _trained(origin: ExperimentResults, control: ExperimentResults) -> Iterator[Told]:
    """The trained models that both data sets have: fitted on the same people, asked about them in two ways."""
    before, after = origin.baseline_predictions, control.baseline_predictions
    for name in before["baseline"].unique():
        if (after["baseline"] == name).any():
            yield Told(
                f"trained: {name}",
                "–",
                *(_scored(frame[frame["baseline"] == name], positive_of_two(origin.task)) for frame in (before, after)),
            )


def _scored(rows: pd.DataFrame, positive: str) -> pd.DataFrame:
    probability = rows["score"].where(rows["score_kind"] == "probability").to_numpy(dtype=np.float64)
    named = as_numbers(rows["prediction"] == positive)
    return pd.DataFrame({PREDICTION: named, BELIEF: probability}, index=pd.Index(rows["case_id"], name="case_id"))


def _rows(origin: ExperimentResults, control: ExperimentResults, told: Told) -> Iterator[dict[str, Any]]:
    feature = control.task.exchanged
    recorded, shown = (_attribute(results, feature) for results in (origin, control))
    changed = sorted(
        case for case in told.original.index.intersection(told.exchanged.index) if recorded[case] != shown[case]
    )
    values = sorted({recorded[case] for case in changed} | {shown[case] for case in changed})
    if len(values) != 2:  # noqa: PLR2004 - nobody was exchanged
        return
    so, otherwise = values
    groups = {
        ALL: changed,
        **{f"recorded {value}": [case for case in changed if recorded[case] == value] for value in values},
    }
    for what in (PREDICTION, BELIEF):
        found = {group: _compare(told, what, cases, recorded, so, origin) for group, cases in groups.items()}
        found = {group: pair for group, pair in found.items() if pair[0].cases}
        adjusted = holm([pair[0].p for pair in found.values()])
        for (group, (difference, size)), p in zip(found.items(), adjusted, strict=True):
            yield {
                "data": data_label(origin),
                "method": told.method,
                "model": origin.config.name_of(told.model),
                "what changes": what,
                "told": so,
                "rather than": otherwise,
                "people": group,
                "told so": difference.first,
                "told otherwise": difference.second,
                "difference": difference.difference,
                "difference low": difference.low,
                "difference high": difference.high,
                "p": difference.p,
                "p (Holm)": p,
                "tests": len(found),
                "changed": size,
                "cases": difference.cases,
                "clusters": difference.clusters,
            }


def _compare(
    told: Told, what: str, cases: list[str], recorded: Mapping[str, str], so: str, origin: ExperimentResults
) -> tuple[Difference, float]:
    """People told so against the same people told otherwise, and the mean size of the change."""
    before, after = told.original.loc[cases, what], told.exchanged.loc[cases, what]
    known = (before.notna() & after.notna()).to_numpy()
    kept = [case for case, there in zip(cases, known, strict=True) if there]
    as_recorded = np.array([recorded[case] == so for case in kept], dtype=bool)
    one, other = as_numbers(before[known]), as_numbers(after[known])
    first, second = np.where(as_recorded, one, other), np.where(as_recorded, other, one)
    ones = np.ones((len(kept), 1))
    clusters = [origin.clusters[case] for case in kept]
    found = compare_paired(Sums(first[:, None], ones), Sums(second[:, None], ones), clusters, origin.seed, DIFFERENCE)
    return found, float(np.abs(first - second).mean()) if kept else float("nan")


def _attribute(results: ExperimentResults, name: str) -> Mapping[str, str]:
    cases = results.cases
    return {
        case: attributes.get(name, "") for case, attributes in zip(cases["case_id"], cases["attributes"], strict=True)
    }
