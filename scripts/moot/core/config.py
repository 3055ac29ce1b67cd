"""The configuration as pydantic models: its one definition. `config/schema.json` is generated from here."""

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from moot.core.model_config import BatchConfig, ModelConfig, Name, Price, ServeConfig, SimulatedVoice, Strict, as_list
from moot.core.model_values import check_ledger
from moot.core.places import Faults, Location, fault_message, location_of, plain_values, twice_given, where
from moot.core.rubric import Rubric
from moot.core.types import Fields, Json, JsonObject

RECORDED = "recorded"
"""The protocol of experiments whose debates are taken from records."""


class Budget(Strict):
    """A hard stop over everything that the ledger holds; what is not given has no limit."""

    usd: float | None = Field(None, ge=0, description="US dollars")
    tokens: int | None = Field(None, ge=0, description="prompt and generated tokens together")
    calls: int | None = Field(None, ge=0, description="calls")


class Publication(Strict):
    """What exported data say of who publishes them; moot cannot know it."""

    license: str = Field("", description="licence of the exported debates, as an address or an SPDX name")
    creator: str = Field("", description="who publishes them: a person or an institution")
    url: str = Field("", description="where they are published")
    citation: str = Field("", description="how to cite them")


class ShareConfig(Strict):
    """What a bundle holds in addition to what ships with moot or is made up: nothing, unless it is named here."""

    datasets: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="data sets whose cases, and the calls about them, may be given away"
    )
    people: bool = Field(False, description="with what people answered and labelled, under the names that they gave")


class ExperimentConfig(Strict):
    """A protocol over a data set's cases by some models."""

    protocol: Name = Field(description="the protocol's name; none with `source: recorded`")
    source: Literal["models", "recorded"] = Field(
        "models", description="models: they are asked; recorded: the records of the data set say what was said"
    )
    dataset: Name = Field(description="the data set's name under `datasets`")
    models: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        min_length=1, description="names under `models`; each runs the whole experiment"
    )
    cases: int | None = Field(None, ge=1, description="how many cases, chosen by seed; none: all")
    repeats: int = Field(1, ge=1, description="how often each case is debated")
    trial_on_request: bool = Field(
        False, description="as long as it is a trial run (fewer debates than `fewest_debates`), `run` must name it"
    )
    split: Literal["train", "validation", "test"] = Field("test", description="which split's cases are debated")
    calibration_cases: int = Field(
        0, ge=0, description="validation cases run as well, to fit the threshold of likelihood answers on"
    )
    study: str = Field("", description="the study whose tables it enters; none: the protocol's own")
    arms: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="control arms: one further experiment, NAME-arm=ARM, for each"
    )
    arm_models: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="those of its models that the control arms run with; none: all"
    )
    arm_cases: int | None = Field(
        None, ge=1, description="how many of its cases the control arms argue, the first ones; none: all"
    )
    arm: str = Field("", description="the control arm that it is, of the experiment `of`")
    of: str = Field("", description="the experiment that it is a control arm of")
    labelers: tuple[str, ...] = Field((), description="labelers of its statements (rules, judge, human), in order")
    rubric: str = Field("", description="rubric that its statements are labelled by; none: the protocol's own")
    params: Fields = Field(default_factory=dict, description="the protocol's parameters")
    prompts: str = Field(
        "", description="folder of prompt templates that replace those of the same names, for this experiment alone"
    )
    grid: Mapping[str, tuple[Json, ...]] = Field(
        default_factory=dict,
        description="parameter, or `prompts`, to values: one experiment, NAME-PARAMETER=VALUE, for each",
    )

    @model_validator(mode="after")
    def _arm_of_something(self) -> "ExperimentConfig":
        if bool(self.arm) != bool(self.of):
            raise ValueError("`arm` and `of` go together: which control arm, of which experiment")
        return self

    @model_validator(mode="before")
    @classmethod
    def _recorded_debates_need_no_protocol(cls, entry: Json) -> Json:
        """`source: recorded` is the protocol of that name; one of the two is asked for."""
        if not isinstance(entry, Mapping):
            return entry
        named = entry.get("protocol", RECORDED if entry.get("source") == RECORDED else None)
        if named is None:
            raise ValueError("'protocol' is missing; name one, or set `source: recorded`")
        if (named == RECORDED) != (entry.get("source") == RECORDED):
            raise ValueError(f"protocol '{named}' does not go with source '{entry.get('source', 'models')}'")
        return {**entry, "protocol": named}


class ContrastConfig(Strict):
    """A comparison that is planned before the run: these alone are tested as confirmatory.

    A side is EXPERIMENT or EXPERIMENT/MODEL; without a model it is all models that both sides share, taken together.
    """

    first: str = Field(
        description="EXPERIMENT or EXPERIMENT/MODEL; an experiment alone: all models that both sides share"
    )
    second: str = Field(description="what it is compared with, named alike")
    metric: str = Field(
        "accuracy", description="what is compared, debate by debate; docs/planning.md lists the metrics"
    )
    second_metric: str = Field("", description="the second side's metric; none: as the first side's")
    direction: Literal["first_higher", "first_lower", "differ"] = Field("differ", description="what is expected")
    paired: bool = Field(
        True, description="on the cases that both argued; no: where they argue different cases, on all"
    )
    first_cases: Mapping[str, str] = Field(
        default_factory=dict, description="attribute of the cases to the value that the first side's cases have"
    )
    second_cases: Mapping[str, str] = Field(
        default_factory=dict, description="attribute of the cases to the value that the second side's cases have"
    )
    question: str = Field("", description="what it answers, in words")


class PowerConfig(Strict):
    """What `snakemake power` plans for."""

    difference: float = Field(0.1, gt=0, description="the difference that is to be shown, in the metric's unit")
    power: float = Field(0.8, gt=0, lt=1, description="probability of showing it where it is there")
    level: float = Field(0.05, gt=0, lt=1, description="level of the two-sided test")
    discordant: float = Field(
        0.3,
        gt=0,
        le=1,
        description="share of cases that one side alone gets right, assumed as long as there are no debates",
    )


class DriftConfig(Strict):
    """How `snakemake drift` looks for models that answer otherwise than they did."""

    calls: int = Field(40, ge=1, description="recorded calls a model that are asked again, twice each")


class InitConfig(Strict):
    """What `snakemake init` writes; on a terminal it asks for what is not said."""

    file: str = Field("my.yaml", description="the file that is written; one that exists is never touched")
    model: str = Field("", description="the model's name at its server, a GGUF file's path, or smollm2-135m")
    server: str = Field("", description="openai, anthropic, openrouter, ollama, or an address")
    data: str = Field("", description="a table's path, or the name of a data set")
    text: str = Field("", description="the table's column that models read; none: the longest")
    target: str = Field("", description="its column with the true label; none: the last of few different cells")
    question: str = Field("", description="what a prediction answers, one sentence")
    usd: float | None = Field(None, ge=0, description="the budget; 0: no limit")


class DoctorConfig(Strict):
    """What `snakemake doctor` may do."""

    ask: bool = Field(False, description="ask each model three short calls, which cost what they cost")
    table: str = Field("", description="a table of debates: which columns could be what; nothing else is looked at")


class Config(Strict):
    """The whole configuration."""

    seed: int = Field(description="the one seed that reaches every choice at random")
    data_root: str = Field("data/raw", description="folder of local and downloaded data")
    ledger: Annotated[str, AfterValidator(check_ledger)] = Field(
        "data/ledger", description="folder, or SQLAlchemy URL, of the ledger of replies"
    )
    replay: bool = Field(False, description="take every reply from the ledger; one that is missing is an error")
    rehearsal: bool = Field(
        False, description="simulated voices replace all models; set by `snakemake rehearse`, in a folder of its own"
    )
    shards: int = Field(1, ge=1, description="jobs that an experiment and model is cut into")
    budget: Budget = Field(default_factory=Budget, description="hard limits over everything the ledger holds")
    run: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (), description="experiments to run, by name or pattern (paper-*); none: all"
    )
    replace_results: bool = Field(
        False, description="build tables over those of another configuration in the same folder"
    )
    fewest_debates: int = Field(
        1,
        ge=1,
        description="an experiment of fewer debates (cases x repeats) is a trial run, and enters no study's tables",
    )
    annotations: tuple[str, ...] = Field(
        ("human", "rules", "judge"), description="whose label counts where several labelers labelled a statement"
    )
    annotation_sample: int = Field(
        100, ge=1, description="statements that are drawn for people to label, of each experiment and model"
    )
    extensions: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (), description="folders of your own modules, which register protocols, data sets, baselines, scores, ..."
    )
    bundle: str = Field("", description="the bundle that `snakemake replay` rebuilds")
    share: ShareConfig = Field(
        default_factory=ShareConfig, description="what of your own `snakemake bundle` gives to others"
    )
    publication: Publication = Field(
        default_factory=Publication, description="who publishes what `snakemake export` writes, and how"
    )
    models: Mapping[Name, ModelConfig] = Field(description="language models by name")
    datasets: Mapping[Name, Fields] = Field(description="data sets by name; options as their loader says")
    experiments: Mapping[Name, ExperimentConfig] = Field(description="experiments by name")
    rubrics: Mapping[Name, Rubric] = Field(default_factory=dict, description="labels of statements, by name")
    contrasts: Mapping[Name, ContrastConfig] = Field(
        default_factory=dict, description="planned comparisons by name; every other test is exploratory"
    )
    power: PowerConfig = Field(default_factory=PowerConfig, description="what `snakemake power` plans for")
    drift: DriftConfig = Field(default_factory=DriftConfig, description="what `snakemake drift` asks again")
    init: InitConfig = Field(default_factory=InitConfig, description="what `snakemake init` writes")
    doctor: DoctorConfig = Field(default_factory=DoctorConfig, description="what `snakemake doctor` may do")

    def is_trial(self, experiment: ExperimentConfig) -> bool:
        """Whether an experiment has too few debates to conclude from, and so enters no study's tables."""
        return experiment.cases is not None and experiment.cases * experiment.repeats < self.fewest_debates


def _keys_known_at(location: tuple[int | str, ...], model: type[BaseModel] = Config) -> list[str]:
    """The keys that the configuration knows at a location of a validation error, for naming the nearest."""
    inner: dict[str, type[BaseModel]] = {"models": ModelConfig, "experiments": ExperimentConfig}
    inner |= {
        "budget": Budget,
        "publication": Publication,
        "share": ShareConfig,
        "power": PowerConfig,
        "drift": DriftConfig,
        "doctor": DoctorConfig,
    }
    inner |= {"contrasts": ContrastConfig, "rubrics": Rubric}
    inner |= {"price": Price, "batch": BatchConfig, "serve": ServeConfig, "simulated": SimulatedVoice}
    for part in location[:-1]:
        model = inner.get(str(part), model)
    return list(model.model_fields)


_SECTIONS = ("models", "datasets", "experiments", "contrasts", "rubrics")
"""The keys that hold entries by name."""
_ROUNDS = 10
"""What one fault hides shows when it is taken out, level by level."""
_ENTRY = 2
"""The parts of an entry's place: its section and its name."""


def read_config(raw: Fields, files: Iterable[Path], faults: Faults) -> Config:
    """The configuration from merged YAML, as far as it is sound: what is wrong is noted, and taken out.

    Raises:
        UserError: so much is wrong that nothing is left to look at.
    """
    files = list(files)
    for file in files:
        for key, first, second in twice_given(file):
            faults.add(f"{file}: line {second}: {key}: given twice; line {first} has it, too. Remove one of them.")
    touched: set[tuple[str, ...]] = set()

    def note(place: Location, problem: str) -> None:
        faults.add(f"{where(files, place)}: {problem}")
        touched.add(tuple(map(str, place[:_ENTRY])))

    sound = plain_values(raw, note)
    for _ in range(_ROUNDS):
        try:
            return Config.model_validate(sound)
        except ValidationError as error:
            for fault in error.errors():
                place = location_of(fault)
                own = len(place) > _ENTRY and fault["type"] != "missing"
                if own or tuple(map(str, place[:_ENTRY])) not in touched:  # else it follows from what was taken out
                    faults.add(fault_message(fault, where(files, place), place, _keys_known_at(place)))
                touched.add(_take_out(sound, place, fault["type"] == "missing", faults))
    faults.check()
    raise AssertionError("a fault is always noted")


def _take_out(sound: JsonObject, place: Location, missing: bool, faults: Faults) -> tuple[str, ...]:
    """Remove what is faulty: a key with a default, or else the entry that it belongs to; where that is."""
    if place == ("seed",):
        sound["seed"] = 0
    elif place[0] in _SECTIONS and len(place) == 1:
        faults.check()
    elif place[0] in _SECTIONS and (len(place) == _ENTRY or missing or place[0] == "rubrics"):
        sound[str(place[0])].pop(place[1], None)
        faults.broken.add(str(place[1]))
    else:
        node: Json = sound
        for part, below in pairwise(place):
            if not isinstance(node.get(part), dict) or below not in node[part]:
                break
            node = node[part]
        else:
            part = place[-1]
        node.pop(part, None)
    return tuple(map(str, place[:_ENTRY]))


def parse_config(raw: Fields, files: Iterable[Path] = ()) -> Config:
    """The configuration from merged YAML; raises `UserError` with a line for each mistake."""
    faults = Faults()
    config = read_config(raw, files, faults)
    faults.check()
    return config


def over_defaults(config: Fields, defaults: Iterable[Path]) -> JsonObject:
    """A configuration merged over those of some files, key by key, as Snakemake merges configuration files."""
    merged: JsonObject = {}
    for file in defaults:
        try:
            content = yaml.load(file.read_bytes(), yaml.CSafeLoader)
        except yaml.YAMLError:  # it takes less than Python's own: no halves of surrogate pairs
            content = yaml.safe_load(file.read_text(encoding="utf-8"))
        _merge(merged, content or {})
    _merge(merged, config)
    return merged


def _merge(target: JsonObject, over: Fields) -> None:
    for key, value in over.items():
        if isinstance(value, Mapping) and isinstance(target.get(key), dict):
            _merge(target[key], value)
        else:
            target[key] = deepcopy(value)


def schema_json() -> str:
    """The JSON schema of the configuration, as `config/schema.json` holds it."""
    return json.dumps(Config.model_json_schema(), indent=2, ensure_ascii=False) + "\n"


COMPARISON = "comparison"
"""The study whose tables show the experiments of all studies side by side."""
