"""The runs of Debate-Feedback, for the items of its paper: names of methods, sweeps."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from moot.report import study_results
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults

STUDY = "feedback"
DEBATE = "feedback"
SINGLE, ASSISTED = "Debate-Feedback (single)", "Debate-Feedback (assistant)"
METHODS = {
    "zero_shot": "zero-shot",
    "few_shot": "few-shot",
    "cot": "chain of thought",
    "four_step_cot": "chain of thought, 4 steps",
    "reflexion": "Reflexion",
    "self_consistency": "self-consistency",
}
SWEPT = ("debaters", "rounds")


@dataclass(frozen=True)
class Run(study_results.Run):
    """One experiment and one of its models."""

    @property
    def method(self) -> str:
        """The method in words; Debate-Feedback by whether it has an assistant."""
        protocol = self.results.config.protocol
        if protocol == DEBATE:
            return ASSISTED if self.params.get("assistant") else SINGLE
        return METHODS.get(protocol, protocol)


def list_runs(results: StudyResults, *protocols: str) -> list[Run]:
    """Return the runs over test cases that belong to no sweep, in the order of methods; of all
    protocols if none is given.

    Of two runs of a model with the same parameters the first belongs to no sweep.
    """
    order = [*METHODS, DEBATE]
    swept_runs = set[tuple[str, str]]()
    for name in SWEPT:
        for group in sweeps(results, name):
            swept_runs.update(_in_sweep(group, name))
    experiments = [
        results_of_run
        for results_of_run in results.find_experiments(*protocols)
        if results_of_run.config.split == "test" and results_of_run.config.protocol in order
    ]
    experiments.sort(
        key=lambda results_of_run: (
            order.index(results_of_run.config.protocol),
            bool(results_of_run.config.params.get("assistant")),
        )
    )
    return [
        run
        for run in results.runs(experiments, Run)
        if (run.experiment, run.model) not in swept_runs
    ]


def sweeps(results: StudyResults, name: str) -> list[list[ExperimentResults]]:
    """Group debates over the same cases that differ in one parameter only.

    They are sorted by the values of the parameter.
    """
    groups: dict[tuple[object, ...], list[ExperimentResults]] = {}
    for experiment in results.find_experiments(DEBATE):
        if experiment.config.split == "test":
            parameters = sorted(
                (key, repr(value)) for key, value in experiment.config.params.items() if key != name
            )
            cases = tuple(sorted(experiment.predictions["case_id"].unique()))
            groups.setdefault((experiment.config.dataset, cases, *parameters), []).append(
                experiment
            )
    swept = []
    for group in groups.values():
        values = {experiment.config.params[name] for experiment in group}
        if len(values) > 1:
            group.sort(key=lambda experiment: float(experiment.config.params[name]))
            swept.append(group)
    return swept


def _in_sweep(group: Sequence[ExperimentResults], name: str) -> Iterator[tuple[str, str]]:
    """Yield the experiments and models of a sweep; of a model's runs with the same parameters all
    but the first.
    """
    models = chain.from_iterable(experiment.config.models for experiment in group)
    for model in dict.fromkeys(models):
        of_model = [
            results_of_run for results_of_run in group if model in results_of_run.config.models
        ]
        values = [results_of_run.config.params[name] for results_of_run in of_model]
        for place, results_of_run in enumerate(of_model):
            if len(set(values)) > 1 and (
                values[place] in values[:place] or values.count(values[place]) == 1
            ):
                yield results_of_run.experiment, model
