"""What the tables and figures of the courtroom study share: its methods' names, its runs and their
references.

Source of published values: AgenticSimLaw (see the study's documentation).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from moot.core.cases import REFERENCE_MODELS
from moot.report import content
from moot.report.content import StudyResults
from moot.report.figures import counted
from moot.report.published import published_table

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
PUBLISHED_PROMPTS = ("zero_shot", "cot", "n_shot_cot")


@dataclass(frozen=True)
class Run(content.Run):
    """One experiment and one of its models, or one of the two references on the experiment's cases."""

    @property
    def method(self) -> str:
        """The protocol's name in words; "reference" for the majority class and the coin."""
        if self.model in REFERENCE_MODELS:
            return "reference"
        return METHODS.get(self.results.config.protocol, self.results.config.protocol)

    @property
    def names(self) -> tuple[str, str, str, str]:
        """Method, model, experiment and data: the keys of its rows."""
        return self.method, self.model, self.experiment, self.data


def list_runs(study: StudyResults, *protocols: str) -> list[Run]:
    """Every experiment and model of some protocols, in the order of the methods; references
    excluded.
    """
    order = list(METHODS)
    experiments = sorted(
        study.where(*protocols),
        key=lambda results: (
            order.index(results.config.protocol) if results.config.protocol in order else len(order)
        ),
    )
    return study.runs(experiments, Run)


def published_pairs(study: StudyResults, protocol: str) -> dict[str, tuple[float, float]]:
    """Model to the published accuracy and F1 of a method, by Tables 4 and 5; what Table 6 calls F1
    is none.
    """
    table, prefix = (
        ("table5_courtroom", "") if protocol == DEBATE else ("table4_prompting", f"{protocol}_")
    )
    values = published_table(study, table)
    accuracies = (
        (model, accuracy)
        for (model, metric), accuracy in values.items()
        if metric == f"{prefix}accuracy"
    )
    return {model: (accuracy, values[model, f"{prefix}f1"]) for model, accuracy in accuracies}


def largest_reference_runs(runs: Sequence[Run]) -> list[Run]:
    """The references of each data set on the largest set of evaluated cases, for figures."""
    largest_runs: dict[str, Run] = {}
    for run in runs:
        data = run.results.config.dataset
        if data not in largest_runs or _count_cases(run) > _count_cases(largest_runs[data]):
            largest_runs[data] = run
    return [
        replace(run, model=model) for run in largest_runs.values() for model in REFERENCE_MODELS
    ]


def _count_cases(run: Run) -> int:
    return int(run.results.predictions["case_id"].nunique())


def run_name(run: Run, runs: Sequence[Run]) -> str:
    """What a figure calls a run among others: the model, the experiment, or both, whichever tells
    it apart.
    """
    if run.model in REFERENCE_MODELS:
        datasets = {sibling.results.config.dataset for sibling in runs}
        return run.model if len(datasets) == 1 else f"{run.model}, {run.results.config.dataset}"
    equal_runs = [
        sibling for sibling in runs if (sibling.model, sibling.method) == (run.model, run.method)
    ]
    models = {sibling.model for sibling in runs}
    if len(equal_runs) == 1 and len(models) > 1:
        return run.model
    experiment_runs = [sibling for sibling in runs if sibling.experiment == run.experiment]
    return run.experiment if len(experiment_runs) == 1 else f"{run.model}, {run.experiment}"


def data_notes(
    runs: Sequence[Run], interval_note: str = " Thin lines: 95 % intervals over cases."
) -> list[str]:
    """Which data the runs rest on, how many cases, and what is drawn for intervals."""
    sizes: dict[str, set[int]] = {}
    for run in runs:
        sizes.setdefault(run.data, set()).add(_count_cases(run))
    ranges = {
        data: f"{min(counts)} to {max(counts)} cases"
        if len(counts) > 1
        else counted(max(counts), "case")
        for data, counts in sizes.items()
    }
    data = "; ".join(f"{label}, {cases}" for label, cases in ranges.items())
    return [f"Data: {data}.{interval_note}"] if runs else []
