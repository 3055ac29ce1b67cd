"""The keys `exchange` and `exchange_values` of data sets of people."""

from typing import Annotated, Literal

from pydantic import AfterValidator, ValidationInfo

from moot.core.sections import ConfigSection, register_section

Feature = Literal["", "sex", "race"]
Values = tuple[str, str]


def _check_feature_is_named(values: Values | None, info: ValidationInfo) -> Values | None:
    if values and info.data.get("exchange") == "":
        raise ValueError("'exchange_values' needs `exchange`; add it")
    return values


EXCHANGE = register_section(
    ConfigSection(
        "people",
        "exchange",
        str,
        "Feature that is exchanged in the test cases, all else equal, to make counterfactual"
        " people. Default: none.",
        annotation=Feature,
        default="",
        module=__name__,
    )
)
EXCHANGE_VALUES = register_section(
    ConfigSection(
        "people",
        "exchange_values",
        tuple[str, str],
        "The two values of `exchange`. Default: male and female, or the values for white and"
        " Black in the data.",
        annotation=Annotated[Values | None, AfterValidator(_check_feature_is_named)],
        module=__name__,
    )
)
