"""The table `contamination`: recall and accuracy before and after a model's cut-off."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

from moot.analyses.contamination.protocol import (
    CONTINUATION,
    MAX_PROMPT_CHARACTERS,
    NAME,
    SEQUENCE,
    decided_after,
    is_recovered,
    measure_overlap,
    split_halves,
)
from moot.core.experiment_config import COMPARISON
from moot.core.utterance_kinds import UNUSABLE
from moot.report import table
from moot.report.columns import DIFFERENCE, SIGNED, Columns, Row
from moot.report.content import TableContent
from moot.report.study_results import Run, StudyResults
from moot.stats.arrays import as_numbers
from moot.stats.differences import UNPAIRED_NOTE, Sums, compare_unpaired
from moot.stats.paired import share_right
from moot.stats.statistic import SHARE

COLUMNS = (
    Columns()
    .keys("data", "model")
    .plain("stated cut-off", "what")
    .ours("all cases", "by chance", "before", "after")
    .estimate("difference", "difference", "95 % interval", DIFFERENCE, SIGNED)
    .plain("p")
    .counts("cases", "cases before", "cases after", "cases undated")
)


@table(COMPARISON, "contamination", "Has the model seen the cases?", protocols=("recall",))
def contamination(results: StudyResults) -> TableContent:
    """Recall of texts and masked names, and accuracy, before and after a model's stated cut-off."""
    runs = results.runs(results.find_experiments("recall"), Run)
    return COLUMNS.table(
        list(chain.from_iterable(map(_rows, runs))),
        [
            (
                f"Continuation: the share of the {SEQUENCE}-word sequences in the model's text "
                "that occur in the second half of the case but not in the first half, which it "
                "was shown. By chance: the same with the second half of another case. Masked "
                "names: how often the model gives the most frequent name, which is masked "
                "everywhere. Accuracy is over all experiments of this run about these cases with "
                "the model; an invalid answer counts as wrong."
            ),
            (
                "Difference is before less after the cut-off that the model's entry states."
                f" {UNPAIRED_NOTE} A case whose date is blank, or too coarse to say, is undated."
            ),
            (
                "Better continuations or names for earlier cases than for later ones show that "
                "text was learnt. Equal values do not show the opposite: a model may know a "
                "case's outcome but not its words. Higher accuracy on earlier cases may be "
                "learnt outcomes, or easier cases, other courts, or law that has changed. A "
                "stated cut-off is a claim of the model's maker, and later training may extend "
                "past it."
            ),
        ],
        exploratory=True,
    )


def _rows(run: Run) -> Iterator[Row]:
    params, cases = run.params, run.results.case_by_id
    cutoff = params["cutoffs"].get(run.model, "")
    for measure, (values, by_chance) in _measures(run).items():
        if values.empty:
            continue
        earlier_cases: list[str] = []
        later_cases: list[str] = []
        for case_id in values.index:
            date = cases[case_id].attributes.get(params["date"], "")
            is_later = decided_after(date, cutoff)
            if is_later is not None:
                (later_cases if is_later else earlier_cases).append(case_id)
        undated = len(values) - len(earlier_cases) - len(later_cases)
        yield {
            "data": run.data,
            "model": run.model_name,
            "stated cut-off": cutoff or "not stated",
            "what": measure,
            "all cases": float(values.mean()),
            "by chance": by_chance,
            **_compare(run, values, earlier_cases, later_cases),
            "cases": len(values),
            "cases before": len(earlier_cases),
            "cases after": len(later_cases),
            "cases undated": undated,
        }


def _measures(run: Run) -> dict[str, tuple["pd.Series[float]", float]]:
    """Return the values of each case by measure, each with its value by chance."""
    measures = {
        "continuation": _continuation_overlap(run),
        "masked names recovered": (_recovered_names(run), float("nan")),
    }
    for name, results in run.study.experiments.items():
        is_same_data = results.config.dataset == run.results.config.dataset
        if is_same_data and run.model in results.config.models and results.has_truth:
            predictions = replace(run, results=results).predictions
            measures[f"accuracy of {name}"] = (share_right(predictions), float("nan"))
    return measures


def _compare(
    run: Run, values: "pd.Series[float]", earlier_cases: Sequence[str], later_cases: Sequence[str]
) -> Row:
    """Return the cells of the means before and after the cut-off, and of their difference."""
    sides = [as_numbers(values[list(cases)])[:, None] for cases in (earlier_cases, later_cases)]
    before, after = (float(side.mean()) if len(side) else None for side in sides)
    means = {"before": before, "after": after}
    if not earlier_cases or not later_cases:
        return means
    first, second = (Sums(side, np.ones_like(side)) for side in sides)
    first_clusters = [run.results.clusters[case] for case in earlier_cases]
    second_clusters = [run.results.clusters[case] for case in later_cases]
    difference = compare_unpaired(first, second, first_clusters, second_clusters, SHARE)
    return {
        **means,
        "difference": (difference.difference, difference.low, difference.high),
        "p": difference.p,
    }


def _usable_utterances(run: Run, kind: str) -> pd.DataFrame:
    utterances = run.utterances(kind)
    return utterances[~utterances["parse_status"].isin(UNUSABLE)]


def _continuation_overlap(run: Run) -> tuple["pd.Series[float]", float]:
    """Return each continuation's overlap with the case's second half, and the overlap by chance.

    The latter is the mean overlap with the second half of the next case.
    """
    utterances = _usable_utterances(run, CONTINUATION)
    case_ids = sorted(utterances["case_id"].unique())
    halves = {
        case_id: split_halves(run.results.case_by_id[case_id].text[: 2 * MAX_PROMPT_CHARACTERS])
        for case_id in case_ids
    }
    next_case = dict(zip(case_ids, [*case_ids[1:], *case_ids[:1]], strict=True))
    overlaps, chance_overlaps = [], []
    for case_id, text in zip(utterances["case_id"], utterances["text"], strict=True):
        first, second = halves[case_id]
        overlaps.append(measure_overlap(text, second, first))
        chance_overlaps.append(measure_overlap(text, halves[next_case[case_id]][1], first))
    chance = float(as_numbers(chance_overlaps).mean()) if len(case_ids) > 1 else float("nan")
    return _mean_by_case(overlaps, utterances), chance


def _recovered_names(run: Run) -> "pd.Series[float]":
    """Return how often the masked name of each case is recovered."""
    utterances = _usable_utterances(run, NAME)
    is_right = [float(is_recovered(json.loads(parsed))) for parsed in utterances["parsed"]]
    return _mean_by_case(is_right, utterances)


def _mean_by_case(values: Sequence[float], utterances: pd.DataFrame) -> "pd.Series[float]":
    return pd.Series(values, utterances["case_id"], dtype="float64").groupby(level=0).mean()
