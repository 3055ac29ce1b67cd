"""The key `papers`: which of the papers' tables and figures a run fills, and with which models."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from moot.core.sections import DISPLAY_ONLY, ConfigSection, register_section
from moot.core.strict_model import StrictModel, as_list

Names = Annotated[tuple[str, ...], BeforeValidator(as_list)]


class PapersConfig(StrictModel):
    """The items that a run fills, with their models, cases and data."""

    items: Names = Field(
        ("all",),
        description="Items (`courtroom/table4`), papers (`courtroom`) or `all`. Default: all.",
    )
    design: Literal["full", "lean"] = Field(
        "full",
        description=(
            "`full`: all that the paper did; `lean`: without calls, models and cases that the"
            " items do not show. Default: full."
        ),
    )
    models: Names = Field(
        (), description="Models that take the place of the paper's. Default: the paper's."
    )
    cases: int | None = Field(
        None, ge=1, description="Most cases of each experiment. Default: as many as the paper."
    )
    repeats: int | None = Field(
        None, ge=1, description="Debates of each case. Default: as many as the paper."
    )
    seats: Mapping[str, str] = Field(
        default_factory=dict,
        description="Seat (such as `grader` or `labeler`) to its model. Default: the debate's own.",
    )
    datasets: Mapping[str, Any] = Field(
        default_factory=dict,
        description=(
            "Data set to a source (`synthetic`, `sample`, `local`) or to options that replace the"
            " paper's. Default: the paper's data."
        ),
    )


PAPERS = register_section(
    ConfigSection(
        "config",
        "papers",
        PapersConfig,
        "the papers' tables and figures that `snakemake papers` fills; default: none, the pages"
        " show the results that exist",
    )
)

ALLOW_FEWER_CASES: ConfigSection[bool] = register_section(
    ConfigSection(
        "experiment",
        "allow_fewer_cases",
        bool,
        "whether to take all cases where the data set has fewer than `cases`; default: an error",
        marks=DISPLAY_ONLY,
        default=False,
        module=__name__,
    )
)
