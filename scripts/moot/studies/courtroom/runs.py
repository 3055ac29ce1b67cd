"""Methods, runs and published values that the courtroom's tables and figures share.

The published values come from AgenticSimLaw (see the README of this folder).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from moot.core.cases import REFERENCE_MODELS
from moot.report import study_results
from moot.report.figures import count_phrase
from moot.report.published import published_values
from moot.report.study_results import StudyResults

STUDY = "courtroom"
DEBATE = "courtroom"
METHODS = {
    "zero_shot": "zero-shot",
    "few_shot": "few-shot",
    "cot": "chain of thought",
    "n_shot_cot": "n-shot chain of thought",
    "self_consistency": "self-consistency",
    DEBATE: "courtroom debate",
}
PROMPTS = tuple(method for method in METHODS if method != DEBATE)
PROMPT_TABLES = ("table4_prompting", "table6_commercial")
PUBLISHED_PROMPTS = ("zero_shot", "cot", "n_shot_cot")


@dataclass(frozen=True)
class Run(study_results.Run):
    """One experiment with one of its models, or with a reference model on the same cases."""

    @property
    def method(self) -> str:
        """The protocol in words, or "reference" for the majority class and the coin."""
        if self.model in REFERENCE_MODELS:
            return "reference"
        return METHODS.get(self.results.config.protocol, self.results.config.protocol)

    @property
    def row_keys(self) -> dict[str, str]:
        """The cells that identify the run's rows in a table."""
        return {
            "method": self.method,
            "model": self.model,
            "experiment": self.experiment,
            "data": self.data,
        }


def list_runs(study: StudyResults, *protocols: str) -> list[Run]:
    """List the runs of some protocols in the order of `METHODS`, without reference models."""
    order = {protocol: position for position, protocol in enumerate(METHODS)}
    experiments = sorted(
        study.find_experiments(*protocols),
        key=lambda results: order.get(results.config.protocol, len(order)),
    )
    return study.runs(experiments, Run)


def published_pairs(study: StudyResults, protocol: str) -> dict[str, tuple[float, float]]:
    """Return the published accuracy and F1 of each model by one method.

    The values come from Tables 4 and 5. The column that Table 6 calls F1 holds no F1.
    """
    table, prefix = "table4_prompting", f"{protocol}_"
    if protocol == DEBATE:
        table, prefix = "table5_courtroom", ""
    values = published_values(study, table)
    pairs: dict[str, tuple[float, float]] = {}
    for (model, metric), accuracy in values.items():
        if metric == f"{prefix}accuracy":
            pairs[model] = (accuracy, values[model, f"{prefix}f1"])
    return pairs


def comparable_pairs(study: StudyResults, protocol: str) -> dict[str, tuple[float, float]]:
    """Return our accuracy and binary F1 of each model.

    Only experiments with the paper's data and settings count, with any model. Those of the authors'
    program do not.
    """
    tables = ("table5_courtroom",) if protocol == DEBATE else PROMPT_TABLES
    is_in_table = study.published["table"].isin(tables)
    paper_experiments = set(study.published.loc[is_in_table, "repeated_by"])
    pairs: dict[str, tuple[float, float]] = {}
    for run in list_runs(study, protocol):
        if paper_experiments & set(run.paper_match.repeated_but_model):
            pair = run.measurement("accuracy").value, run.measurement("f1", "binary").value
            pairs[run.model] = pair
    return {model: pair for model, pair in pairs.items() if not any(map(math.isnan, pair))}


def largest_reference_runs(runs: Sequence[Run]) -> list[Run]:
    """Return the reference models of each data set on its largest set of evaluated cases."""
    largest_runs: dict[str, Run] = {}
    for run in runs:
        data = run.results.config.dataset
        if data not in largest_runs or _count_cases(run) > _count_cases(largest_runs[data]):
            largest_runs[data] = run
    return [
        replace(run, model=model) for run, model in product(largest_runs.values(), REFERENCE_MODELS)
    ]


def _count_cases(run: Run) -> int:
    return int(run.results.predictions["case_id"].nunique())


def run_name(run: Run, runs: Sequence[Run]) -> str:
    """Return the label of a run among the runs of a figure: its experiment and its model.

    It is only the model if all runs of its method belong to one experiment with several models. A
    reference model is labelled with its data set if the figure has several.
    """
    if run.model in REFERENCE_MODELS:
        datasets = {sibling.results.config.dataset for sibling in runs}
        return run.model if len(datasets) == 1 else f"{run.model}, {run.results.config.dataset}"
    siblings = [sibling for sibling in runs if sibling.method == run.method]
    experiments = {sibling.experiment for sibling in siblings}
    models = {sibling.model for sibling in siblings}
    if len(experiments) == 1 and len(models) > 1:
        return run.model
    return f"{run.experiment}, {run.model}"


def data_notes(
    runs: Sequence[Run], interval_note: str = " Thin lines: 95 % intervals over cases."
) -> list[str]:
    """Return a note on the runs' data sets, their numbers of cases and the intervals drawn."""
    if not runs:
        return []
    counts_by_data: dict[str, set[int]] = {}
    for run in runs:
        counts_by_data.setdefault(run.data, set()).add(_count_cases(run))
    parts = []
    for data, counts in counts_by_data.items():
        low, high = min(counts), max(counts)
        size = count_phrase(high, "case") if low == high else f"{low} to {high} cases"
        parts.append(f"{data}, {size}")
    return [f"Data: {'; '.join(parts)}.{interval_note}"]
