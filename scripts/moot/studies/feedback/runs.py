"""What the tables and figures of Debate-Feedback share: names of methods, which runs they show,
sweeps among them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from moot.core.types import Column
from moot.report import content
from moot.report.content import StudyResults
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
SWEPT = ("debaters", "rounds")


@dataclass(frozen=True)
class Run(content.Run):
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
        """What sets this run apart from others of its method."""
        params = self.params
        if self.results.config.protocol == DEBATE:
            weight = params["weight"] if params["smoothing"] else 1
            debate = (
                f"{params['debaters']} debaters, {params['sides']}, rounds {params['rounds']}, T ="
                f" {weight:g}"
            )
            return f"{debate}, threshold {params['threshold']:g}" if params["assistant"] else debate
        matched = {"matched": "calls of the debate", "matched_tokens": "tokens of the debate"}
        named = [f"k = {matched.get(params['k'], params['k'])}"] if "k" in params else []
        named += [f"{params['shots']} shots"] if "shots" in params else []
        return ", ".join([*named, str(params.get("answer", ""))]).strip(", ")


def list_runs(results: StudyResults, *protocols: str) -> list[Run]:
    """The runs over test cases that belong to no sweep, in the order of methods; of all protocols
    if none is given.

        Of two runs of a model with the same parameters the first belongs to no sweep.
    """
    order = [*METHODS, DEBATE]
    swept = {
        run for name in SWEPT for group in sweeps(results, name) for run in _in_sweep(group, name)
    }
    shown = [
        found
        for found in results.find_experiments(*protocols)
        if found.config.split == "test" and found.config.protocol in order
    ]
    shown.sort(
        key=lambda found: (
            order.index(found.config.protocol),
            bool(found.config.params.get("assistant")),
        )
    )
    return [run for run in results.runs(shown, Run) if (run.experiment, run.model) not in swept]


def sweeps(results: StudyResults, name: str) -> list[list[ExperimentResults]]:
    """Groups of debates over the same cases that differ in one parameter alone, ordered by its
    values.
    """
    groups: dict[tuple[object, ...], list[ExperimentResults]] = {}
    for found in results.find_experiments(DEBATE):
        if found.config.split == "test":
            others = sorted(
                (key, repr(value)) for key, value in found.config.params.items() if key != name
            )
            cases = tuple(sorted(found.predictions["case_id"].unique()))
            groups.setdefault((found.config.dataset, cases, *others), []).append(found)
    swept = [
        group
        for group in groups.values()
        if len({found.config.params[name] for found in group}) > 1
    ]
    return [sorted(group, key=lambda found: float(found.config.params[name])) for group in swept]


def _in_sweep(group: Sequence[ExperimentResults], name: str) -> Iterator[tuple[str, str]]:
    """The experiments and models of a sweep; of a model's runs with the same parameters all but the
    first.
    """
    for model in {model: None for found in group for model in found.config.models}:
        of_model = [found for found in group if model in found.config.models]
        values = [found.config.params[name] for found in of_model]
        for place, found in enumerate(of_model):
            if len(set(values)) > 1 and (
                values[place] in values[:place] or values.count(values[place]) == 1
            ):
                yield found.experiment, model


def components(single: Run, assisted: Run | None) -> Iterator[tuple[str, Column]]:
    """The stages of the method, each with how often it got each case right, by case_id: the judge
    alone, debate, smoothing, assistant with and without smoothing.
    """
    debates = judged_debates(single.results, single.model)
    yield "judge alone (O_0)", _right(single, debates, None)
    yield "debate, no smoothing (T = 1)", _right(single, debates, 1.0)
    yield "debate, smoothing", _right(single, debates, own_weight(single.params))
    if assisted is not None:
        debates = judged_debates(assisted.results, assisted.model)
        yield "debate, assistant, no smoothing (T = 1)", _right(assisted, debates, 1.0)
        yield "debate, assistant, smoothing", _right(assisted, debates, own_weight(assisted.params))


def _right(run: Run, debates: Sequence[Judged], weight: float | None) -> Column:
    """How often each evaluated case is right at this T (None: at O_0); a debate without a valid
    answer is wrong.
    """
    right = pd.Series(
        right_at(run.results, debates, weight), [debate.case_id for debate in debates]
    )
    asked = run.predictions["case_id"].value_counts().sort_index()
    return right.groupby(level=0).sum().reindex(asked.index).fillna(0.0) / asked


def pairs(results: StudyResults) -> list[tuple[Run, Run | None]]:
    """Each run without assistant, with the run with assistant over the same cases and by the same
    model, if any.
    """
    runs = list_runs(results, DEBATE)
    assisted = [run for run in runs if run.method == ASSISTED]
    return [
        (run, next((other for other in assisted if _setting(run) == _setting(other)), None))
        for run in runs
        if run.method == SINGLE
    ]


def _setting(run: Run) -> tuple[object, ...]:
    """All that two runs have in common where one of them differs by its assistant alone."""
    ignored = ("assistant", "assistant_features", "threshold", "threshold_rule")
    params = {key: value for key, value in run.params.items() if key not in ignored}
    return run.model, run.results.config.dataset, set(run.predictions["case_id"]), params
