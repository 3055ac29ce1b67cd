"""The configuration as pydantic models: its one definition.

`config/schema.json` is generated from here.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from moot.core.experiment_config import ContrastConfig, ExperimentConfig
from moot.core.model_config import ModelConfig, Name, StrictModel, as_list
from moot.core.model_values import check_ledger
from moot.core.rubric import Rubric
from moot.core.sections import add_section_fields
from moot.core.types import Fields


class Budget(StrictModel):
    """A hard stop over everything that the ledger holds; what is not given has no limit."""

    usd: float | None = Field(None, ge=0, description="US dollars")
    tokens: int | None = Field(None, ge=0, description="prompt and generated tokens together")
    calls: int | None = Field(None, ge=0, description="calls")


class Publication(StrictModel):
    """What exported data say of who publishes them; moot cannot know it."""

    license: str = Field(
        "", description="licence of the exported debates, as an address or an SPDX name"
    )
    creator: str = Field("", description="who publishes them: a person or an institution")
    url: str = Field("", description="where they are published")
    citation: str = Field("", description="how to cite them")


class ShareConfig(StrictModel):
    """What a bundle holds in addition to what ships with moot or is made up: nothing, unless it is
    named here.
    """

    datasets: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="data sets whose cases, and the calls about them, may be given away"
    )
    people: bool = Field(
        False, description="with what people answered and labelled, under the names that they gave"
    )


class PeopleConfig(StrictModel):
    """What people at the desk are shown."""

    instructions: str = Field(
        "", description="File with the instructions that people read with each task. Default: none."
    )


class PowerConfig(StrictModel):
    """What `snakemake power` plans for."""

    difference: float = Field(
        0.1, gt=0, description="the difference that is to be shown, in the metric's unit"
    )
    power: float = Field(0.8, gt=0, lt=1, description="probability of showing it where it is there")
    level: float = Field(0.05, gt=0, lt=1, description="level of the two-sided test")
    discordant_share: float = Field(
        0.3,
        gt=0,
        le=1,
        description=(
            "share of cases that one side alone gets right, assumed as long as there are no debates"
        ),
    )
    usd_per_debate: float | None = Field(
        None,
        ge=0,
        description=(
            "US dollars of one debate of both sides, verdicts included. Default: the mean cost of"
            " earlier debates."
        ),
    )


class DriftConfig(StrictModel):
    """How `snakemake drift` looks for models that answer otherwise than they did."""

    calls: int = Field(
        40, ge=1, description="recorded calls a model that are asked again, twice each"
    )


class InitConfig(StrictModel):
    """What `snakemake init` writes; on a terminal it asks for what is not said."""

    file: str = Field(
        "my.yaml", description="the file that is written; one that exists is never touched"
    )
    model: str = Field(
        "", description="the model's name at its server, a GGUF file's path, or smollm2-135m"
    )
    server: str = Field(
        "", description="openai, anthropic, openrouter, ollama, or http://ADDRESS/v1"
    )
    data: str = Field(
        "",
        description="a table's path (.csv, .xlsx, .jsonl, .parquet), or a data set such as nlsy97",
    )
    text: str = Field("", description="the table's column that models read; none: the longest")
    target: str = Field(
        "", description="its column with the true label; none: the last of few different cells"
    )
    question: str = Field("", description="what a prediction answers, one sentence")
    usd: float | None = Field(None, ge=0, description="the budget in US dollars; 0: no limit")


class DoctorConfig(StrictModel):
    """What `snakemake doctor` may do."""

    ask: bool = Field(
        False, description="ask each model three short calls, which cost what they cost"
    )
    table: str = Field(
        "", description="a table of debates: which columns could be what; nothing else is looked at"
    )


if TYPE_CHECKING:

    class ConfigSections(StrictModel):
        """The keys that analyses register for the top level."""
else:
    ConfigSections = add_section_fields(StrictModel, "config")


class Config(ConfigSections):
    """The whole configuration."""

    seed: int = Field(
        ge=0, lt=2**32, description="the one seed that reaches every choice at random"
    )
    data_root: str = Field("data/raw", description="folder of local and downloaded data")
    ledger: Annotated[str, AfterValidator(check_ledger)] = Field(
        "data/ledger",
        description=(
            "the ledger of replies: a folder, or a SQLAlchemy URL (postgresql+psycopg://host/moot)"
        ),
    )
    replay: bool = Field(
        False, description="take every reply from the ledger; one that is missing is an error"
    )
    rehearsal: bool = Field(
        False,
        description=(
            "simulated voices replace all models; set by `snakemake rehearse`, in a folder of"
            " its own"
        ),
    )
    shards: int = Field(
        1,
        ge=1,
        le=10_000,
        description="jobs that an experiment and model is cut into, by a hash of the case",
    )
    budget: Budget = Field(
        default_factory=Budget, description="hard limits over everything the ledger holds"
    )
    run: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (),
        description=(
            "experiments to run, by name or pattern (paper-*); a grid's own name runs all of it;"
            " none: all"
        ),
    )
    deviation: str = Field(
        "",
        description="why this run departs from the frozen plan; else the report says: unexplained",
    )
    replace_results: bool = Field(
        False, description="build tables over those of another configuration in the same folder"
    )
    min_debates: int = Field(
        1,
        ge=1,
        description=(
            "an experiment of fewer debates (cases x repeats) is a trial run, and enters no table"
            " that concludes from debates"
        ),
    )
    annotations: tuple[str, ...] = Field(
        ("human", "rules", "judge"),
        description="whose label counts where several labelers labelled a statement",
    )
    annotation_sample: int = Field(
        100,
        ge=1,
        description="statements that are drawn for people to label, of each experiment and model",
    )
    extensions: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (),
        description=(
            "folders of your own modules, which register protocols, data sets, baselines,"
            " scores, ..."
        ),
    )
    bundle: str = Field("", description="the bundle that `snakemake replay` rebuilds")
    share: ShareConfig = Field(
        default_factory=ShareConfig,
        description="what of your own `snakemake bundle` gives to others",
    )
    people: PeopleConfig = Field(
        default_factory=PeopleConfig,
        description="what people at the desk are shown",
    )
    publication: Publication = Field(
        default_factory=Publication,
        description="who publishes what `snakemake export` writes, and how",
    )
    models: Mapping[Name, ModelConfig] = Field(description="language models by name")
    datasets: Mapping[Name, Fields] = Field(
        description="data sets by name; options as their loader says"
    )
    experiments: Mapping[Name, ExperimentConfig] = Field(description="experiments by name")
    rubrics: Mapping[Name, Rubric] = Field(
        default_factory=dict, description="labels of statements, by name"
    )
    contrasts: Mapping[Name, ContrastConfig] = Field(
        default_factory=dict,
        description="planned comparisons by name; every other test is exploratory",
    )
    power: PowerConfig = Field(
        default_factory=PowerConfig, description="what `snakemake power` plans for"
    )
    drift: DriftConfig = Field(
        default_factory=DriftConfig, description="what `snakemake drift` asks again"
    )
    init: InitConfig = Field(default_factory=InitConfig, description="what `snakemake init` writes")
    doctor: DoctorConfig = Field(
        default_factory=DoctorConfig, description="what `snakemake doctor` may do"
    )

    def is_trial(self, experiment: ExperimentConfig) -> bool:
        """Whether an experiment has too few debates to conclude from, and so enters no study's
        tables.
        """
        return (
            experiment.cases is not None
            and experiment.cases * experiment.repeats < self.min_debates
        )


def schema_json() -> str:
    """The JSON schema of the configuration, as `config/schema.json` holds it."""
    return json.dumps(Config.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
