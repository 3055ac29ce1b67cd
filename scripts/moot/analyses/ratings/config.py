"""The key `tournament` of an experiment."""

from pydantic import Field, model_validator

from moot.core.sections import DISPLAY_ONLY, ConfigSection, register_section
from moot.core.strict_model import Name, StrictModel


class TournamentConfig(StrictModel):
    """Which models debate each other, each pair with either side; the experiment's `models` judge
    all debates.
    """

    debaters: tuple[Name, ...] = Field(
        min_length=2, description="names under `models` that debate each other"
    )
    opponents: int | None = Field(
        None,
        ge=1,
        description="number of opponents of each debater; default: every other debater",
    )

    @model_validator(mode="after")
    def _can_be_paired(self) -> "TournamentConfig":
        number, opponents = len(self.debaters), self.opponents
        if len(set(self.debaters)) < number:
            raise ValueError("`debaters` names a model twice; name each once")
        if opponents and (opponents >= number or (opponents * number) % 2):
            raise ValueError(
                f"`opponents` is {opponents}; of {number} debaters each can have as many others as"
                f" all, from 1 to {number - 1}{', an even number' if number % 2 else ''}"
            )
        return self

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of debaters in both orders, the first speaker first.

        The design is cyclic: each debater meets the same number of opponents.
        """
        number = len(self.debaters)
        opponents = self.opponents or number - 1
        steps = list(range(1, opponents // 2 + 1))
        if opponents % 2:
            steps.append(number // 2)
        positions: set[tuple[int, int]] = set()
        for step in steps:
            for first in range(number):
                second = (first + step) % number
                positions.add((min(first, second), max(first, second)))
        pairs = []
        for first, second in sorted(positions):
            pairs.append((self.debaters[first], self.debaters[second]))
            pairs.append((self.debaters[second], self.debaters[first]))
        return pairs


TOURNAMENT = register_section(
    ConfigSection(
        "experiment",
        "tournament",
        TournamentConfig,
        "models that debate each other: one experiment, NAME-A-against-B, for each pair and its"
        " swap",
        DISPLAY_ONLY,
    )
)
