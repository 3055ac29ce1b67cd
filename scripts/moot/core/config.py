"""The configuration as pydantic models: its one definition. `config/schema.json` is generated from here."""

import json
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from moot.core.errors import UserError, unknown_name

RECORDED = "recorded"
"""The protocol of experiments whose debates are taken from records."""

HUB = "hf:"
"""How the name of an embedded model begins that is a file on the Hugging Face Hub: `hf:ORG/REPO:FILE`."""

_HUB_FILE = re.compile(rf"{HUB}[\w.-]+/[\w.-]+:[^/:\s][^:\s]*\.gguf")

SIMULATED = "simulated"
"""The endpoint of voices that stand for models in a rehearsal."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._=-]*$")]
"""A name that becomes a folder or file: lower-case letters, digits, '.', '_', '-', '='."""


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Strict(BaseModel):
    """A part of the configuration; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Price(Strict):
    """US dollars per million tokens."""

    input: float = Field(0.0, ge=0, description="for prompt tokens")
    cached_input: float | None = Field(None, ge=0, description="for prompt tokens served from a cache; none: as input")
    output: float = Field(0.0, ge=0, description="for generated tokens")


class Budget(Strict):
    """A hard stop over everything that the ledger holds; what is not given has no limit."""

    usd: float | None = Field(None, ge=0, description="US dollars")
    tokens: int | None = Field(None, ge=0, description="prompt and generated tokens together")
    calls: int | None = Field(None, ge=0, description="calls")


Share = Annotated[float, Field(ge=0, le=1)]


class SimulatedVoice(Strict):
    """The statistical model by which a simulated voice answers in a rehearsal; beliefs are log-odds of the truth.

    docs/planning.md states the model. The defaults are plausible, and estimates of nothing.
    """

    competence: float = Field(
        0.65, gt=0, lt=1, description="how often it is right alone, before anything it likes or hears moves it"
    )
    difficulty: float = Field(
        1.0, ge=0, description="spread of the cases' difficulty, which all simulated models share"
    )
    own: float = Field(0.6, ge=0, description="spread of what this model alone makes of each case")
    wobble: float = Field(0.3, gt=0, description="spread from call to call, at temperature 1; in proportion to it")
    true_argument: float = Field(0.25, description="what an advocate's argument for the truth moves a belief by")
    false_argument: float = Field(0.2, description="what an advocate's argument against the truth moves it by")
    peer_pull: float = Field(0.3, description="pull towards the position of another model on a panel")
    human_pull: float = Field(0.6, description="pull towards the position of a person on a panel")
    stubbornness: float = Field(0.8, description="pull towards the position that it took last itself")
    label_liking: Mapping[str, float] = Field(default_factory=dict, description="label to how much it is liked")
    first_option: float = Field(0.0, description="liking for the label that the question names first")
    first_speaker: float = Field(0.0, description="liking for the side that was argued first")
    overconfidence: float = Field(
        1.5, ge=0, description="factor on the log-odds that it states; 1: right as often as stated, when alone"
    )
    unusable: Share = Field(0.0, description="share of replies that name no answer")
    empty: Share = Field(0.0, description="share of replies without text")
    cut_off: Share = Field(0.0, description="share of replies that end half-way")
    malformed: Share = Field(0.0, description="share of replies in bad form")
    refused: Share = Field(0.0, description="share of replies that refuse")
    misread: Share = Field(0.0, description="share of statements that it labels at random, as the judge of labels")
    grader_noise: float = Field(1.0, ge=0, description="standard deviation of its grades, of ten, around a steady one")
    words: int = Field(80, ge=1, description="words of a free text, as far as the most tokens of a reply allow")
    tokens_per_second: float = Field(40.0, gt=0, description="speed of the model that it stands for")
    seconds_to_first_token: float = Field(0.6, ge=0, description="latency of the model that it stands for")

    @model_validator(mode="after")
    def _shares_add_up(self) -> "SimulatedVoice":
        total = self.unusable + self.empty + self.cut_off + self.malformed + self.refused
        if total > 1:
            raise ValueError(f"the shares of bad replies add up to {total:g}; expected at most 1")
        return self


class ModelConfig(Strict):
    """A language model and how to reach it."""

    endpoint: Name = Field(
        "openai", description="embedded, openai (any compatible server), ollama, or simulated (rehearsals alone)"
    )
    model: str = Field(
        description="the model's name on the server; for embedded: smollm2-135m, a GGUF file's path, or "
        "hf:ORG/REPO:FILE for a file on the Hugging Face Hub"
    )
    revision: str | None = Field(
        None, description="the commit that a model hf:ORG/REPO:FILE is taken from, 40 hexadecimal digits"
    )
    base_url: str | None = Field(None, description="the server's address; none: the client's own default")
    served_as: str | None = Field(
        None,
        min_length=1,
        description="who answers, as the ledger knows it: an address or a name of your own; none: `base_url` "
        "(for embedded: `model`)",
    )
    api_key_env: str | None = Field(None, description="the environment variable that holds the key")
    temperature: float | None = Field(None, ge=0, description="none: as the protocol says")
    max_tokens: int = Field(512, ge=1, description="most tokens of one reply, unless the experiment says otherwise")
    seed: int | None = Field(None, description="sampling seed; none: the configuration's seed")
    context: int = Field(8192, ge=256, description="context window in tokens (embedded, ollama)")
    concurrency: int = Field(8, ge=1, description="calls under way at once")
    threads: int | None = Field(None, ge=1, description="processor threads of one job (embedded); none: every core")
    requests_per_minute: float | None = Field(None, gt=0, description="limit; none: no limit")
    tokens_per_minute: float | None = Field(None, gt=0, description="limit; none: no limit")
    timeout: float = Field(600.0, gt=0, description="seconds until one attempt is given up")
    attempts: int = Field(6, ge=1, description="attempts at one call before it counts as failed")
    price: Price = Field(default_factory=Price, description="US dollars per million tokens")
    structured: Literal["native", "prompted"] = Field(
        "native", description="send the JSON schema, or only describe it in the prompt as the papers did"
    )
    reasoning: bool = Field(
        False, description="a reasoning model: send max_completion_tokens and neither temperature nor seed"
    )
    parameters: Mapping[str, Any] = Field(default_factory=dict, description="further request parameters, sent as given")
    simulated: SimulatedVoice = Field(
        default_factory=SimulatedVoice, description="the simulated voice that stands for it in a rehearsal"
    )

    @field_validator("model")
    @classmethod
    def _files_of_the_hub_are_named_whole(cls, model: str, entry: ValidationInfo) -> str:
        if entry.data.get("endpoint") == "embedded" and model.startswith(HUB) and not _HUB_FILE.fullmatch(model):
            raise ValueError(f"expected {HUB}ORG/REPO:FILE, and FILE to end in .gguf")
        return model

    @field_validator("revision")
    @classmethod
    def _only_files_of_the_hub_have_a_revision(cls, revision: str | None, entry: ValidationInfo) -> str | None:
        on_hub = entry.data.get("endpoint") == "embedded" and str(entry.data.get("model")).startswith(HUB)
        if revision is not None and not on_hub:
            raise ValueError(f"this key goes with a model {HUB}ORG/REPO:FILE of the endpoint 'embedded' alone")
        return revision

    def threads_within(self, cores: int) -> int:
        """The threads that a job with `cores` gives to this model, if it runs inside the job."""
        return min(self.threads or cores, cores)

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """US dollars for one call of these token counts."""
        cached_price = self.price.input if self.price.cached_input is None else self.price.cached_input
        fresh = prompt_tokens - cached_tokens
        total = fresh * self.price.input + cached_tokens * cached_price + completion_tokens * self.price.output
        return total / 1e6


class ExperimentConfig(Strict):
    """A protocol over a data set's cases by some models."""

    protocol: Name = Field(description="the protocol's name; none with `source: recorded`")
    source: Literal["models", "recorded"] = Field(
        "models", description="models: they are asked; recorded: the records of the data set say what was said"
    )
    dataset: Name = Field(description="the data set's name under `datasets`")
    models: Annotated[tuple[Name, ...], BeforeValidator(_as_list)] = Field(
        min_length=1, description="names under `models`; each runs the whole experiment"
    )
    cases: int | None = Field(None, ge=1, description="how many cases, chosen by seed; none: all")
    repeats: int = Field(1, ge=1, description="how often each case is debated")
    split: Literal["train", "validation", "test"] = Field("test", description="which split's cases are debated")
    calibration_cases: int = Field(
        0, ge=0, description="validation cases run as well, to fit the threshold of likelihood answers on"
    )
    study: str = Field("", description="the study whose tables it enters; none: the protocol's own")
    arms: Annotated[tuple[Name, ...], BeforeValidator(_as_list)] = Field(
        (), description="control arms: one further experiment, NAME-arm=ARM, for each"
    )
    arm: str = Field("", description="the control arm that it is itself, beside the experiment `of`")
    of: str = Field("", description="the experiment that it is a control arm of")
    labelers: tuple[str, ...] = Field((), description="labelers of its statements (rules, judge, human), in order")
    params: Mapping[str, Any] = Field(default_factory=dict, description="the protocol's parameters")
    prompts: str = Field(
        "", description="folder of prompt templates that replace those of the same names, for this experiment alone"
    )
    grid: Mapping[str, tuple[Any, ...]] = Field(
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
    def _recorded_debates_need_no_protocol(cls, entry: Any) -> Any:
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


class Config(Strict):
    """The whole configuration."""

    seed: int = Field(description="the one seed that reaches every choice at random")
    data_root: str = Field("data/raw", description="folder of local and downloaded data")
    ledger: str = Field("data/ledger", description="folder, or SQLAlchemy URL, of the ledger of replies")
    replay: bool = Field(False, description="take every reply from the ledger; one that is missing is an error")
    rehearsal: bool = Field(
        False, description="simulated voices stand for all models; set by `snakemake rehearse`, in a folder of its own"
    )
    shards: int = Field(1, ge=1, description="jobs that an experiment and model is cut into")
    budget: Budget = Field(default_factory=Budget, description="hard limits over everything the ledger holds")
    run: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = Field(
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
    extensions: Annotated[tuple[str, ...], BeforeValidator(_as_list)] = Field(
        (), description="folders of your own modules, which register protocols, data sets, baselines, scores, ..."
    )
    models: Mapping[Name, ModelConfig] = Field(description="language models by name")
    datasets: Mapping[Name, Mapping[str, Any]] = Field(description="data sets by name; options as their loader says")
    experiments: Mapping[Name, ExperimentConfig] = Field(description="experiments by name")
    contrasts: Mapping[Name, ContrastConfig] = Field(
        default_factory=dict, description="planned comparisons by name; every other test is exploratory"
    )
    power: PowerConfig = Field(default_factory=PowerConfig, description="what `snakemake power` plans for")


def _keys_known_at(location: tuple[int | str, ...], model: type[BaseModel] = Config) -> list[str]:
    """The keys that the configuration knows at a location of a validation error, for naming the nearest."""
    inner: dict[str, type[BaseModel]] = {
        "models": ModelConfig,
        "experiments": ExperimentConfig,
        "budget": Budget,
        "price": Price,
        "simulated": SimulatedVoice,
        "contrasts": ContrastConfig,
        "power": PowerConfig,
    }
    for part in location[:-1]:
        model = inner.get(str(part), model)
    return list(model.model_fields)


def where(files: Iterable[Path], location: tuple[int | str, ...]) -> str:
    """The last configuration file that holds the longest part of a key's path, and the key: `file: a.b.c`."""
    best_file, best_depth = "configuration", 0
    for file in files:
        node, depth = yaml.safe_load(file.read_text(encoding="utf-8")) or {}, 0
        for part in location:
            if not isinstance(node, Mapping) or part not in node:
                break
            node, depth = node[part], depth + 1
        if depth >= best_depth and depth > 0:
            best_file, best_depth = str(file), depth
    return f"{best_file}: {'.'.join(map(str, location))}"


def validation_message(error: ValidationError, prefix: tuple[str, ...], files: Iterable[Path], known: list[str]) -> str:
    """A pydantic error as lines a person can act on: file, key, what was found, what was expected."""
    files, lines = list(files), []
    for fault in error.errors():
        location = (*prefix, *fault["loc"])
        place = where(files, location)
        if fault["type"] == "extra_forbidden":
            names = known or _keys_known_at(location)
            lines.append(str(unknown_name("key", str(location[-1]), names, where=place)))
        elif fault["type"] == "missing":
            lines.append(f"{place}: this key is missing; add it.")
        else:
            lines.append(f"{place}: found {fault['input']!r}; {fault['msg']}.")
    return "\n".join(lines)


def parse_config(raw: Mapping[str, Any], files: Iterable[Path] = ()) -> Config:
    """The configuration from merged YAML.

    Args:
        raw: the merged mapping, as Snakemake hands it over.
        files: the files that it was merged from, to say where a mistake stands.

    Raises:
        UserError: naming file, key, what was found and what was expected, one line a mistake.
    """
    try:
        return Config.model_validate(dict(raw))
    except ValidationError as error:
        raise UserError(validation_message(error, (), files, [])) from None


def over_defaults(config: Mapping[str, Any], defaults: Iterable[Path]) -> dict[str, Any]:
    """A configuration merged over those of some files, key by key, as Snakemake merges configuration files."""
    merged: dict[str, Any] = {}
    for file in defaults:
        _merge(merged, yaml.safe_load(file.read_text(encoding="utf-8")) or {})
    _merge(merged, config)
    return merged


def _merge(target: dict[str, Any], over: Mapping[str, Any]) -> None:
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
