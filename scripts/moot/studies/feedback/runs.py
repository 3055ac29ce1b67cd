"""Shared code of Debate-Feedback's tables and figures: names of methods, selection of runs,
sweeps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import pandas as pd

from moot.core.types import Column
from moot.report import study_results
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults
from moot.studies.feedback.scores import Judged, judged_debates, own_weight, right_at

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
ASSISTANTS = {
    "tfidf": "light assistant (TF-IDF)",
    "tfidf-crossed": "light assistant (TF-IDF by position)",
    "embeddings": "assistant on sentence embeddings",
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

    @property
    def setting(self) -> str:
        """The settings that distinguish this run from others of its method."""
        params = self.params
        if self.results.config.protocol == DEBATE:
            weight = params["weight"] if params["smoothing"] else 1
            debate = (
                f"{params['debaters']} debaters, {params['sides']}, rounds {params['rounds']}, T ="
                f" {weight:g}"
            )
            if not params["assistant"]:
                return debate
            features = str(params["assistant_features"])
            assistant = ASSISTANTS.get(features, features)
            return f"{debate}, {assistant}, threshold {params['threshold']:g}"
        budgets = {"matched": "calls of the debate", "matched_tokens": "tokens of the debate"}
        parts = [f"k = {budgets.get(params['k'], params['k'])}"] if "k" in params else []
        parts += [f"{params['shots']} shots"] if "shots" in params else []
        return ", ".join([*parts, str(params.get("answer", ""))]).strip(", ")


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


def components(single: Run, assisted: Run | None) -> Iterator[tuple[str, Column]]:
    """Yield the stages of the method, with the share of right answers by case_id.

    The stages are the judge alone, debate, smoothing, and assistant with and without smoothing.
    """
    debates = judged_debates(single.results, single.model)
    yield "judge alone (O_0)", _correct_shares(single, debates, None)
    yield "debate, no smoothing (T = 1)", _correct_shares(single, debates, 1.0)
    yield "debate, smoothing", _correct_shares(single, debates, own_weight(single.params))
    if assisted is not None:
        debates = judged_debates(assisted.results, assisted.model)
        yield "debate, assistant, no smoothing (T = 1)", _correct_shares(assisted, debates, 1.0)
        yield (
            "debate, assistant, smoothing",
            _correct_shares(assisted, debates, own_weight(assisted.params)),
        )


def _correct_shares(run: Run, debates: Sequence[Judged], weight: float | None) -> Column:
    """Return how often each evaluated case is right at this T (None: at O_0); a debate without a
    valid answer is wrong.
    """
    is_right = pd.Series(
        right_at(run.results, debates, weight), [debate.case_id for debate in debates]
    )
    case_counts = run.predictions["case_id"].value_counts().sort_index()
    return is_right.groupby(level=0).sum().reindex(case_counts.index).fillna(0.0) / case_counts


def pairs(results: StudyResults) -> list[tuple[Run, Run | None]]:
    """Return each run without assistant, with the run with assistant over the same cases and by the
    same model, if any.
    """
    runs = list_runs(results, DEBATE)
    single_runs = [run for run in runs if run.method == SINGLE]
    assisted_runs = [run for run in runs if run.method == ASSISTED]
    return [(run, _find_counterpart(run, assisted_runs)) for run in single_runs]


def _find_counterpart(run: Run, candidates: Sequence[Run]) -> Run | None:
    """Return the first candidate that differs from a run only by its assistant."""
    setting = _setting(run)
    return next((candidate for candidate in candidates if _setting(candidate) == setting), None)


def _setting(run: Run) -> tuple[object, ...]:
    """Return the settings that two runs share if they differ only by their assistant."""
    ignored = (
        "assistant",
        "assistant_features",
        "statement_summaries",
        "threshold",
        "threshold_rule",
    )
    params = {key: value for key, value in run.params.items() if key not in ignored}
    return run.model, run.results.config.dataset, set(run.predictions["case_id"]), params
