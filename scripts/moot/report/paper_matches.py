"""Which experiments of the papers a run repeats, and how it differs from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PaperMatch:
    """How a run, or a data set with its trained models, relates to config/papers/.

    Attributes:
        repeats: The experiments of the paper that it repeats; `baselines/DATASET` for a data set.
        repeated_but_model: those that it repeats with another model.
        difference: how it differs from the most similar one, in words; "" if it repeats one.
        our_wording: whether its prompts, facts or scripts are in moot's words instead of the
            paper's.
        wording: whose words its prompts have, for readers.
    """

    repeats: tuple[str, ...] = ()
    repeated_but_model: tuple[str, ...] = ()
    difference: str = ""
    our_wording: bool = False
    wording: str = ""


@dataclass(frozen=True)
class PaperMatches:
    """How runs, and models trained on a data set, relate to the papers.

    Attributes:
        runs: by experiment and model.
        datasets: by data set.
    """

    runs: Mapping[tuple[str, str], PaperMatch] = field(default_factory=dict)
    datasets: Mapping[str, PaperMatch] = field(default_factory=dict)

    def run(self, experiment: str, model: str) -> PaperMatch:
        """Return the match of an experiment and model; one that is not listed repeats nothing."""
        return self.runs.get((experiment, model), PaperMatch())

    def dataset(self, name: str) -> PaperMatch:
        """Return the match of a data set."""
        return self.datasets.get(name, PaperMatch())
