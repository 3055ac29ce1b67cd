"""The key `attribution` of an experiment."""

from typing import Literal

from pydantic import Field

from moot.core.sections import DISPLAY_ONLY_OF_BASE, ConfigSection, register_section
from moot.core.strict_model import StrictModel


class AttributionConfig(StrictModel):
    """The changes of a debate that measure what moved its judge."""

    repeats: int = Field(
        10,
        ge=2,
        le=40,
        description=(
            "how often the judge answers each changed debate; the unchanged one twice as often"
        ),
    )
    debates: int | None = Field(
        None, ge=1, description="the number of debates, drawn by the seed; default: all"
    )
    debate_selection: Literal["all", "changed"] = Field(
        "all",
        description=(
            "changed: only debates whose judge changed its belief, or whose case another repeat"
            " decided otherwise"
        ),
    )
    interventions: tuple[Literal["removed", "replaced", "reordered"], ...] = Field(
        ("removed", "replaced", "reordered"),
        description=(
            "removed: each turn is left out; replaced: each turn is replaced by a turn of the same"
            " length and role from another case's debate with the same outcome; reordered: debaters"
            " speak in reversed order within each round"
        ),
    )
    sentences: int = Field(
        0,
        ge=0,
        description="the number of sentences that are left out, from the turns that moved most",
    )
    ask_decisive_turn: bool = Field(False, description="also ask the judge which turn was decisive")
    rerun_from: Literal["", "turn"] = Field(
        "",
        description=(
            "turn: the debate continues `repeats` times from each turn, with and without this turn,"
            " and all seats are asked again"
        ),
    )
    min_effect: float = Field(
        0.05,
        ge=0,
        le=1,
        description="the smallest change of the verdict's probability that can be called moved",
    )


ATTRIBUTION_SECTION = register_section(
    ConfigSection(
        "experiment",
        "attribution",
        AttributionConfig,
        "measure what moved the judge, in the further experiment NAME-arm=attribution",
        DISPLAY_ONLY_OF_BASE,
    )
)
