"""The key `stop` of a contrast."""

from pydantic import Field

from moot.core.sections import ConfigSection, register_section
from moot.core.strict_model import StrictModel


class StopConfig(StrictModel):
    """When the debates of a contrast end before all planned cases are debated."""

    cases_per_stage: int = Field(
        ge=1, description="cases that are debated before each interim analysis of the contrast"
    )
    difference: float = Field(
        gt=0, description="the smallest difference that matters, in the metric's unit"
    )
    alpha: float = Field(
        0.05, gt=0, lt=1, description="level of the decision over all interim analyses together"
    )
    futility: bool = Field(
        True,
        description=(
            "after half of the planned cases, stop if even twice the planned number would not"
            " decide the contrast"
        ),
    )
    usd: float | None = Field(
        None,
        ge=0,
        description=(
            "US dollars for the debates of both sides; a stage that would exceed them is not held;"
            " default: no limit"
        ),
    )


STOP = register_section(
    ConfigSection(
        "contrast",
        "stop",
        StopConfig,
        "when its debates end early; default: all planned cases are debated",
    )
)
