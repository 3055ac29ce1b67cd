"""Anthropic's own API (`POST /v1/messages`), by the package `anthropic`.

It has schemas and thinking, which Anthropic's OpenAI-compatible API leaves out.
"""

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, ClassVar

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import register_endpoint
from moot.llm.endpoints.faults import logprobs_unavailable
from moot.llm.endpoints.messages import check_reply_content, optional_text
from moot.llm.endpoints.response_bodies import read_count
from moot.llm.endpoints.sdk import SdkEndpoint, key_or_placeholder, package_options
from moot.llm.endpoints.streams import assemble_message
from moot.llm.identity import server_address
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import anthropic

API_VERSION = "2023-06-01"
"""Of the requests and replies of this module, with its header for keys; the package may send a
later one.
"""
FINISH_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
"""Anthropic's `stop_reason` to the `finish_reason` of the chat completions API."""

TRAITS = EndpointTraits(
    address_variable="ANTHROPIC_BASE_URL",
    default_address="https://api.anthropic.com/v1",
    key_variable="ANTHROPIC_API_KEY",
    example_address="http://localhost:8000/v1",
    is_protocol=True,
    has_streams=True,
    starter_keys={"price": "auto"},
)


def read_usage(counts: Json) -> Usage:
    """Return the token counts; `input_tokens` leaves out what its cache reads and writes."""

    def count(field: str) -> int:
        return read_count(counts, field)

    cached = count("cache_read_input_tokens")
    prompt_tokens = count("input_tokens") + cached + count("cache_creation_input_tokens")
    return Usage(prompt_tokens, count("output_tokens"), cached)


@register_endpoint("anthropic", TRAITS)
class AnthropicEndpoint(SdkEndpoint):
    """The messages API."""

    stream_fields: ClassVar[Fields] = {"stream": True}
    path = "/v1/messages"
    models_path = "/v1/models"
    reply_kind = "message of Anthropic's"
    package_name = "anthropic"
    assemble = staticmethod(assemble_message)
    read_usage = staticmethod(read_usage)

    def __init__(self, config: ModelConfig, _threads: int) -> None:
        super().__init__(_open_client(config), config)

    def body(self, request: Request) -> JsonObject:
        """Return the body of a request; the API takes no seed."""
        parameters = {
            name: value
            for name, value in request.parameters.items()
            if name not in ("context", "seed")
        }
        messages = [message.to_fields() for message in request.messages]
        body: JsonObject = {
            "model": request.model,
            "messages": [message for message in messages if message["role"] != "system"],
            **parameters,
        }
        system = [message["content"] for message in messages if message["role"] == "system"]
        if system_text := "\n\n".join(system):
            body["system"] = system_text
        if request.schema is not None:
            # The API refuses some keywords of JSON Schema, which the package moves into texts.
            supported = self._package.transform_schema(dict(request.schema))
            schema = {"type": "json_schema", "schema": supported}
            body["output_config"] = {**body.get("output_config", {}), "format": schema}
        return body

    def check(self, request: Request) -> None:
        """Raise `LogprobsUnavailableError` for a request of probabilities."""
        if request.choices:
            raise logprobs_unavailable(request.model, "Anthropic's API gives none")

    def parse_reply(self, request: Request, response: Json, seconds: float) -> Reply:
        usage = read_usage(response.get("usage"))
        texts = {"text": "", "thinking": ""}
        for block in response["content"]:
            if block["type"] in texts:
                texts[block["type"]] += block[block["type"]]
        stop_reason = response["stop_reason"]
        reply = Reply(
            text=texts["text"],
            reasoning=texts["thinking"],
            finish_reason=FINISH_REASONS.get(stop_reason, optional_text(stop_reason)),
            seconds=seconds,
            served_model=str(response.get("model") or ""),
            service_tier=_read_service_tier(response),
            response_id=str(response.get("id") or ""),
        )
        check_reply_content(request.model, reply, usage)
        return replace(reply, **asdict(usage))


def _open_client(config: ModelConfig) -> "anthropic.AsyncAnthropic":
    """Return a client; ANTHROPIC_CUSTOM_HEADERS counts only for the server of the account.

    Raises:
        UserError: the package is not installed.
    """
    try:
        import anthropic  # an extra; a replay must not load clients
    except ImportError:
        raise UserError(
            f"model '{config.model}': the package anthropic is not installed. Run `make env"
            " EXTRAS=anthropic`."
        ) from None
    headers = {
        "anthropic-version": API_VERSION,
        "X-Api-Key": key_or_placeholder(config),
        "Authorization": anthropic.omit,
    }
    address = (server_address(config) or "").rstrip("/").removesuffix("/v1")
    options = package_options(anthropic, config, TRAITS, "ANTHROPIC_CUSTOM_HEADERS", headers)
    return anthropic.AsyncAnthropic(base_url=address, open_telemetry=False, **options)


def _read_service_tier(response: Json) -> str:
    usage = response.get("usage")
    return str(usage.get("service_tier") or "") if isinstance(usage, dict) else ""
