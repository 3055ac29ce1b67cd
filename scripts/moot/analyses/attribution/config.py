"""The key `attribution` of an experiment."""

from pydantic import Field

from moot.core.sections import DISPLAY_ONLY_OF_BASE, ConfigSection, register_section
from moot.core.strict_model import StrictModel


class AttributionConfig(StrictModel):
    """How the judge answers again about a debate without each of its turns."""

    repeats: int = Field(
        10,
        ge=2,
        le=40,
        description=(
            "how often the judge answers without each turn; the unchanged debate twice as often"
        ),
    )
    debates: int | None = Field(
        None, ge=1, description="the number of debates, drawn by the seed; default: all"
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
        "measure which turn moved the judge, in the further experiment NAME-arm=attribution",
        DISPLAY_ONLY_OF_BASE,
    )
)
