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
    models: Names = Field((), description="Models that replace the paper's. Default: the paper's.")
    cases: int | None = Field(
        None,
        ge=1,
        description=(
            "Maximum number of cases of each experiment; cases to calibrate with shrink in"
            " proportion. Default: as many as the paper."
        ),
    )
    repeats: int | None = Field(
        None, ge=1, description="Debates of each case. Default: as many as the paper."
    )
    prompts: Literal["moot", "paper"] = Field(
        "moot",
        description=(
            "`paper`: the passages that `snakemake prompts` took from your copy of the paper, where"
            " it prints prompts; `moot`: moot's own words. Default: moot."
        ),
    )
    datasets: Mapping[str, Any] = Field(
        default_factory=dict,
        description=(
            "Source (`synthetic`, `sample`, `local`), or options, by data set, that replace the "
            "paper's. Default: the paper's data."
        ),
    )


PAPERS = register_section(
    ConfigSection(
        "config",
        "papers",
        PapersConfig,
        "the papers' tables and figures that `snakemake papers` fills; default: none, and the "
        "pages show existing results",
    )
)

ALLOW_FEWER_CASES: ConfigSection[bool] = register_section(
    ConfigSection(
        "experiment",
        "allow_fewer_cases",
        bool,
        "whether to use all cases if the data set has fewer than `cases`; default: an error",
        marks=DISPLAY_ONLY,
        default=False,
        module=__name__,
    )
)
