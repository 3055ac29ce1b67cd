"""The changes that an analysis may make to a run, besides keys, protocols, scores and tables.

Each folder of `moot.analyses` registers at most one `Analysis`, in its module `analysis`, and
overrides the hooks that it needs.

    PYTHONPATH=scripts python -m moot.commands.registrations hook

lists the analyses that override each hook, and the hooks that no analysis overrides.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.cases import Case, Task
from moot.core.config import Config
from moot.core.config_errors import Faults
from moot.core.experiment_config import ContrastConfig, ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.registry import Registry
from moot.core.types import JsonObject
from moot.datasets import DatasetOptions
from moot.protocols import ProtocolParams
from moot.protocols.experiment import Experiment
from moot.scores.contrasts import Contrast, ContrastTest
from moot.scores.results import ExperimentResults


@dataclass(frozen=True)
class CheckedExperiments:
    """The experiments and contrasts of a plan after their check.

    Attributes:
        experiments: by name.
        contrasts: of the configuration.
        models_in_job: the models that speak in the debates of an experiment and model.
        needs: what reads artifacts of a run, in words, to their paths below `results/`.
        place: file and key of a place in the configuration.
    """

    experiments: Mapping[str, Experiment]
    contrasts: Sequence[Contrast]
    models_in_job: Callable[[str, str], Mapping[str, ModelConfig]]
    needs: Mapping[str, Iterable[str]]
    place: Callable[..., str]


class Schedule(ABC):
    """How the cases of an experiment are divided into jobs that are held one after another.

    Without a schedule a hash of the case chooses its job (shard), and jobs do not depend on each
    other.
    """

    @property
    @abstractmethod
    def shards(self) -> int:
        """The number of jobs."""

    @property
    @abstractmethod
    def runs(self) -> list[tuple[str, str]]:
        """The experiments and models whose earlier transcripts each job reads."""

    @abstractmethod
    def shard_numbers(self, cases: Sequence[Case], task: Task, seed: int) -> dict[str, int]:
        """Return the number of the job that debates each case, by case id."""

    @abstractmethod
    def digest_content(self) -> JsonObject:
        """Return the content on which the transcripts depend, for the digest of the job's
        options.
        """

    @abstractmethod
    def is_complete(self, results: Mapping[str, ExperimentResults]) -> bool:
        """Return whether the results of earlier jobs leave nothing to debate, so that later jobs
        are empty.
        """


class Analysis:
    """The hooks of an analysis; each does nothing unless it is overridden."""

    def add_experiments(
        self,
        config: Config,  # noqa: ARG002
        faults: Faults,  # noqa: ARG002
    ) -> Mapping[str, ExperimentConfig]:
        """Return further experiments of a configuration, by name; `faults` receives the faults."""
        return {}

    def derived_names(
        self,
        name: str,  # noqa: ARG002
        config: ExperimentConfig,  # noqa: ARG002
    ) -> Sequence[str]:
        """Return the names of the experiments that `derive_experiments` adds."""
        return []

    def derive_experiments(
        self,
        name: str,  # noqa: ARG002
        config: ExperimentConfig,  # noqa: ARG002
        params: ProtocolParams,  # noqa: ARG002
    ) -> Iterable[tuple[str, ExperimentConfig]]:
        """Return further experiments that follow from a checked one, each with its name."""
        return []

    def check_experiment(
        self,
        name: str,
        config: ExperimentConfig,
        params: ProtocolParams,
        labels: tuple[str, ...],
        place: Callable[[str], str],
    ) -> None:
        """Check an experiment's entry.

        Args:
            name: the experiment's name.
            config: its entry.
            params: its protocol's parameters, checked.
            labels: of its data, as far as they are known before the data are loaded.
            place: a key of the entry to its place in the configuration.

        Raises:
            UserError: the entry is invalid.
        """

    def is_control(
        self,
        config: ExperimentConfig,  # noqa: ARG002
        dataset: DatasetOptions,  # noqa: ARG002
    ) -> bool:
        """Return whether an experiment only controls for others, so that usual tables do not show
        it.

        Experiments with the key `control` are controls in any case.
        """
        return False

    def contrast_test(
        self,
        entry: ContrastConfig,  # noqa: ARG002
        cases: int,  # noqa: ARG002
    ) -> ContrastTest | None:
        """Return the test that replaces the usual one of a contrast; `cases`: of its first side."""
        return None

    def plan_schedules(
        self,
        plan: CheckedExperiments,  # noqa: ARG002
        faults: Faults,  # noqa: ARG002
    ) -> Mapping[str, Schedule]:
        """Return the schedules of experiments, by name; `faults` receives the faults."""
        return {}

    def registered_paragraphs(
        self,
        contrasts: Mapping[str, JsonObject],  # noqa: ARG002
    ) -> list[tuple[str, list[str]]]:
        """Return headings and paragraphs for the page of a frozen plan, from its contrasts by
        name.
        """
        return []

    def rehearsal_paragraphs(
        self,
        results: Path,  # noqa: ARG002
    ) -> Iterable[str]:
        """Return paragraphs for the page of a rehearsal, from the folder of its results."""
        return []


ANALYSES: Registry[Analysis] = Registry("analysis", "analysis")


def analyses() -> Iterator[Analysis]:
    """Yield every registered analysis, sorted by name."""
    for name in ANALYSES:
        yield ANALYSES[name]
