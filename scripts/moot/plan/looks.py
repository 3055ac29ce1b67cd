"""Looks: experiments whose contrasts may stop early are debated some cases at a time, linked ones
together.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from moot.core.model_config import ModelConfig
from moot.core.places import Faults
from moot.plan.experiments import Experiment
from moot.scores.contrasts import Contrast

METRICS = {"accuracy", "valid"}
MOST_LOOKS = 100


@dataclass(frozen=True)
class Looks:
    """The looks that linked experiments take together.

    Attributes:
        cases: that each plans.
        size: cases of a look.
        contrasts: that are looked at; all stop together.
    """

    cases: int
    size: int
    contrasts: tuple[Contrast, ...]

    @property
    def number(self) -> int:
        """How many looks there are if nothing stops."""
        return ceil(self.cases / self.size)

    @property
    def runs(self) -> list[tuple[str, str]]:
        """The experiments and models that the contrasts compare."""
        return sorted(
            {
                (side.experiment, model)
                for one in self.contrasts
                for side in one.sides
                for model in side.models
            }
        )


@dataclass(frozen=True)
class LookReader:
    """Finds the looks of a plan.

    Attributes:
        contrasts, experiments: of the plan.
        models_in_job: the models that speak in the debates of an experiment and model.
        needs: what rests on artifacts, in words, to their paths below `results/`.
        where: file and key of a place in the configuration.
    """

    contrasts: Sequence[Contrast]
    experiments: Mapping[str, Experiment]
    models_in_job: Callable[[str, str], Mapping[str, ModelConfig]]
    needs: Mapping[str, Iterable[str]]
    where: Callable[..., str]

    def read(self, faults: Faults) -> dict[str, Looks]:
        """The looks of each experiment that has some, by its name.

        `faults` takes what is wrong: a contrast that cannot be looked at, or experiments that
            cannot stop together.
        """
        tested = [one for one in self.contrasts if not one.missing]
        groups: list[list[Contrast]] = []
        for contrast in (one for one in tested if one.stop):
            linked = [group for group in groups if _experiments(group) & _experiments([contrast])]
            groups = [group for group in groups if group not in linked]
            groups.append([*(one for group in linked for one in group), contrast])
        found: dict[str, Looks] = {}
        for group in groups:
            for one in group:
                for problem in self._problems(one, group[0]):
                    faults.add(f"{self.where('contrasts', one.name, 'stop')}: {problem}")
            if stop := group[0].stop:
                found |= dict.fromkeys(
                    sorted(_experiments(group)), Looks(stop.cases, stop.look, tuple(group))
                )
        for one in tested:
            if not one.stop and (stopped := sorted(_experiments([one]) & found.keys())):
                faults.add(
                    f"{self.where('contrasts', one.name)}: the debates of '{stopped[0]}' may stop"
                    f" early, by contrast '{found[stopped[0]].contrasts[0].name}', and a test with"
                    " no `stop` takes their number as fixed. Give it a `stop`, or leave it out."
                )
        return found

    def _problems(self, contrast: Contrast, first: Contrast) -> Iterator[str]:
        """Why a contrast cannot stop early, or not together with the first of those that it is
        linked with.
        """
        stop, of_first = contrast.stop, self.experiments[first.first.experiment].config
        if not stop or not first.stop:
            return
        if not contrast.paired:
            yield (
                "found `paired: false`; sides that argue different cases cannot stop early. Leave"
                " `stop` out."
            )
        for metric in sorted({side.metric for side in contrast.sides} - METRICS):
            yield (
                f"found the metric '{metric}'; expected {' or '.join(sorted(METRICS))}. Leave"
                " `stop` out."
            )
        if stop.look != first.stop.look:
            yield (
                f"found look {stop.look}; contrast '{first.name}', whose experiments it shares, has"
                f" {first.stop.look}; expected the same, since they stop together."
            )
        for name in sorted(_experiments([contrast])):
            yield from self._problems_of(name)
            config = self.experiments[name].config
            for key in ("dataset", "split", "cases"):
                ours, theirs = getattr(config, key), getattr(of_first, key)
                if ours != theirs:
                    yield (
                        f"experiment '{name}' has {key} {ours}, '{first.first.experiment}'"
                        f" {theirs}; expected the same, since they stop together."
                    )
        if (looks := ceil(stop.cases / stop.look)) > MOST_LOOKS:
            yield (
                f"found {looks} looks ({stop.cases} cases, {stop.look} a look); expected at most"
                f" {MOST_LOOKS}. Let a look have {ceil(stop.cases / MOST_LOOKS)} cases or more."
            )

    def _problems_of(self, name: str) -> Iterator[str]:
        """Why the debates of an experiment cannot be held look by look."""
        experiment = self.experiments[name]
        config = experiment.config
        if config.cases is None:
            yield f"experiment '{name}' has no `cases`; how many are planned must be known. Set it."
        if config.calibration_cases:
            yield (
                f"experiment '{name}' has `calibration_cases`, by which later looks change answers."
                " Leave them out."
            )
        if experiment.people:
            yield (
                f"people sit in experiment '{name}', and its debates wait for them. Leave `stop`"
                " out."
            )
        for model in config.models:
            if late := [
                used for used, found in self.models_in_job(name, model).items() if found.puts_off
            ]:
                yield (
                    f"model '{late[0]}' of experiment '{name}' puts its calls off, in batches."
                    " Leave `stop` out."
                )
        for what, paths in self.needs.items():
            if any(path.split("/")[1].removesuffix(".parquet") == name for path in paths):
                yield f"{what} rests on all debates of experiment '{name}'. Leave `stop` out."


def _experiments(contrasts: Sequence[Contrast]) -> set[str]:
    return {side.experiment for one in contrasts for side in one.sides}
