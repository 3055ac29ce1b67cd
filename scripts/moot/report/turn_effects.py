"""Effects of single turns on a verdict, measured by analyses, for the reader and for exports.

An analysis registers a `TurnEffectSource` in a module `effects*`.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from moot.core.registry import Registry
from moot.core.types import JsonObject
from moot.scores.results import ExperimentResults

EXPORTED_FIELDS = ("effect", "effect_low", "effect_high", "effect_floor", "effect_moved")
"""The fields of a turn's effect in exports.

They are the effect, the ends of its 95 % interval, the change when the judge is asked again, and
whether the turn is called moved.
"""

DebateName = tuple[str, str, str]
"""The experiment, the model and the id of a debate."""
TurnPlace = tuple[str, str, int]
"""The model, the id of a debate, and the place of a turn among its public turns, from 1."""


@dataclass(slots=True)
class DebateEffects:
    """What moved the judge of a debate.

    Attributes:
        turns: By turn number, an effect for each judge who was asked again: effect, low, high,
            floor and moved, with the judge and the verdict.
        passages: By turn number, the passages that were looked up in the record (`record_check`):
            text, start, result, found_turn (0 for the case, -1 for none) and found_words.
    """

    turns: dict[int, list[JsonObject]] = field(default_factory=dict)
    passages: dict[int, list[JsonObject]] = field(default_factory=dict)

    def update(self, effects: "DebateEffects") -> None:
        """Add the effects that another analysis measured."""
        self.turns.update(effects.turns)
        self.passages.update(effects.passages)


@dataclass(frozen=True, slots=True)
class StudyEffects:
    """The effects of turns in the debates of some experiments.

    Attributes:
        debates: The effects, by debate.
        measured_by: The experiments that measured them. The reader shows their results at the turns
            of the debates that they analyse, and not as debates.
    """

    debates: dict[DebateName, DebateEffects] = field(default_factory=dict)
    measured_by: set[str] = field(default_factory=set)


class TurnEffectSource(ABC):
    """An analysis that measures effects of turns."""

    @abstractmethod
    def measure_study(self, experiments: Mapping[str, ExperimentResults]) -> StudyEffects:
        """Return the effects of turns in the debates of a study's experiments."""

    def measure_experiment(self, _results: ExperimentResults, /) -> Mapping[TurnPlace, JsonObject]:
        """Return the effects that an experiment measured, with `EXPORTED_FIELDS`; by default none.

        Exports hold only effects on verdicts.
        """
        return {}


TURN_EFFECTS: Registry[TurnEffectSource] = Registry("source of turns' effects", "effects")


def effects_of_study(
    experiments: Mapping[str, ExperimentResults], left_out: Collection[str] = ()
) -> StudyEffects:
    """Return the effects of turns that analyses measured in a study's debates.

    Analyses in `left_out` do not count.
    """
    effects = StudyEffects()
    for name in (name for name in TURN_EFFECTS if name not in left_out):
        measured = TURN_EFFECTS[name].measure_study(experiments)
        for debate, debate_effects in measured.debates.items():
            effects.debates.setdefault(debate, DebateEffects()).update(debate_effects)
        effects.measured_by.update(measured.measured_by)
    return effects


def effects_of_experiment(results: ExperimentResults) -> dict[TurnPlace, JsonObject]:
    """Return the effects that all analyses measured in an experiment."""
    effects: dict[TurnPlace, JsonObject] = {}
    for name in TURN_EFFECTS:
        effects |= TURN_EFFECTS[name].measure_experiment(results)
    return effects
