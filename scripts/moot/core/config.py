"""The configuration as pydantic models: its one definition.

`config/schema.json` is generated from here.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from moot.core.experiment_config import ContrastConfig, ExperimentConfig
from moot.core.model_config import ModelConfig
from moot.core.model_values import check_ledger
from moot.core.rubric import Rubric
from moot.core.sections import add_section_fields
from moot.core.strict_model import Name, StrictModel, as_list
from moot.core.types import Fields


class Budget(StrictModel):
    """Hard limits on the totals of all calls in the ledger. Default: no limit."""

    usd: float | None = Field(None, ge=0, description="US dollars")
    tokens: int | None = Field(None, ge=0, description="prompt and generated tokens together")
    calls: int | None = Field(None, ge=0, description="calls")


class Publication(StrictModel):
    """The publisher's details, which a bundle contains."""

    license: str = Field("", description="Licence of the bundle: an address or an SPDX name.")
    creator: str = Field("", description="Person or institution that publishes the debates.")


class ShareConfig(StrictModel):
    """The data that a bundle contains besides shipped and synthetic data. Default: none."""

    datasets: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="Data sets whose cases and calls the bundle contains."
    )
    people: bool = Field(
        False,
        description="Include the answers and labels of people, under the names that they entered.",
    )


class PeopleConfig(StrictModel):
    """Texts that people read at the desk."""

    instructions: str = Field(
        "", description="File with the instructions that people read with each task. Default: none."
    )


class PowerConfig(StrictModel):
    """The effect and the test that `snakemake power` plans for."""

    difference: float = Field(
        0.1, gt=0, description="Smallest difference to detect, in the unit of the metric."
    )
    power: float = Field(
        0.8, gt=0, lt=1, description="Probability of detecting a difference of that size."
    )
    level: float = Field(0.05, gt=0, lt=1, description="Significance level of the two-sided test.")
    discordant_share: float = Field(
        0.3,
        gt=0,
        le=1,
        description=(
            "Share of cases that exactly one side gets right, assumed until there are debates."
        ),
    )


class InitConfig(StrictModel):
    """Answers to the questions of `snakemake init`; on a terminal it asks for missing ones."""

    file: str = Field("my.yaml", description="the file to write; an existing file is never changed")
    model: str = Field(
        "", description="the model's name at its server, a GGUF file's path, or smollm2-135m"
    )
    server: str = Field(
        "", description="a service, such as openai or ollama, or an address: http://ADDRESS/v1"
    )
    data: str = Field(
        "",
        description="a table's path (.csv, .xlsx, .jsonl, .parquet), or a data set such as nlsy97",
    )
    text: str = Field(
        "",
        description=(
            "the table's column that models read; default: the one with the longest texts"
        ),
    )
    target: str = Field(
        "",
        description=(
            "its column with the true label; default: a column with a name such as outcome, or "
            "else the last one with few different cells"
        ),
    )
    question: str = Field("", description="the question that a prediction answers, one sentence")
    protocol: str = Field(
        "",
        description=(
            "debate (debaters with assigned answers and a judge, compared with the judge alone),"
            " courtroom (prosecutor, defence and judge, compared likewise) or panel (three judges,"
            " compared before and after they hear each other); default: debate for a table"
        ),
    )
    usd: float | None = Field(None, ge=0, description="the budget in US dollars; 0: no limit")


class DoctorConfig(StrictModel):
    """The checks that `snakemake doctor` makes."""

    make_calls: bool = Field(
        False,
        description="Let each model answer a call or two, which are paid for. Default: no calls.",
    )


if TYPE_CHECKING:

    class ConfigSections(StrictModel):
        """The keys at the top level that analyses register."""
else:
    ConfigSections = add_section_fields(StrictModel, "config")


class Config(ConfigSections):
    """The whole configuration."""

    seed: int = Field(ge=0, lt=2**32, description="the seed of all random choices")
    data_root: str = Field("data/raw", description="folder of local and downloaded data")
    ledger: Annotated[str, AfterValidator(check_ledger)] = Field(
        "data/ledger",
        description=(
            "the ledger of replies: a folder, or a SQLAlchemy URL (postgresql+psycopg://host/moot)"
        ),
    )
    replay: bool = Field(
        False, description="take every reply from the ledger; a missing one is an error"
    )
    rehearsal: bool = Field(
        False,
        description=(
            "a stand-in replaces all models; `snakemake rehearse` sets this, in a separate folder"
        ),
    )
    shards: int = Field(
        1,
        ge=1,
        le=10_000,
        description=(
            "number of jobs into which an experiment and model is divided, by a hash of the case"
        ),
    )
    budget: Budget = Field(
        default_factory=Budget, description="hard limits on the totals of all replies in the ledger"
    )
    run: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (),
        description=(
            "experiments to run, by name or pattern (paper-*); the name of a grid runs all of "
            "it; default: all"
        ),
    )
    deviation: str = Field(
        "",
        description=(
            "why this run departs from the frozen plan; without it the report says: unexplained"
        ),
    )
    replace_results: bool = Field(
        False, description="replace the tables of another configuration in the same folder"
    )
    min_debates: int = Field(
        10,
        ge=1,
        description=(
            "Number of debates (cases x repeats) below which an experiment is a trial run, which "
            "is left out of tables with conclusions."
        ),
    )
    annotations: tuple[str, ...] = Field(
        ("human", "rules", "judge"),
        description="order in which labelers count if several labelled a statement",
    )
    leave_out: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (),
        description=(
            "analyses whose tables, figures and marks in the reader are left out, such as"
            " `record_check`"
        ),
    )
    annotation_sample: int = Field(
        100,
        ge=1,
        description=(
            "number of statements of each experiment and model that are drawn at random for "
            "people to label"
        ),
    )
    extensions: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (),
        description=(
            "folders with your own modules, which register protocols, data sets, baselines, "
            "scores, ..."
        ),
    )
    bundle: str = Field("", description="the bundle that `snakemake replay` rebuilds")
    prompts_from: str = Field(
        "",
        description=(
            "paper (PDF, HTML or text) from which `snakemake prompts` takes the paper's prompts, or"
            " the program of AgenticSimLaw's authors (.py; download: fetched)"
        ),
    )
    share: ShareConfig = Field(
        default_factory=ShareConfig,
        description="Your own data that `snakemake bundle` includes.",
    )
    people: PeopleConfig = Field(
        default_factory=PeopleConfig,
        description="Texts that people read at the desk.",
    )
    publication: Publication = Field(
        default_factory=Publication,
        description="Publisher's details in the bundle.",
    )
    models: Mapping[Name, ModelConfig] = Field(description="language models by name")
    datasets: Mapping[Name, Fields] = Field(
        description="data sets by name; the loader of a data set defines its options"
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
        default_factory=PowerConfig, description="Settings of `snakemake power`."
    )
    init: InitConfig = Field(
        default_factory=InitConfig, description="Settings of `snakemake init`."
    )
    doctor: DoctorConfig = Field(
        default_factory=DoctorConfig, description="Settings of `snakemake doctor`."
    )

    def is_trial(self, experiment: ExperimentConfig) -> bool:
        """Return whether an experiment has too few debates for conclusions.

        Such a trial run is left out of tables.
        """
        return (
            experiment.cases is not None
            and experiment.cases * experiment.repeats < self.min_debates
        )


def schema_json() -> str:
    """Return the JSON schema of the configuration, as `config/schema.json` holds it."""
    return json.dumps(Config.model_json_schema(), indent=2, ensure_ascii=False) + "\n"
