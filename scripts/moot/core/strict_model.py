"""The base of the configuration's models, and common types of values."""

from typing import Annotated, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
)

from moot.core.types import Json

MAX_NAME_CHARS = 150
Name = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._=-]*$", max_length=MAX_NAME_CHARS)
]
"""A name that becomes a folder or file: lower-case letters, digits, '.', '_', '-', '='."""

Share = Annotated[float, Field(ge=0, le=1)]


def as_list(value: object) -> object:
    """Return a single text as a list."""
    return [value] if isinstance(value, str) else value


def check_names_unique(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names after a check that each occurs only once."""
    if repeated_names := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"'{repeated_names[0]}' is given twice")
    return names


class StrictModel(BaseModel):
    """A part of the configuration.

    An unknown key is an error, and `true` is not a number.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        defer_build=True,  # a job reads a checked plan and validates nothing
    )

    @field_validator("*", mode="before")
    @classmethod
    def _truth_values_are_no_numbers(cls, value: Json, key: ValidationInfo) -> Json:
        if isinstance(value, bool):
            kind = cls.model_fields[str(key.field_name)].annotation
            kinds = (kind, *get_args(kind))
            if bool not in kinds and (int in kinds or float in kinds):
                raise ValueError(f"expected a {'whole ' * (int in kinds)}number")
        return value
