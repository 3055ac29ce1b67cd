"""One experiment of a run, with everything that its entry names looked up."""

from collections.abc import Mapping
from dataclasses import dataclass

from moot.core.experiment_config import ExperimentConfig
from moot.llm.prompts import Prompts
from moot.protocols import ProtocolParams
from moot.protocols.people import is_person


@dataclass(frozen=True)
class Experiment:
    """One experiment of a run, grids expanded, everything named looked up.

    Attributes:
        needs: names to the artifacts below `results/` that its debates read, with `{model}` and
            `{dataset}` in place of names.
    """

    name: str
    config: ExperimentConfig
    params: ProtocolParams
    study: str
    needs: Mapping[str, str]
    prompts: Prompts

    def needed_by(self, model: str) -> dict[str, str]:
        """The artifacts below `results/` that the debates of one of its models need, by name."""
        return {
            name: path.format(model=model, dataset=self.config.dataset)
            for name, path in self.needs.items()
        }

    @property
    def seats(self) -> set[str]:
        """The models that speak in it in addition to the experiment's own."""
        return {voice for voice in self.params.seats.values() if not is_person(voice)}

    @property
    def people(self) -> set[str]:
        """The people who sit in it: `person`, or `person:NAME`."""
        return set(self.params.seats.values()) - self.seats
