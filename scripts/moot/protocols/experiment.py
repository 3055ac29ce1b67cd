"""One experiment of a run, with all references of its entry resolved."""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.core.experiment_config import ExperimentConfig
from moot.llm.prompts import Prompts
from moot.protocols import ProtocolParams
from moot.protocols.people import is_person


@dataclass(frozen=True)
class Experiment:
    """One experiment of a run, with grids expanded and references resolved.

    Attributes:
        entry: The name of its entry in the configuration, from which a grid or an analysis derives
            several experiments.
        needs: The artifacts below `results/` that its debates read, by name. `{model}` and
            `{dataset}` in a path are the experiment's.
    """

    name: str
    config: ExperimentConfig
    params: ProtocolParams
    study: str
    needs: Mapping[str, str]
    prompts: Prompts
    entry: str = ""

    def needed_by(self, model: str) -> dict[str, str]:
        """Return the artifacts below `results/` that the debates of a model need, by name."""
        return {
            name: path.format(model=model, dataset=self.config.dataset)
            for name, path in self.needs.items()
        }

    @property
    def seats(self) -> set[str]:
        """The models that take seats in addition to the experiment's own."""
        return {voice for voice in self.params.seats.values() if not is_person(voice)}

    @property
    def people(self) -> set[str]:
        """The people in its seats: `person`, or `person:NAME`."""
        return set(self.params.seats.values()) - self.seats
