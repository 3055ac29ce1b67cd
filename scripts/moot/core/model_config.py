"""A language model in the configuration: how it is reached, and what it costs."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from moot.core.batch_config import DISCOUNT, OptionalBatch, check_batch
from moot.core.endpoint_traits import describe_endpoints, endpoint_traits
from moot.core.model_values import (
    check_address,
    check_parameter,
    check_value,
    check_variable,
    split_address,
)
from moot.core.strict_model import Name, StrictModel, as_list, check_names_unique
from moot.core.types import Json

HUB = "hf:"
"""The prefix of a model on the Hugging Face Hub: `hf:ORG/REPO:FILE`."""

_ANY_SIZE = 10_000_000
"""The number of calls that no wave exceeds."""
_HUB_FILE = re.compile(rf"{HUB}[\w.-]+/[\w.-]+:[^/:\s][^:\s]*\.gguf")


def _check_date(value: str | None) -> str | None:
    if value is not None:
        try:
            date.fromisoformat(value)
        except ValueError:
            raise ValueError("expected a date in quotation marks, such as '2024-06-30'") from None
    return value


RequestField = Literal["max_tokens", "temperature", "seed"]
"""Request fields that a model's entry can omit."""


class Price(StrictModel):
    """US dollars per million tokens."""

    input: float = Field(0.0, ge=0, description="US dollars per million prompt tokens.")
    cached_input: float | None = Field(
        None,
        ge=0,
        description=(
            "US dollars per million prompt tokens served from a cache. Default: as `input`."
        ),
    )
    output: float = Field(0.0, ge=0, description="US dollars per million generated tokens.")
    auto: bool = Field(
        False,
        description=(
            "Whether prices come from the pinned list of genai-prices; `price: auto` sets it."
        ),
    )
    source: str = Field("", description="Where the price comes from; it is stored with each call.")

    @property
    def cached_input_used(self) -> float:
        """The price of a million prompt tokens that a cache served."""
        return self.input if self.cached_input is None else self.cached_input

    @property
    def per_million(self) -> str:
        """The prices in words; "" if the model is free."""
        if not (self.input or self.output):
            return ""
        return f"input {self.input:g}, cached {self.cached_input_used:g}, output {self.output:g}"

    def microdollars(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int) -> float:
        """Return the price of one call in millionths of US dollars.

        Args:
            prompt_tokens, completion_tokens: of the call.
            cached_tokens: the part of the prompt's tokens that a cache served.
        """
        uncached_prompt = (prompt_tokens - cached_tokens) * self.input
        cached_prompt = cached_tokens * self.cached_input_used
        return uncached_prompt + cached_prompt + completion_tokens * self.output


def _price_or_auto(value: object) -> object:
    return {"auto": True} if value == "auto" else value


PriceOrAuto = Annotated[Price, BeforeValidator(_price_or_auto)]


class WaitConfig(StrictModel):
    """The maximum waits before a server is asked again.

    A server may name a wait (`Retry-After`).
    """

    max_backoff: float = Field(
        60.0, gt=0, description="Longest single wait in seconds if the server names none."
    )
    max_outage: float = Field(
        600.0,
        gt=0,
        description=(
            "Seconds for which a call waits for a server that is busy or out of order. If the"
            " server answers nothing else meanwhile, or asks for a longer wait, the run ends."
        ),
    )


class ModelConfig(StrictModel):
    """A language model and how to reach it."""

    extends: Name | None = Field(
        None, description="Another model, whose keys apply where this entry does not set them."
    )
    endpoint: Name = Field(
        "openai",
        description=(
            "The kind of endpoint (docs/reference.md, Endpoints); `openai` serves any compatible"
            " server."
        ),
    )
    model: str = Field(
        pattern=r"^[^\n]*\S[^\n]*$",
        description=(
            "The model's name on the server; for `embedded` smollm2-135m, the path of a GGUF"
            " file, or hf:ORG/REPO:FILE for a file on the Hugging Face Hub."
        ),
    )
    revision: str | None = Field(
        None,
        description=(
            "The commit of a model hf:ORG/REPO:FILE, 40 hexadecimal digits; required there,"
            " so that every run loads the same weights."
        ),
    )
    base_url: str | None = Field(
        None,
        description=(
            "The server's address, such as http://localhost:8000/v1. Default: the address"
            " that the endpoint's own client calls."
        ),
    )
    served_as: str | None = Field(
        None,
        min_length=1,
        description=(
            "The server's name in the ledger: an address or your own name; set it to keep"
            " stored replies when the address changes. Default: `base_url` (for embedded:"
            " `model`)."
        ),
    )
    api_key_env: Annotated[str, AfterValidator(check_variable)] | None = Field(
        None,
        description=(
            "The environment variable that holds the API key; no file holds the key itself."
            " Default: the provider's variable, such as OPENAI_API_KEY, at the endpoint's default"
            " address; no key for another address."
        ),
    )
    cutoff: Annotated[str | None, AfterValidator(_check_date)] = Field(
        None,
        description=(
            "The training cut-off that the model's maker states, YYYY-MM-DD; the key"
            " `contamination` of a data set needs it."
        ),
    )
    temperature: float | None = Field(
        None,
        ge=0,
        description=(
            "Sampling temperature, unless `params` of the experiment set one. Default: the"
            " protocol's."
        ),
    )
    max_tokens: int = Field(
        512,
        ge=1,
        description=(
            "Maximum tokens of one reply, unless `params` of the experiment set it; raise it if "
            "replies are cut off."
        ),
    )
    seed: int | None = Field(
        None,
        ge=-(2**31),
        lt=2**62,
        description=(
            "Sampling seed, to which the replicate is added. Default: the configuration's seed."
        ),
    )
    context: int = Field(
        8192,
        ge=256,
        description="Context window in tokens (embedded, ollama); raise it for long prompts.",
    )
    concurrency: int = Field(
        8,
        ge=1,
        description=(
            "Maximum number of concurrent calls of a run, which its jobs divide; raise it until "
            "the server is fully used."
        ),
    )
    threads: int | None = Field(
        None, ge=1, description="Processor threads of one job (embedded). Default: every core."
    )
    requests_per_minute: float | None = Field(
        None,
        gt=0,
        description="Maximum requests per minute that your provider allows. Default: no limit.",
    )
    tokens_per_minute: float | None = Field(
        None,
        gt=0,
        description=(
            "Maximum tokens per minute, estimated from the prompt and `max_tokens`. Default: no "
            "limit."
        ),
    )
    timeout: float = Field(
        600.0,
        gt=0,
        description="Seconds after which one attempt is abandoned; raise it for a slow model.",
    )
    attempts: int = Field(6, ge=1, description="Attempts at one call before it counts as failed.")
    waits: WaitConfig = Field(
        default_factory=WaitConfig,
        description=(
            "How long moot waits for a server that is busy (status 429) or out of order, and when"
            " it stops asking (docs/faults.md)."
        ),
    )
    price: PriceOrAuto = Field(
        default_factory=Price,
        description="US dollars per million tokens; `auto` takes the list of genai-prices.",
    )
    batch: OptionalBatch = Field(
        None,
        description=(
            "`true` or options: sends each wave of calls as one batch of the provider (openai)."
        ),
    )
    structured: Literal["native", "prompted"] = Field(
        "native",
        description=(
            "How the form of a reply is requested: `native` sends the JSON schema, `prompted`"
            " only describes it in the prompt, as the papers did."
        ),
    )
    system_role: Literal["system", "user"] = Field(
        "system",
        description=(
            "The role of the system message: `user` puts it before the first message of the user,"
            " for a model without a system role."
        ),
    )
    confidence_scale: Literal[1, 100] = Field(
        100,
        description=(
            "The scale on which the model states confidences: 0 to 100, as prompts ask; 1 for"
            " a model that answers from 0 to 1."
        ),
    )
    omit: Annotated[
        tuple[RequestField, ...], BeforeValidator(as_list), AfterValidator(check_names_unique)
    ] = Field(
        (),
        description=(
            "Request fields that are not sent, for servers that refuse them: max_tokens,"
            " temperature, seed; `seed: null` does the same."
        ),
    )
    top_logprobs: int = Field(
        20,
        ge=1,
        le=20,
        description=(
            "Number of tokens whose probabilities `answer: likelihood` requests; lower it for"
            " a server that allows fewer."
        ),
    )
    reasoning: bool = Field(
        False,
        description=(
            "Whether the model is a reasoning model, which is sent max_completion_tokens and"
            " neither temperature nor seed."
        ),
    )
    stream: bool = Field(
        False,
        description=(
            "Whether the server sends replies in parts, which moot joins; use it where a proxy"
            " closes connections that are idle during a long reply."
        ),
    )
    parameters: Mapping[
        Annotated[str, AfterValidator(check_parameter)],
        Annotated[Json, AfterValidator(check_value)],
    ] = Field(
        default_factory=dict,
        description=(
            "Further request parameters, sent unchanged; the fields that moot sends itself"
            " (model, messages, max_tokens, ...) are refused."
        ),
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
                f"this key is only for a model {HUB}ORG/REPO:FILE of the endpoint "
                f"{describe_endpoints('in_process')}"
            )
        return revision

    @model_validator(mode="after")
    def _check_batch(self) -> "ModelConfig":
        if self.batch is not None:
            has_name = bool(self.served_as or self.base_url)
            check_batch(self.batch, self.endpoint, has_name)
        return self

    @model_validator(mode="after")
    def _check_stream(self) -> "ModelConfig":
        if self.stream and not endpoint_traits(self.endpoint).has_streams:
            raise ValueError(
                f"`stream` goes with the endpoints {describe_endpoints('has_streams')}; this one"
                f" is '{self.endpoint}'"
            )
        if self.stream and self.batch is not None:
            raise ValueError("`stream` cannot be combined with `batch`; remove one of them")
        return self

    @property
    def gathers_calls(self) -> bool:
        """Whether calls are gathered into waves and sent together."""
        return self.batch is not None

    @property
    def defers_replies(self) -> bool:
        """Whether a run ends with debates that wait for replies of a later run."""
        return self.batch is not None and not self.batch.wait

    @property
    def max_concurrent_calls(self) -> int:
        """The maximum number of concurrent calls. A wave of gathered calls has any size."""
        return _ANY_SIZE if self.gathers_calls else self.concurrency

    def threads_within(self, cores: int) -> int:
        """Return the threads that a job with `cores` gives to this model, if it runs inside it."""
        return min(self.threads or cores, cores)

    @property
    def price_used(self) -> str:
        """The price in words, in US dollars per million tokens; "" if the model is free."""
        if not self.price.per_million:
            return ""
        batch_note = f"in a batch -{DISCOUNT:.0%}" if self.batch else ""
        return "; ".join(filter(None, [self.price.per_million, batch_note, self.price.source]))

    def cost(
        self,
        prompt_tokens: int,
        completion_tokens: int,
        cached_tokens: int = 0,
    ) -> float:
        """Return the price of one call in US dollars.

        Args:
            prompt_tokens, completion_tokens: of the call.
            cached_tokens: the part of the prompt's tokens that a cache served.
        """
        total = self.price.microdollars(prompt_tokens, completion_tokens, cached_tokens)
        discount = DISCOUNT if self.gathers_calls else 0.0
        return total * (1 - discount) / 1e6


def _is_on_hub(entry: ValidationInfo, model: str) -> bool:
    """Return whether a model of an entry under validation is a file on the Hugging Face Hub."""
    return endpoint_traits(str(entry.data.get("endpoint"))).in_process and model.startswith(HUB)
