"""The configuration as pydantic models: its one definition. `config/schema.json` is generated from here."""

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from moot.core.model_config import ModelConfig, Name, Strict, as_list, each_once
from moot.core.model_values import check_ledger
from moot.core.places import (
    Faults,
    Location,
    fault_message,
    keys_beside,
    location_of,
    plain_values,
    twice_given,
    where,
)
from moot.core.rubric import Rubric
from moot.core.types import Fields, Json, JsonObject
from moot.core.yaml_text import load_yaml

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


class AttributionConfig(Strict):
    """By which changes of a debate it is measured what moved its judge."""

    repeats: int = Field(
        10, ge=2, le=40, description="how often the judge answers each changed debate; the unchanged one twice as often"
    )
    debates: int | None = Field(None, ge=1, description="how many debates, chosen by seed; none: all")
    chosen: Literal["all", "changed"] = Field(
        "all",
        description="changed: debates whose judge changed its belief, or whose case another repeat decided otherwise",
    )
    ways: tuple[Literal["removed", "replaced", "reordered"], ...] = Field(
        ("removed", "replaced", "reordered"),
        description="each turn is taken out; is replaced by one of its length and role from another case's debate with "
        "the same outcome; the debaters speak in reversed order within each round",
    )
    sentences: int = Field(0, ge=0, description="how many sentences are taken out, of the turns that moved most")
    stated: bool = Field(False, description="ask the judge as well which turn was decisive")
    rerun_from: Literal["", "turn"] = Field(
        "",
        description="turn: the debate goes on `repeats` times from each turn, taken out and as it was, and all seats "
        "are asked again",
    )
    smallest: float = Field(
        0.05, ge=0, le=1, description="the smallest change of the verdict's probability that can be called moved"
    )


class PeopleConfig(Strict):
    """What people are told who judge and label at the desk, and what reviewers ask about them."""

    instructions: str = Field("", description="file with what people read before each task")
    consent: str = Field("", description="file with the text that a person agrees to before the first task")
    pay: float | None = Field(None, ge=0, description="for each answer or label; none: not stated")
    currency: str = Field("USD", description="of `pay`")
    recruitment: str = Field("", description="how people were found")
    participants: str = Field("", description="who they are, as far as it was asked (age, gender, training, country)")
    approval: str = Field("", description="which board approved the study, or why none was asked")


class TournamentConfig(Strict):
    """Which models debate each other, each pair with either side; the experiment's `models` judge all debates."""

    debaters: tuple[Name, ...] = Field(min_length=2, description="names under `models` that debate each other")
    opponents: int | None = Field(
        None,
        ge=1,
        description="how many others each debates, as many for all; none: all others",
    )

    @model_validator(mode="after")
    def _can_be_paired(self) -> "TournamentConfig":
        number, opponents = len(self.debaters), self.opponents
        if len(set(self.debaters)) < number:
            raise ValueError("`debaters` names a model twice; name each once")
        if opponents and (opponents >= number or (opponents * number) % 2):
            raise ValueError(
                f"`opponents` is {opponents}; of {number} debaters each can have as many others as all, from 1 to "
                f"{number - 1}{', an even number' if number % 2 else ''}"
            )
        return self

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Who debates whom, both ways round: a cyclic design, in which each debater meets as many others as all."""
        number, opponents = len(self.debaters), self.opponents or len(self.debaters) - 1
        steps = [*range(1, opponents // 2 + 1), *([number // 2] * (opponents % 2))]
        met = {frozenset((place, (place + step) % number)) for step in steps for place in range(number)}
        ordered = sorted(tuple(sorted(pair)) for pair in met)
        return [(self.debaters[one], self.debaters[other]) for a, b in ordered for one, other in ((a, b), (b, a))]


class MultiverseConfig(Strict):
    """Which choices are varied that need no new call; every combination is worked out. The first of each is moot's."""

    wordings: bool = Field(True, description="experiments that differ in `prompts` alone, as a grid over it gives them")
    parsing: tuple[Literal["extracted", "repaired", "strict"], ...] = Field(
        ("extracted", "repaired", "strict"), description="how far a reply may be from what was asked to be read"
    )
    invalid: tuple[Literal["wrong", "dropped"], ...] = Field(
        ("wrong", "dropped"), description="what an invalid answer counts as"
    )
    ties: tuple[Literal["first", "last", "invalid"], ...] = Field(
        ("first", "last", "invalid"), description="whose a tied vote is: the label that came first, last, or none's"
    )
    confidence: tuple[Literal["above_chance", "probability", "at_least_chance"], ...] = Field(
        ("above_chance", "probability", "at_least_chance"),
        description="what a stated confidence of 0 is: a guess, certainty of the contrary, or (up to 1/labels) a guess",
    )


class ExperimentConfig(Strict):
    """A protocol over a data set's cases by some models."""

    protocol: Name = Field(description="the protocol's name; none with `source: recorded`")
    source: Literal["models", "recorded"] = Field(
        "models", description="models: they are asked; recorded: the records of the data set say what was said"
    )
    dataset: Name = Field(description="the data set's name under `datasets`")
    models: Annotated[tuple[Name, ...], BeforeValidator(as_list), AfterValidator(each_once)] = Field(
        min_length=1, description="names under `models`; each runs the whole experiment"
    )
    cases: int | None = Field(
        None, ge=1, description="how many cases, chosen by seed; more cases keep those of fewer; none: all"
    )
    repeats: int = Field(1, ge=1, description="how often each case is debated")
    trial_on_request: bool = Field(
        False, description="as long as it is a trial run (fewer debates than `fewest_debates`), `run` must name it"
    )
    needs_data: str = Field(
        "", description="a file or folder of `data_root`; where it is not there, `run` must name it, by no pattern"
    )
    split: Literal["train", "validation", "test"] = Field("test", description="which split's cases are debated")
    calibration_cases: int = Field(
        0, ge=0, description="validation cases run as well, to fit the threshold of likelihood answers on"
    )
    study: str = Field("", description="the study whose tables it enters; none: the protocol's own")
    arms: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="control arms (docs/controls.md): one further experiment, NAME-arm=ARM, for each"
    )
    arm_models: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = Field(
        (), description="those of its models that the control arms run with; none: all"
    )
    arm_cases: int | None = Field(
        None, ge=1, description="how many of its cases the control arms argue, the first ones; none: all"
    )
    attribution: AttributionConfig | None = Field(
        None, description="what moved its judge: the control arm `attribution`, and how it is held"
    )
    arm: str = Field("", description="the control arm that it is, of the experiment `of`")
    of: str = Field("", description="the experiment that it is a control arm of")
    labelers: tuple[str, ...] = Field(
        (), description="rules, judge (its model), judge:MODEL, human, or a labeler of yours"
    )
    rubric: str = Field("", description="rubric that its statements are labelled by; none: the protocol's own")
    params: Fields = Field(default_factory=dict, description="the protocol's parameters: see there")
    prompts: str = Field(
        "", description="folder of prompt templates that replace those of the same names, for this experiment alone"
    )
    multiverse: MultiverseConfig | None = Field(
        None, description="choices that its conclusions are worked out under, `{}` for all; none: the table is left out"
    )
    grid: Mapping[str, Annotated[tuple[Json, ...], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="parameter, or `prompts`, to values: one experiment, NAME-PARAMETER=VALUE, for each",
    )
    tournament: TournamentConfig | None = Field(
        None, description="models that debate each other: one experiment, NAME-A-against-B, for each pair and its swap"
    )

    @model_validator(mode="after")
    def _arm_of_something(self) -> "ExperimentConfig":
        if bool(self.arm) != bool(self.of):
            raise ValueError("`arm` and `of` go together: which control arm, of which experiment")
        return self

    @model_validator(mode="before")
    @classmethod
    def _attribution_is_an_arm(cls, entry: Json) -> Json:
        """`attribution: {...}` asks for the control arm of that name."""
        if not isinstance(entry, Mapping) or entry.get("attribution") is None:
            return entry
        stated = entry.get("arms", ())
        arms = [stated] if isinstance(stated, str) else list(stated or ())
        return {**entry, "arms": arms if "attribution" in arms else [*arms, "attribution"]}

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


class StopConfig(Strict):
    """When the debates of a contrast end before all planned cases are argued."""

    look: int = Field(ge=1, description="cases of a look: the contrast is looked at after each so many")
    difference: float = Field(gt=0, description="the smallest difference that matters, in the metric's unit")
    alpha: float = Field(0.05, gt=0, lt=1, description="level of the decision, at any number of looks")
    futility: bool = Field(True, description="from half of the plan on, stop where twice the plan would decide nothing")
    usd: float | None = Field(
        None, ge=0, description="US dollars for the debates of both sides: a look that would take more is not held"
    )


class ContrastConfig(Strict):
    """A comparison that is planned before the run: these alone are tested as confirmatory.

    A side is EXPERIMENT or EXPERIMENT/MODEL; without a model it is all models that both sides share, taken together.
    """

    first: str = Field(
        description="EXPERIMENT or EXPERIMENT/MODEL; an experiment alone: all models that both sides share"
    )
    second: str = Field(description="what it is compared with, named alike")
    metric: str = Field(
        "accuracy",
        description="what is compared, debate by debate: one of the metrics of contrasts in docs/reference.md",
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
    margin: float | None = Field(
        None, gt=0, description="the smallest effect of interest: whether the difference is smaller is tested, too"
    )
    stop: StopConfig | None = Field(
        None, description="when its debates end early, so that later cases are not argued; none: never"
    )


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
    standard_error: float | None = Field(
        None,
        gt=0,
        description="of a contrast, to be reached as cheaply as possible; none: that which shows `difference`",
    )
    usd_debate: float | None = Field(
        None, ge=0, description="US dollars of one debate of both sides; none: what debates so far cost"
    )
    usd_verdict: float | None = Field(
        None, ge=0, description="US dollars of one verdict of both sides on a debate that is held; none: likewise"
    )


class DriftConfig(Strict):
    """How `snakemake drift` looks for models that answer otherwise than they did."""

    calls: int = Field(40, ge=1, description="recorded calls a model that are asked again, twice each")


class InitConfig(Strict):
    """What `snakemake init` writes; on a terminal it asks for what is not said."""

    file: str = Field("my.yaml", description="the file that is written; one that exists is never touched")
    model: str = Field("", description="the model's name at its server, a GGUF file's path, or smollm2-135m")
    server: str = Field("", description="openai, anthropic, openrouter, ollama, or http://ADDRESS/v1")
    data: str = Field("", description="a table's path (.csv, .xlsx, .jsonl, .parquet), or a data set such as nlsy97")
    text: str = Field("", description="the table's column that models read; none: the longest")
    target: str = Field("", description="its column with the true label; none: the last of few different cells")
    question: str = Field("", description="what a prediction answers, one sentence")
    usd: float | None = Field(None, ge=0, description="the budget in US dollars; 0: no limit")


class DoctorConfig(Strict):
    """What `snakemake doctor` may do."""

    ask: bool = Field(False, description="ask each model three short calls, which cost what they cost")
    table: str = Field("", description="a table of debates: which columns could be what; nothing else is looked at")


class Config(Strict):
    """The whole configuration."""

    seed: int = Field(ge=0, lt=2**32, description="the one seed that reaches every choice at random")
    data_root: str = Field("data/raw", description="folder of local and downloaded data")
    ledger: Annotated[str, AfterValidator(check_ledger)] = Field(
        "data/ledger",
        description="the ledger of replies: a folder, or a SQLAlchemy URL (postgresql+psycopg://host/moot)",
    )
    replay: bool = Field(False, description="take every reply from the ledger; one that is missing is an error")
    rehearsal: bool = Field(
        False, description="simulated voices replace all models; set by `snakemake rehearse`, in a folder of its own"
    )
    shards: int = Field(
        1, ge=1, le=10_000, description="jobs that an experiment and model is cut into, by a hash of the case"
    )
    budget: Budget = Field(default_factory=Budget, description="hard limits over everything the ledger holds")
    run: Annotated[tuple[str, ...], BeforeValidator(as_list)] = Field(
        (), description="experiments to run, by name or pattern (paper-*); a grid's own name runs all of it; none: all"
    )
    deviation: str = Field(
        "", description="why this run departs from the frozen plan; else the report says: unexplained"
    )
    replace_results: bool = Field(
        False, description="build tables over those of another configuration in the same folder"
    )
    fewest_debates: int = Field(
        1,
        ge=1,
        description="an experiment of fewer debates (cases x repeats) is a trial run, and enters no table that "
        "concludes from debates",
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
    people: PeopleConfig = Field(
        default_factory=PeopleConfig, description="what people at the desk are told, and what is said of them"
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
    touched: set[Location] = set()

    def note(place: Location, problem: str) -> None:
        faults.add(f"{where(files, place)}: {problem}")
        touched.add(place)

    sound = plain_values(raw, note)
    for _ in range(_ROUNDS):
        try:
            return Config.model_validate(sound)
        except ValidationError as error:
            for fault in error.errors():
                place = location_of(fault)
                above = place[:_ENTRY] if fault["type"] == "missing" else place
                if not any(
                    below[: len(above)] == above for below in touched
                ):  # else it follows from what was taken out
                    faults.add(fault_message(fault, where(files, place), place, keys_beside(Config, place)))
                _take_out(sound, place, fault["type"] == "missing", faults)
                touched.add(place)
    faults.check()
    raise AssertionError("a fault is always noted")


def _take_out(sound: JsonObject, place: Location, missing: bool, faults: Faults) -> None:
    """Remove what is faulty: a key with a default, or else the entry that it belongs to."""
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
        _merge(merged, load_yaml(file.read_text(encoding="utf-8")) or {})
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
