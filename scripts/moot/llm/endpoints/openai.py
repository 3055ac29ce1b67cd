"""Any OpenAI-compatible server (OpenAI, vLLM, llama-server, LM Studio), by the package `openai`."""

from pathlib import PureWindowsPath
from typing import TYPE_CHECKING, ClassVar

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import TransientError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, Json, JsonObject
from moot.llm.endpoints import register_endpoint
from moot.llm.endpoints.faults import logprobs_unavailable
from moot.llm.endpoints.logprobs import choice_logprobs
from moot.llm.endpoints.messages import (
    MAY_BE_EMPTY,
    check_reply_content,
    optional_text,
    read_reasoning,
    read_text,
)
from moot.llm.endpoints.response_bodies import read_reasoning_tokens, read_usage
from moot.llm.endpoints.sdk import (
    SdkEndpoint,
    is_account_server,
    key_or_placeholder,
    package_options,
)
from moot.llm.endpoints.streams import assemble_completion
from moot.llm.identity import server_address
from moot.llm.redaction import redacted
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import openai

_BROKEN_OFF = ("error", "abort")
"""Finish reasons of replies that a server did not complete: vLLM and SGLang abort what runs when
they pause or shut down, with status 200.
"""
TRAITS = EndpointTraits(
    address_variable="OPENAI_BASE_URL",
    default_address="https://api.openai.com/v1",
    key_variable="OPENAI_API_KEY",
    example_address="http://localhost:8000/v1",
    is_protocol=True,
    has_batches=True,
    has_streams=True,
    starter_keys={"price": "auto"},
)


@register_endpoint("openai", TRAITS)
class OpenAIEndpoint(SdkEndpoint):
    """The chat completions API."""

    stream_fields: ClassVar[Fields] = {"stream": True, "stream_options": {"include_usage": True}}
    path = "/chat/completions"
    models_path = "/models"
    reply_kind = "chat completion"
    batch_path = "/v1/chat/completions"
    package_name = "openai"
    assemble = staticmethod(assemble_completion)
    read_usage = staticmethod(read_usage)

    def __init__(self, config: ModelConfig, _threads: int) -> None:
        super().__init__(_open_client(config), config)
        self._config = config

    def body(self, request: Request) -> JsonObject:
        """Return the body of a request."""
        parameters = dict(request.parameters)
        parameters.pop("context", None)
        messages = [message.to_fields() for message in request.messages]
        body: JsonObject = {"model": request.model, "messages": messages}
        if self._config.reasoning and "max_tokens" in parameters:
            body["max_completion_tokens"] = parameters.pop("max_tokens")
        body.update(parameters)
        if request.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if request.choices:
            body.update(logprobs=True, top_logprobs=self._config.top_logprobs)
            one_token = {"max_tokens": 1, "temperature": 0}
            omitted = self._config.omit
            body |= {name: value for name, value in one_token.items() if name not in omitted}
        return body

    def check(self, request: Request) -> None:
        """Raise `LogprobsUnavailableError` for a request that no server can answer."""
        if request.choices and self._config.reasoning:
            reason = "a reasoning model thinks before it answers"
            raise logprobs_unavailable(request.model, reason)

    def parse_reply(self, request: Request, response: Json, seconds: float) -> Reply:
        counts = response.get("usage")
        usage, stated_usage = read_usage(counts), read_usage(counts) if counts else None
        if not response["choices"]:
            raise TransientError("the response has no choices: no reply", stated_usage)
        choice = response["choices"][0]
        finish_reason = optional_text(choice.get("finish_reason"))
        if _is_broken_off(choice, finish_reason):
            error = choice.get("error") or "no error is stated"
            problem = f"the server broke the reply off (finish_reason {finish_reason}): {error}"
            raise TransientError(redacted(problem), stated_usage)
        can_be_empty = finish_reason in MAY_BE_EMPTY  # a filter may leave no message at all
        message = choice["message"] or {} if can_be_empty else choice["message"]
        text, refusal = read_text(message.get("content")), optional_text(message.get("refusal"))
        tokens = (choice.get("logprobs") or {}).get("content")
        logprobs, unlisted = choice_logprobs(request, tokens, stated_usage)
        reply = Reply(
            text=text or refusal,
            reasoning=read_reasoning(message),
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason="refusal" if refusal and not text else finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=read_reasoning_tokens(counts),
            seconds=seconds,
            **_read_origin(response),
        )
        if not request.choices:
            check_reply_content(self._config.model, reply, stated_usage)
        return reply


def _is_broken_off(choice: Json, finish_reason: str) -> bool:
    """Return whether the server broke off a reply."""
    has_error = bool(choice.get("error") and finish_reason != "stop")
    return finish_reason in _BROKEN_OFF or has_error


def _read_origin(response: Json) -> JsonObject:
    """Return the origin of a response, as fields of `Reply`."""
    fields = {
        "served_model": "model",
        "provider": "provider",
        "system_fingerprint": "system_fingerprint",
        "service_tier": "service_tier",
        "response_id": "id",
    }
    origin = {name: str(response.get(field) or "") for name, field in fields.items()}
    return origin | {"served_model": _file_name(origin["served_model"])}


def _file_name(model: str) -> str:
    """Return a model's name; of a file on the server's disk only the file's name."""
    is_path = model.startswith("/") or PureWindowsPath(model).is_absolute()
    return PureWindowsPath(model).name if is_path else model


def _open_client(config: ModelConfig) -> "openai.AsyncOpenAI":
    """Return a client that sends only OpenAI the account that the environment names.

    OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS count for entries without `base_url`
    at OpenAI's default address or OPENAI_BASE_URL, not for the default address of a subclass.
    """
    import openai  # a replay must not load clients

    headers = {"Authorization": f"Bearer {key_or_placeholder(config)}"}
    options = package_options(openai, config, TRAITS, "OPENAI_CUSTOM_HEADERS", headers)
    client = openai.AsyncOpenAI(base_url=server_address(config) or "", **options)
    if not is_account_server(config, TRAITS):
        client.organization = client.project = None
    return client
