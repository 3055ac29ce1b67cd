"""An experiment in the configuration, its grids, and the contrasts that are planned."""

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

    protocol: Name = Field(
        description=(
            "The protocol by which cases are debated; leave it out with `source: recorded`."
        )
    )
    source: Literal["models", "recorded"] = Field(
        "models",
        description=(
            "Where debates come from: `models` asks models, `recorded` takes the records of the"
            " data set."
        ),
    )
    dataset: Name = Field(
        description=("The data set whose cases are debated, by its name under `datasets`.")
    )
    models: Annotated[
        tuple[Name, ...], BeforeValidator(as_list), AfterValidator(check_names_unique)
    ] = Field(
        min_length=1,
        description=("Models by their names under `models`; each runs the whole experiment."),
    )
    cases: int | None = Field(
        None,
        ge=1,
        description=(
            "Number of cases, chosen by the seed; a larger number keeps the cases of a smaller"
            " one. Default: all."
        ),
    )
    case_ids: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (), description="Ids of the cases to debate. Default: chosen by the seed."
    )
    repeats: int = Field(
        1,
        ge=1,
        description=("Debates of each case; more of them narrow the intervals where replies vary."),
    )
    trial_on_request: bool = Field(
        False,
        description=(
            "Whether `run` must name the experiment while it is a trial run (fewer debates than"
            " `min_debates`)."
        ),
        json_schema_extra=DISPLAY_ONLY,
    )
    needs_data: str = Field(
        "",
        description=(
            "A file or folder below `data_root` without which the experiment runs only if `run`"
            " names it in full."
        ),
        json_schema_extra=DISPLAY_ONLY,
    )
    split: Literal["train", "validation", "test"] = Field(
        "test", description="The split whose cases are debated."
    )
    calibration_cases: int = Field(
        0,
        ge=0,
        description=(
            "Number of validation cases that are debated as well, to fit the threshold of"
            " likelihood answers."
        ),
    )
    study: str = Field(
        "",
        description="The study whose tables show the experiment. Default: the protocol's.",
        json_schema_extra=DISPLAY_ONLY,
    )
    control: str = Field(
        "", description=("The control by which the experiment differs from `control_of`.")
    )
    control_of: str = Field("", description="The experiment with which the control is compared.")
    labelers: tuple[str, ...] = Field(
        (),
        description=(
            "Who labels statements: `rules`, `judge` (its own model), `judge:MODEL`, `human`,"
            " or your own labeler."
        ),
        json_schema_extra=DISPLAY_ONLY_OF_BASE,
    )
    rubric: str = Field(
        "",
        description="The rubric by which statements are labelled. Default: the protocol's.",
        json_schema_extra=DISPLAY_ONLY_OF_BASE,
    )
    params: Fields = Field(
        default_factory=dict,
        description=("Parameters of the protocol, which docs/reference.md lists."),
    )
    prompts: str = Field(
        "",
        description=(
            "A folder of prompt templates, which replace templates of the same name in this "
            "experiment."
        ),
    )
    grid: Mapping[str, Annotated[tuple[Json, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description=(
            "Values of a parameter, or of `prompts`; each makes an experiment NAME-PARAMETER=VALUE."
        ),
    )

    @model_validator(mode="after")
    def _check_control(self) -> "ExperimentConfig":
        if bool(self.control) != bool(self.control_of):
            raise ValueError(
                "`control` and `control_of` go together: the change, and the changed experiment"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _recorded_debates_need_no_protocol(cls, entry: Json) -> Json:
        """Set the protocol of experiments with `source: recorded`.

        An entry needs either a protocol or this source.
        """
        if not isinstance(entry, Mapping):
            return entry
        protocol = entry.get("protocol", RECORDED if entry.get("source") == RECORDED else None)
        if protocol is None:
            raise ValueError("'protocol' is missing; name one, or set `source: recorded`")
        if (protocol == RECORDED) != (entry.get("source") == RECORDED):
            raise ValueError(
                f"protocol '{protocol}' cannot be combined with source "
                f"'{entry.get('source', 'models')}'"
            )
        return {**entry, "protocol": protocol}


if TYPE_CHECKING:

    class ContrastSections(StrictModel):
        """The keys that analyses register for a contrast."""
else:
    ContrastSections = add_section_fields(StrictModel, "contrast")


class ContrastConfig(ContrastSections):
    """A comparison that is planned before the run; only these are tested as confirmatory.

    A side is EXPERIMENT or EXPERIMENT/MODEL; without a model it is the set of all models that both
    sides share.
    """

    first: str = Field(
        description=(
            "The first side: EXPERIMENT/MODEL, or EXPERIMENT for all models that both sides share,"
            " or for the only model of each."
        )
    )
    second: str = Field("", description="The second side, named like the first.")
    threshold: float | None = Field(
        None,
        description=(
            "The number with which the first side's metric is compared, instead of a second side."
        ),
    )
    metric: str = Field(
        "accuracy",
        description=(
            "The metric that is compared debate by debate; docs/reference.md lists the metrics"
            " of contrasts."
        ),
    )
    second_metric: str = Field("", description="The metric of the second side. Default: `metric`.")
    direction: Literal["first_higher", "first_lower", "differ"] = Field(
        "differ",
        description=("The expected difference: `first_higher`, `first_lower` or `differ`."),
    )
    paired: bool = Field(
        True,
        description=(
            "Whether only cases that both sides debated are compared; set `false` for sides"
            " with different cases."
        ),
    )
    first_cases: Mapping[str, str] = Field(
        default_factory=dict,
        description="Values of attributes that select the cases of the first side.",
    )
    second_cases: Mapping[str, str] = Field(
        default_factory=dict,
        description="Values of attributes that select the cases of the second side.",
    )
    question: str = Field(
        "", description=("The question that the comparison answers, as tables show it.")
    )
    published: str = Field(
        "", description="What was published on the question, with its source, for the first page."
    )
    margin: float | None = Field(
        None,
        gt=0,
        description=(
            "The smallest effect of interest, in units of the metric; setting it adds a test of"
            " whether the difference is smaller."
        ),
    )

    @model_validator(mode="after")
    def _check_second_side(self) -> "ContrastConfig":
        if bool(self.second) == (self.threshold is not None):
            raise ValueError(
                "a contrast compares `first` with `second` or with a `threshold`; name one of them"
            )
        if self.threshold is not None and (self.second_metric or self.second_cases):
            raise ValueError(
                "`second_metric` and `second_cases` describe `second`, which a `threshold`"
                " replaces; leave them out"
            )
        return self


def fields_marked(**mark: bool) -> set[str]:
    """Return the fields of an experiment that carry a mark, for example `display_only=True`."""
    names: set[str] = set()
    for name, field in ExperimentConfig.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and mark.items() <= extra.items():
            names.add(name)
    return names
