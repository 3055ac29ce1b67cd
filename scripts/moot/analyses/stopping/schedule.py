"""Stages: experiments whose contrasts may stop early are debated some cases at a time, linked
experiments together.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil

from moot.analyses.stopping.interim import (
    SequentialTest,
    all_can_stop,
    measure_progress,
    stage_numbers,
)
from moot.core.cases import Case, Task
from moot.core.config_errors import Faults
from moot.core.log import LOG
from moot.core.types import JsonObject
from moot.hooks import CheckedExperiments, Schedule
from moot.protocols.experiment import Experiment
from moot.scores.contrasts import Contrast
from moot.scores.results import ExperimentResults

METRICS = ("accuracy", "valid")
MAX_STAGES = 100


@dataclass(frozen=True)
class SequentialContrast:
    """A contrast with its sequential test."""

    contrast: Contrast
    test: SequentialTest

    @property
    def experiments(self) -> set[str]:
        """The experiments that it compares."""
        return {side.experiment for side in self.contrast.sides}


@dataclass(frozen=True)
class Stages(Schedule):
    """The stages that linked experiments are debated in.

    Attributes:
        contrasts: that are analysed after each stage; their experiments stop together.
    """

    contrasts: tuple[SequentialContrast, ...]

    @property
    def shards(self) -> int:
        """The number of stages if nothing stops."""
        return stage_count(self.contrasts[0].test)

    @property
    def runs(self) -> list[tuple[str, str]]:
        """The experiments and models that the contrasts compare."""
        runs: set[tuple[str, str]] = set()
        for sequential in self.contrasts:
            for side in sequential.contrast.sides:
                runs.update((side.experiment, model) for model in side.models)
        return sorted(runs)

    def shard_numbers(self, cases: Sequence[Case], task: Task, seed: int) -> dict[str, int]:
        """Return the stage of each case, by case id."""
        return stage_numbers(cases, task, self.contrasts[0].test.cases_per_stage, seed)

    def digest_content(self) -> JsonObject:
        """Return the sides and tests by which later stages are decided."""
        tests = []
        for sequential in self.contrasts:
            sides = [asdict(side) for side in sequential.contrast.sides]
            tests.append([*sides, asdict(sequential.test)])
        return {"stages": tests}

    def is_complete(self, results: Mapping[str, ExperimentResults]) -> bool:
        """Return whether the interim analysis ends the debates."""
        progress = []
        for sequential in self.contrasts:
            reached = measure_progress(sequential.contrast, sequential.test, results)
            LOG.info(
                "contrast %s after %d of %d stages, %d cases: %s",
                sequential.contrast.name,
                reached.stages,
                reached.planned_stages,
                reached.cases,
                reached.reason,
            )
            progress.append(reached)
        return all_can_stop(progress)


def stage_count(test: SequentialTest) -> int:
    """Return the number of stages that a test plans."""
    return ceil(test.planned_cases / test.cases_per_stage)


def plan_stages(plan: CheckedExperiments, faults: Faults) -> dict[str, Stages]:
    """Return the stages of each experiment that has some, by its name.

    `faults` receives the faults: a contrast that cannot stop early, or experiments that cannot stop
    together.
    """
    tested = [contrast for contrast in plan.contrasts if not contrast.missing]
    stages: dict[str, Stages] = {}
    for group in _linked_groups(tested):
        for sequential in group:
            place = plan.place("contrasts", sequential.contrast.name, "stop")
            for problem in _problems(plan, sequential, group[0]):
                faults.add(f"{place}: {problem}")
        for name in sorted(_experiments(group)):
            stages[name] = Stages(tuple(group))
    for contrast in tested:
        if isinstance(contrast.test, SequentialTest):
            continue
        for name in sorted({side.experiment for side in contrast.sides} & stages.keys())[:1]:
            faults.add(
                f"{plan.place('contrasts', contrast.name)}: the debates of '{name}' may stop early,"
                f" by contrast '{stages[name].contrasts[0].contrast.name}', and a test with no"
                " `stop` takes their number as fixed. Give it a `stop`, or leave it out."
            )
    return stages


def _linked_groups(contrasts: Sequence[Contrast]) -> list[list[SequentialContrast]]:
    """Return the sequential contrasts, grouped so that no two groups share an experiment."""
    groups: list[list[SequentialContrast]] = []
    for contrast in contrasts:
        if not isinstance(contrast.test, SequentialTest):
            continue
        sequential = SequentialContrast(contrast, contrast.test)
        linked: list[SequentialContrast] = []
        separate = []
        for group in groups:
            if _experiments(group) & sequential.experiments:
                linked += group
            else:
                separate.append(group)
        groups = [*separate, [*linked, sequential]]
    return groups


def _experiments(group: Sequence[SequentialContrast]) -> set[str]:
    return set().union(*(sequential.experiments for sequential in group))


def _problems(
    plan: CheckedExperiments, sequential: SequentialContrast, first: SequentialContrast
) -> Iterator[str]:
    """Yield why a contrast cannot stop early, or not together with the first of its group."""
    contrast, test = sequential.contrast, sequential.test
    if not contrast.paired:
        yield (
            "found `paired: false`; sides that argue different cases cannot stop early. Leave"
            " `stop` out."
        )
    for metric in sorted({side.metric for side in contrast.sides} - set(METRICS)):
        yield f"found the metric '{metric}'; expected {' or '.join(METRICS)}. Leave `stop` out."
    if test.cases_per_stage != first.test.cases_per_stage:
        yield (
            f"found {test.cases_per_stage} cases_per_stage; contrast '{first.contrast.name}', whose"
            f" experiments it shares, has {first.test.cases_per_stage}; expected the same, since"
            " they stop together."
        )
    first_name = first.contrast.first.experiment
    for name in sorted(sequential.experiments):
        yield from _problems_of_experiment(plan, plan.experiments[name])
        yield from _problems_of_linking(plan.experiments[name], plan.experiments[first_name])
    if (count := stage_count(test)) > MAX_STAGES:
        yield (
            f"found {count} stages ({test.planned_cases} cases, {test.cases_per_stage} a stage);"
            f" expected at most {MAX_STAGES}. Let a stage have"
            f" {ceil(test.planned_cases / MAX_STAGES)} cases or more."
        )


def _problems_of_linking(experiment: Experiment, first: Experiment) -> Iterator[str]:
    """Yield the differences between two experiments that must stop together."""
    for key in ("dataset", "split", "cases"):
        value, expected = getattr(experiment.config, key), getattr(first.config, key)
        if value != expected:
            yield (
                f"experiment '{experiment.name}' has {key} {value}, '{first.name}' {expected};"
                " expected the same, since they stop together."
            )


def _problems_of_experiment(plan: CheckedExperiments, experiment: Experiment) -> Iterator[str]:
    """Yield why the debates of an experiment cannot be held in stages."""
    name, config = experiment.name, experiment.config
    if config.cases is None:
        yield f"experiment '{name}' has no `cases`; how many are planned must be known. Set it."
    if config.calibration_cases:
        yield (
            f"experiment '{name}' has `calibration_cases`, by which later stages change answers."
            " Leave them out."
        )
    if experiment.people:
        yield (
            f"people sit in experiment '{name}', and its debates wait for them. Leave `stop` out."
        )
    for model in config.models:
        for model_in_job, settings in plan.models_in_job(name, model).items():
            if settings.defers_replies:
                yield (
                    f"debates of experiment '{name}' wait for replies of model '{model_in_job}'"
                    " in a later run (`batch: {wait: false}`). Leave `stop` out."
                )
                break
    for reader, paths in plan.needs.items():
        if any(path.split("/")[1].removesuffix(".parquet") == name for path in paths):
            yield f"{reader} reads all debates of experiment '{name}'. Leave `stop` out."
