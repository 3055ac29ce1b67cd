"""The key `contamination` of a data set."""

from pydantic import Field

from moot.core.sections import DISPLAY_ONLY, ConfigSection, register_section
from moot.core.strict_model import StrictModel


class Contamination(StrictModel):
    """The models that are tested on whether they have seen a data set's cases.

    Their experiment is `contamination-DATASET`.
    """

    models: tuple[str, ...] = Field(min_length=1, description="the models to test")
    date: str = Field(
        "",
        description=(
            "the attribute with the date of the decision; default: cases are not divided by date"
        ),
    )
    cases: int | None = Field(
        None,
        ge=1,
        description="how many cases, drawn by the seed; default: all of the test split",
    )
    words: int = Field(
        60, ge=10, description="number of words with which a model continues a case's first half"
    )


CONTAMINATION = register_section(
    ConfigSection(
        "dataset",
        "contamination",
        Contamination,
        "test whether models have seen the cases",
        DISPLAY_ONLY,
    )
)
