"""The changes that an analysis may make to a run, besides keys, protocols, scores and tables.

Each folder of `moot.analyses` registers at most one `Analysis`, in its module `analysis`, and
overrides the hooks that it needs.

    PYTHONPATH=scripts python -m moot.commands.registrations hook

lists the analyses that override each hook, and the hooks that no analysis overrides.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from moot.core.config import Config
from moot.core.config_errors import Faults
from moot.core.experiment_config import ExperimentConfig
from moot.core.registry import Registry
from moot.datasets import DatasetOptions
from moot.protocols import ProtocolParams


class Analysis:
    """The hooks of an analysis; each does nothing unless it is overridden."""

    def add_experiments(
        self, _config: Config, _faults: Faults, /
    ) -> Mapping[str, ExperimentConfig]:
        """Return further experiments of a configuration, by name, and note its faults."""
        return {}

    def derived_names(self, _name: str, _config: ExperimentConfig, /) -> Sequence[str]:
        """Return the names of the experiments that `derive_experiments` adds."""
        return []

    def derive_experiments(
        self, _name: str, _config: ExperimentConfig, _params: ProtocolParams, /
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
        /,
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

    def is_control(self, _config: ExperimentConfig, _dataset: DatasetOptions, /) -> bool:
        """Return whether an experiment only controls for others.

        Usual tables do not show it. Experiments with the key `control` are controls in any case.
        """
        return False


ANALYSES: Registry[Analysis] = Registry("analysis", "analysis")


def analyses() -> Iterator[Analysis]:
    """Yield every registered analysis, sorted by name."""
    for name in ANALYSES:
        yield ANALYSES[name]
