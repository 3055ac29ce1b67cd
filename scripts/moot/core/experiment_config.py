"""An experiment in the configuration, its grids, and the contrasts that are
planned between them.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from moot.core.sections import DISPLAY_ONLY, DISPLAY_ONLY_OF_BASE, add_section_fields
from moot.core.strict_model import Name, StrictModel, as_list, check_names_unique
from moot.core.types import Fields, Json

RECORDED = "recorded"
"""The protocol of experiments whose debates are taken from records."""

COMPARISON = "comparison"
"""The study whose tables show the experiments of all studies side by side."""


if TYPE_CHECKING:

    class ExperimentSections(StrictModel):
        """The keys that analyses register for an experiment."""
else:
    ExperimentSections = add_section_fields(StrictModel, "experiment")


class ExperimentConfig(ExperimentSections):
    """A protocol over a data set's cases by some models."""

    protocol: Name = Field(description="the protocol's name; none with `source: recorded`")
    source: Literal["models", "recorded"] = Field(
        "models",
        description=(
            "models: they are asked; recorded: the records of the data set say what was said"
        ),
    )
    dataset: Name = Field(description="the data set's name under `datasets`")
    models: Annotated[
        tuple[Name, ...], BeforeValidator(as_list), AfterValidator(check_names_unique)
    ] = Field(min_length=1, description="names under `models`; each runs the whole experiment")
    cases: int | None = Field(
        None,
        ge=1,
        description="how many cases, chosen by seed; more cases keep those of fewer; none: all",
    )
    repeats: int = Field(1, ge=1, description="how often each case is debated")
    trial_on_request: bool = Field(
        False,
        description=(
            "as long as it is a trial run (fewer debates than `min_debates`), `run` must name it"
        ),
        json_schema_extra=DISPLAY_ONLY,
    )
    needs_data: str = Field(
        "",
        description=(
            "a file or folder of `data_root`; where it is not there, `run` must name it, by no"
            " pattern"
        ),
        json_schema_extra=DISPLAY_ONLY,
    )
    split: Literal["train", "validation", "test"] = Field(
        "test", description="which split's cases are debated"
    )
    calibration_cases: int = Field(
        0,
        ge=0,
        description="validation cases run as well, to fit the threshold of likelihood answers on",
    )
    study: str = Field(
        "",
        description="the study whose tables it enters; none: the protocol's own",
        json_schema_extra=DISPLAY_ONLY,
    )
    control: str = Field("", description="what it changes, as a control of `control_of`")
    control_of: str = Field("", description="the experiment with which the control is compared")
    labelers: tuple[str, ...] = Field(
        (),
        description="rules, judge (its model), judge:MODEL, human, or a labeler of yours",
        json_schema_extra=DISPLAY_ONLY_OF_BASE,
    )
    rubric: str = Field(
        "",
        description="rubric that its statements are labelled by; none: the protocol's own",
        json_schema_extra=DISPLAY_ONLY_OF_BASE,
    )
    params: Fields = Field(default_factory=dict, description="the protocol's parameters: see there")
    prompts: str = Field(
        "",
        description=(
            "folder of prompt templates that replace those of the same names, for this experiment"
            " alone"
        ),
    )
    grid: Mapping[str, Annotated[tuple[Json, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description=(
            "parameter, or `prompts`, to values: one experiment, NAME-PARAMETER=VALUE, for each"
        ),
    )

    @model_validator(mode="after")
    def _check_control(self) -> "ExperimentConfig":
        if bool(self.control) != bool(self.control_of):
            raise ValueError(
                "`control` and `control_of` go together: what it changes, and of which experiment"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _recorded_debates_need_no_protocol(cls, entry: Json) -> Json:
        """`source: recorded` is the protocol of that name; one of the two is asked for."""
        if not isinstance(entry, Mapping):
            return entry
        protocol = entry.get("protocol", RECORDED if entry.get("source") == RECORDED else None)
        if protocol is None:
            raise ValueError("'protocol' is missing; name one, or set `source: recorded`")
        if (protocol == RECORDED) != (entry.get("source") == RECORDED):
            raise ValueError(
                f"protocol '{protocol}' does not go with source '{entry.get('source', 'models')}'"
            )
        return {**entry, "protocol": protocol}


if TYPE_CHECKING:

    class ContrastSections(StrictModel):
        """The keys that analyses register for a contrast."""
else:
    ContrastSections = add_section_fields(StrictModel, "contrast")


class ContrastConfig(ContrastSections):
    """A comparison that is planned before the run: these alone are tested as confirmatory.

    A side is EXPERIMENT or EXPERIMENT/MODEL; without a model it is all models that both sides
    share, taken together.
    """

    first: str = Field(
        description=(
            "EXPERIMENT or EXPERIMENT/MODEL; an experiment alone: all models that both sides share"
        )
    )
    second: str = Field(description="what it is compared with, named alike")
    metric: str = Field(
        "accuracy",
        description=(
            "what is compared, debate by debate: one of the metrics of contrasts in"
            " docs/reference.md"
        ),
    )
    second_metric: str = Field(
        "", description="the second side's metric; none: as the first side's"
    )
    direction: Literal["first_higher", "first_lower", "differ"] = Field(
        "differ", description="what is expected"
    )
    paired: bool = Field(
        True,
        description="on the cases that both argued; no: where they argue different cases, on all",
    )
    first_cases: Mapping[str, str] = Field(
        default_factory=dict,
        description="attribute of the cases to the value that the first side's cases have",
    )
    second_cases: Mapping[str, str] = Field(
        default_factory=dict,
        description="attribute of the cases to the value that the second side's cases have",
    )
    question: str = Field("", description="what it answers, in words")
    margin: float | None = Field(
        None,
        gt=0,
        description=(
            "the smallest effect of interest: whether the difference is smaller is tested, too"
        ),
    )


def fields_marked(**mark: bool) -> set[str]:
    """The fields of an experiment that carry a mark, for example `display_only=True`."""
    names: set[str] = set()
    for name, field in ExperimentConfig.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and mark.items() <= extra.items():
            names.add(name)
    return names
