"""The keys `arms`, `arm_models` and `arm_cases` of an experiment."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from moot.core.sections import DISPLAY_ONLY_OF_BASE, ConfigSection, register_section
from moot.core.strict_model import Name, as_list

_Names = Annotated[tuple[Name, ...], BeforeValidator(as_list)]

ARM_NAMES: ConfigSection[tuple[str, ...]] = register_section(
    ConfigSection(
        "experiment",
        "arms",
        tuple,
        "control arms (docs: Control arms): one further experiment, NAME-arm=ARM, for each",
        DISPLAY_ONLY_OF_BASE,
        annotation=_Names,
        default=(),
        module=__name__,
    )
)
ARM_MODELS: ConfigSection[tuple[str, ...]] = register_section(
    ConfigSection(
        "experiment",
        "arm_models",
        tuple,
        "the models of the experiment that its control arms run with; default: all",
        DISPLAY_ONLY_OF_BASE,
        annotation=_Names,
        default=(),
        module=__name__,
    )
)
ARM_CASES: ConfigSection[int] = register_section(
    ConfigSection(
        "experiment",
        "arm_cases",
        int,
        "the number of the experiment's cases that its control arms debate, the first ones;"
        " default: all",
        DISPLAY_ONLY_OF_BASE,
        annotation=Annotated[int, Field(ge=1)] | None,
        module=__name__,
    )
)
