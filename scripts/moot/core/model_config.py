"""A language model in the configuration: how it is reached, what it costs, and how its calls are
batched.
"""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from moot.core.endpoint_traits import endpoint_traits, endpoints_with
from moot.core.model_values import (
    check_address,
    check_parameter,
    check_value,
    check_variable,
    split_address,
)
from moot.core.types import Json

HUB = "hf:"
"""How the name of an embedded model begins that is a file on the Hugging Face Hub:
`hf:ORG/REPO:FILE`.
"""

_HUB_FILE = re.compile(rf"{HUB}[\w.-]+/[\w.-]+:[^/:\s][^:\s]*\.gguf")

SIMULATED = "simulated"
"""The endpoint of voices that replace models in a rehearsal."""

MAX_NAME_CHARS = 150
Name = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._=-]*$", max_length=MAX_NAME_CHARS)
]
"""A name that becomes a folder or file: lower-case letters, digits, '.', '_', '-', '='."""


def as_list(value: object) -> object:
    """A text as a list of it."""
    return [value] if isinstance(value, str) else value


def check_names_unique(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of which none is given twice."""
    if repeated_names := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f"'{repeated_names[0]}' is given twice")
    return names


class StrictModel(BaseModel):
    """A part of the configuration; a key that it does not know is an error, and `true` is no
    number.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, hide_input_in_errors=True
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


class Price(StrictModel):
    """US dollars per million tokens."""

    input: float = Field(0.0, ge=0, description="for prompt tokens")
    cached_input: float | None = Field(
        None, ge=0, description="for prompt tokens served from a cache; none: as input"
    )
    output: float = Field(0.0, ge=0, description="for generated tokens")
    auto: bool = Field(
        False, description="taken from the pinned list of genai-prices; `price: auto` says so"
    )
    source: str = Field("", description="where the price is from, as it is written with each call")


class BatchConfig(StrictModel):
    """Calls sent together as batches of the provider, which answers later and for less:
    docs/batch.md.
    """

    wait: bool = Field(
        True,
        description=(
            "wait for each batch; false: end with waiting debates and continue in a later run"
        ),
    )
    poll_seconds: float = Field(
        60.0, gt=0, description="seconds between two requests for a batch's status"
    )
    discount: float = Field(
        0.5, ge=0, lt=1, description="share of `price` by which calls in batches are cheaper"
    )
    max_calls: int = Field(50_000, ge=1, description="maximum number of calls in one batch")
    max_bytes: int = Field(
        190_000_000, ge=1, description="maximum size of one batch's file in bytes"
    )
    max_concurrent: int = Field(
        8, ge=1, description="maximum number of the model's batches under way at once"
    )
    folder: str | None = Field(
        None,
        description=(
            "folder for the batches' files, which your own command answers (`vllm run-batch`);"
            " none: the provider answers"
        ),
    )


class WaitConfig(StrictModel):
    """The maximum waits before a server is asked again.

    A server may name a wait (`Retry-After`).
    """

    max_backoff: float = Field(
        60.0, gt=0, description="maximum wait in seconds where the server names none"
    )
    max_requested: float = Field(
        600.0, gt=0, description="maximum wait in seconds that the server may ask for"
    )
    max_total: float = Field(
        3600.0,
        gt=0,
        description="maximum of all waits of one call in seconds; the call fails after it",
    )


PORT = "{port}"
"""What a server's command has in place of its port."""


class ServeConfig(StrictModel):
    """A server that each job starts for itself, and ends: docs/cluster.md."""

    command: str = Field(
        min_length=1, description="the shell command that serves the model; `{port}` is the port"
    )
    port: int = Field(
        0, ge=0, le=65_535, description="its port on 127.0.0.1; 0: a free one, for `{port}`"
    )
    health_path: str = Field(
        "/v1/models",
        pattern="^/",
        description="the path that answers as soon as the model is loaded",
    )
    timeout: float = Field(1800.0, gt=0, description="seconds until it must answer there")
    gpus: int = Field(
        0, ge=0, description="graphics processors of a job that speaks with it: the resource `gpu`"
    )

    @model_validator(mode="after")
    def _command_names_the_port(self) -> "ServeConfig":
        if not self.port and PORT not in self.command:
            raise ValueError(
                "`command` must hold {port}, in whose place moot puts a free port; or set `port`"
            )
        return self


def _check_date(value: str | None) -> str | None:
    if value is not None:
        try:
            date.fromisoformat(value)
        except ValueError:
            raise ValueError("expected a date in quotation marks, such as '2024-06-30'") from None
    return value


def _price_or_auto(value: object) -> object:
    return {"auto": True} if value == "auto" else value


def _batch_or_none(value: object) -> object:
    return ({} if value else None) if isinstance(value, bool) else value


Share = Annotated[float, Field(ge=0, le=1)]


class SimulatedVoice(StrictModel):
    """The parameters of the statistical model that replaces a language model in a rehearsal.

    Beliefs are log-odds of the truth. docs/planning.md states the model. The defaults are
    illustrative; they are not fitted to any model.
    """

    competence: float = Field(
        0.65,
        gt=0,
        lt=1,
        description="Probability of a correct answer without biases and without a debate.",
    )
    difficulty_sd: float = Field(
        1.0,
        ge=0,
        description="Standard deviation of the cases' difficulty, shared by all simulated models.",
    )
    model_sd: float = Field(
        0.6, ge=0, description="Standard deviation of this model's own belief about each case."
    )
    noise_sd: float = Field(
        0.3,
        gt=0,
        description="Standard deviation between calls at temperature 1; scales with temperature.",
    )
    true_argument: float = Field(
        0.25, description="Shift of a belief by an advocate's argument for the truth."
    )
    false_argument: float = Field(
        0.2, description="Shift of a belief by an advocate's argument against the truth."
    )
    peer_pull: float = Field(
        0.3, description="Shift towards the position of another model on a panel."
    )
    human_pull: float = Field(0.6, description="Shift towards the position of a person on a panel.")
    stubbornness: float = Field(0.8, description="Shift towards the model's own last position.")
    label_bias: Mapping[str, float] = Field(
        default_factory=dict, description="label to how much it is liked"
    )
    word_bias: Mapping[str, float] = Field(
        default_factory=dict,
        description=(
            "word of a case's text to how much the positive label is liked where it occurs (a"
            " group's effect)"
        ),
    )
    first_option_bias: float = Field(
        0.0, description="liking for the label that the question names first"
    )
    first_speaker_bias: float = Field(0.0, description="liking for the side that was argued first")
    overconfidence: float = Field(
        1.5,
        ge=0,
        description=(
            "factor on the log-odds that it states; 1: right as often as stated, when alone"
        ),
    )
    unusable: Share = Field(0.0, description="share of replies that name no answer")
    empty: Share = Field(0.0, description="share of replies without text")
    cut_off: Share = Field(0.0, description="share of replies that end half-way")
    malformed: Share = Field(0.0, description="share of replies in bad form")
    refused: Share = Field(0.0, description="share of replies that refuse")
    misread: Share = Field(
        0.0, description="share of statements that it labels at random, as the judge of labels"
    )
    grader_noise: float = Field(
        1.0, ge=0, description="standard deviation of its grades, of ten, around a steady one"
    )
    words: int = Field(
        80, ge=1, description="words of a free text, as far as the most tokens of a reply allow"
    )
    tokens_per_second: float = Field(40.0, gt=0, description="speed of the model that it replaces")
    seconds_to_first_token: float = Field(
        0.6, ge=0, description="latency of the model that it replaces"
    )

    @model_validator(mode="after")
    def _shares_add_up(self) -> "SimulatedVoice":
        total = self.unusable + self.empty + self.cut_off + self.malformed + self.refused
        if total > 1:
            raise ValueError(f"the shares of bad replies add up to {total:g}; expected at most 1")
        return self


RequestField = Literal["max_tokens", "temperature", "seed"]
"""Request fields that a model's entry can omit."""


class ModelConfig(StrictModel):
    """A language model and how to reach it."""

    extends: Name | None = Field(
        None, description="another model, whose entry says what this one does not"
    )
    endpoint: Name = Field(
        "openai",
        description=(
            "anthropic, embedded, openai (any compatible server), ollama, or simulated (rehearsals"
            " alone)"
        ),
    )
    model: str = Field(
        pattern=r"^[^\n]*\S[^\n]*$",
        description=(
            "the model's name on the server; for embedded: smollm2-135m, a GGUF file's path, or "
            "hf:ORG/REPO:FILE for a file on the Hugging Face Hub"
        ),
    )
    revision: str | None = Field(
        None,
        description="the commit that a model hf:ORG/REPO:FILE is taken from, 40 hexadecimal digits",
    )
    base_url: str | None = Field(
        None,
        description=(
            "the server's address, such as http://localhost:8000/v1; none: the client's own"
        ),
    )
    served_as: str | None = Field(
        None,
        min_length=1,
        description=(
            "who answers, as the ledger knows it: an address or a name of your own; none:"
            " `base_url` (for embedded: `model`)"
        ),
    )
    api_key_env: Annotated[str, AfterValidator(check_variable)] | None = Field(
        None,
        description="the environment variable that holds the key; no file holds the key itself",
    )
    cutoff: Annotated[str | None, AfterValidator(_check_date)] = Field(
        None,
        description=(
            "the training cut-off that its maker states, YYYY-MM-DD; `contamination` of a data set"
            " needs it"
        ),
    )
    temperature: float | None = Field(
        None,
        ge=0,
        description="unless `params` of the experiment say otherwise; none: the protocol's",
    )
    max_tokens: int = Field(
        512, ge=1, description="most tokens of one reply, unless the experiment says otherwise"
    )
    seed: int | None = Field(
        None,
        ge=-(2**31),
        lt=2**62,
        description="to which the replicate is added; none: the configuration's seed",
    )
    context: int = Field(8192, ge=256, description="context window in tokens (embedded, ollama)")
    concurrency: int = Field(
        8, ge=1, description="calls under way at once, of all processes at the ledger"
    )
    jobs: int = Field(
        1,
        ge=1,
        description="jobs of a run that speak with it at once (openai, ollama)",
    )
    threads: int | None = Field(
        None, ge=1, description="processor threads of one job (embedded); none: every core"
    )
    share_limits: bool = Field(
        True,
        description=(
            "`concurrency` and rates are those of all runs and jobs at the ledger; false: of each"
            " process"
        ),
    )
    requests_per_minute: float | None = Field(None, gt=0, description="limit; none: no limit")
    tokens_per_minute: float | None = Field(
        None,
        gt=0,
        description="limit, by estimated tokens of the prompt and `max_tokens`; none: no limit",
    )
    timeout: float = Field(600.0, gt=0, description="seconds until one attempt is given up")
    attempts: int = Field(6, ge=1, description="attempts at one call before it counts as failed")
    waits: WaitConfig = Field(
        default_factory=WaitConfig,
        description="maximum waits before a server is asked again, in seconds: docs/faults.md",
    )
    price: Annotated[Price, BeforeValidator(_price_or_auto)] = Field(
        default_factory=Price,
        description="US dollars per million tokens; `auto`: by the list of genai-prices",
    )
    batch: Annotated[BatchConfig | None, BeforeValidator(_batch_or_none)] = Field(
        None,
        description=(
            "true, or options: each wave of calls goes into one batch of the provider (openai)"
        ),
    )
    structured: Literal["native", "prompted"] = Field(
        "native",
        description="send the JSON schema, or only describe it in the prompt as the papers did",
    )
    confidence_scale: Literal[1, 100] = Field(
        100,
        description=(
            "the scale on which the model states confidences: 0 to 100, as prompts ask; 1 for a"
            " model that answers from 0 to 1"
        ),
    )
    omit: Annotated[
        tuple[RequestField, ...], BeforeValidator(as_list), AfterValidator(check_names_unique)
    ] = Field(
        (),
        description=(
            "request fields that are not sent, for servers that refuse them: max_tokens,"
            " temperature, seed; `seed: null` does the same"
        ),
    )
    top_logprobs: int = Field(
        20,
        ge=1,
        le=20,
        description=(
            "number of tokens whose probabilities are asked for with `answer: likelihood`; lower"
            " for servers that allow fewer"
        ),
    )
    reasoning: bool = Field(
        False,
        description=(
            "a reasoning model: send max_completion_tokens and neither temperature nor seed"
        ),
    )
    serve: ServeConfig | None = Field(
        None,
        description=(
            "the server that a job starts for itself: `command`, `port`, `health_path`,"
            " `timeout`, `gpus`"
        ),
    )
    prompt_cache_key: str | None = Field(
        None,
        description=(
            "sent along, for providers that route calls to caches by it (openai); no part of a"
            " question"
        ),
    )
    parameters: Mapping[
        Annotated[str, AfterValidator(check_parameter)],
        Annotated[Json, AfterValidator(check_value)],
    ] = Field(
        default_factory=dict,
        description=(
            "further request parameters, sent as given; none that moot sends itself (model,"
            " messages, max_tokens, ...)"
        ),
    )
    simulated: SimulatedVoice = Field(
        default_factory=SimulatedVoice,
        description="the simulated voice that replaces it in a rehearsal",
    )

    @model_validator(mode="before")
    @classmethod
    def _omit_null_fields(cls, entry: Json) -> Json:
        """Read `seed: null` as `omit: [seed]`, so that the field is not sent."""
        if not isinstance(entry, dict):
            return entry
        names = [name for name in get_args(RequestField) if name in entry and entry[name] is None]
        if not names:
            return entry
        sent_fields = {name: value for name, value in entry.items() if name not in names}
        omitted = sent_fields.get("omit") or ()
        omitted_fields = [omitted] if isinstance(omitted, str) else list(omitted)
        return {**sent_fields, "omit": list(dict.fromkeys([*omitted_fields, *names]))}

    @field_validator("base_url")
    @classmethod
    def _servers_can_be_called(cls, base_url: str | None, entry: ValidationInfo) -> str | None:
        return (
            None if base_url is None else check_address(base_url, str(entry.data.get("endpoint")))
        )

    @field_validator("served_as")
    @classmethod
    def _addresses_are_whole(cls, served_as: str | None) -> str | None:
        if served_as and "://" in served_as:
            split_address(served_as)
        return served_as

    @field_validator("model")
    @classmethod
    def _require_file_on_hub(cls, model: str, entry: ValidationInfo) -> str:
        if _is_on_hub(entry, model) and not _HUB_FILE.fullmatch(model):
            raise ValueError(f"expected {HUB}ORG/REPO:FILE, and FILE to end in .gguf")
        return model

    @field_validator("revision")
    @classmethod
    def _forbid_revision_without_hub(
        cls, revision: str | None, entry: ValidationInfo
    ) -> str | None:
        if revision is not None and not _is_on_hub(entry, str(entry.data.get("model"))):
            raise ValueError(
                f"this key goes with a model {HUB}ORG/REPO:FILE of the endpoint"
                f" {_listing('in_process')} only"
            )
        return revision

    @model_validator(mode="after")
    def _check_batch(self) -> "ModelConfig":
        if self.batch is None:
            return self
        if not endpoint_traits(self.endpoint).has_batches:
            raise ValueError(
                f"`batch` goes with the endpoint {_listing('has_batches')}; this one is"
                f" '{self.endpoint}'"
            )
        if self.batch.folder and not (self.served_as or self.base_url):
            raise ValueError("`batch.folder` needs `served_as`: a name for who answers the files")
        if self.jobs > 1:
            raise ValueError("`jobs` does not go with `batch`: one job gathers the calls of a wave")
        return self

    @model_validator(mode="after")
    def _check_jobs(self) -> "ModelConfig":
        traits = endpoint_traits(self.endpoint)
        if self.jobs > 1 and (traits.in_process or traits.is_simulated):
            raise ValueError(
                f"`jobs` goes with a server's model; one of the endpoint '{self.endpoint}' takes as"
                " many jobs as fit"
            )
        if self.jobs > self.concurrency and not self.serve:
            raise ValueError(
                f"`jobs: {self.jobs}` needs `concurrency` of at least {self.jobs}, since each job"
                " makes a call at a time"
            )
        return self

    @model_validator(mode="after")
    def _check_serve(self) -> "ModelConfig":
        if self.serve is None:
            return self
        if not endpoint_traits(self.endpoint).can_be_started:
            raise ValueError(
                f"`serve` goes with the endpoints {_listing('can_be_started')}; this one is"
                f" '{self.endpoint}'"
            )
        if self.base_url or self.batch:
            key = "base_url" if self.base_url else "batch"
            raise ValueError(f"`serve` does not go with `{key}`; remove one of them")
        if not self.served_as:
            raise ValueError(
                "`serve` needs `served_as`: a name for who answers, since the address changes with"
                " each job"
            )
        return self

    @property
    def shares_limits(self) -> bool:
        """Whether all processes at the ledger keep to its limits together.

        They do not where each job has a model of its own.
        """
        has_server = endpoint_traits(self.endpoint).has_server
        return self.share_limits and has_server and self.serve is None and not self.batch

    @property
    def defers_batches(self) -> bool:
        """Whether a run ends with debates that wait for its batches."""
        return self.batch is not None and not self.batch.wait

    @property
    def max_concurrent_calls(self) -> int:
        """Calls that may be under way at once; a wave of batched calls has any size."""
        return _ANY_SIZE if self.batch else self.concurrency

    def threads_within(self, cores: int) -> int:
        """Return the threads that a job with `cores` gives to this model, if it runs inside it."""
        return min(self.threads or cores, cores)

    @property
    def price_used(self) -> str:
        """The price in words, in US dollars per million tokens; "" if the model is free."""
        price = self.price
        if not (price.input or price.output):
            return ""
        cached = price.input if price.cached_input is None else price.cached_input
        parts = [f"input {price.input:g}, cached {cached:g}, output {price.output:g}"]
        if self.batch:
            parts.append(f"in a batch -{self.batch.discount:.0%}")
        if price.source:
            parts.append(price.source)
        return "; ".join(parts)

    def cost(
        self,
        prompt_tokens: int,
        completion_tokens: int,
        cached_tokens: int = 0,
        *,
        batched: bool | None = None,
    ) -> float:
        """Return the price of one call in US dollars.

        Args:
            prompt_tokens, completion_tokens: of the call.
            cached_tokens: the part of the prompt's tokens that a cache served.
            batched: whether the call is part of a batch. Default: as configured.
        """
        price = self.price
        cached_price = price.input if price.cached_input is None else price.cached_input
        prompt = (prompt_tokens - cached_tokens) * price.input + cached_tokens * cached_price
        total = prompt + completion_tokens * price.output
        is_batched = self.batch is not None if batched is None else batched
        discount = (self.batch or BatchConfig()).discount if is_batched else 0.0
        return total * (1 - discount) / 1e6


_ANY_SIZE = 10_000_000


def _is_on_hub(entry: ValidationInfo, model: str) -> bool:
    """Whether a model of an entry under validation is a file on the Hugging Face Hub."""
    return endpoint_traits(str(entry.data.get("endpoint"))).in_process and model.startswith(HUB)


def _listing(trait: str) -> str:
    """Return the names of the endpoints with a trait, for messages."""
    return " and ".join(f"'{name}'" for name in endpoints_with(trait))
