"""Any OpenAI-compatible server (OpenAI, vLLM, llama-server, LM Studio), by the package `openai`."""

from typing import TYPE_CHECKING

from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import TransientError
from moot.core.model_config import ModelConfig
from moot.core.types import Json, JsonObject
from moot.llm.endpoints import register_endpoint
from moot.llm.endpoints.connections import custom_header_names, open_http_client
from moot.llm.endpoints.failures import logprobs_unavailable
from moot.llm.endpoints.logprobs import TOP_LOGPROBS, label_logprobs
from moot.llm.endpoints.reply_size import check_reply_size, read_usage
from moot.llm.endpoints.sdk import SdkEndpoint, omit_telemetry
from moot.llm.identity import server_address
from moot.llm.redaction import api_key
from moot.llm.request import Reply, Request

if TYPE_CHECKING:
    import openai

_NO_KEY = "none"
"""Sent to servers that need no key, since the package requires one."""

TRAITS = EndpointTraits(
    address_variable="OPENAI_BASE_URL",
    default_address="https://api.openai.com/v1",
    example_address="http://localhost:8000/v1",
    served_path="/v1",
    is_protocol=True,
    has_batches=True,
    can_be_started=True,
    starter_keys={"api_key_env": "OPENAI_API_KEY", "price": "auto"},
)


@register_endpoint("openai", TRAITS)
class OpenAIEndpoint(SdkEndpoint):
    """The chat completions API."""

    path = "/chat/completions"
    models_path = "/models"
    reply_kind = "chat completion"

    def __init__(self, config: ModelConfig, _threads: int) -> None:
        super().__init__(_open_client(config), config.model)
        self._config = config

    @staticmethod
    def package() -> Json:
        """Return the package `openai`."""
        import openai  # a replay must not load clients

        return openai

    def body(self, request: Request) -> JsonObject:
        """Return what is sent for a request."""
        parameters = dict(request.parameters)
        parameters.pop("context", None)
        messages = [message.to_fields() for message in request.messages]
        body: JsonObject = {"model": request.model, "messages": messages}
        if self._config.reasoning:
            body["max_completion_tokens"] = parameters.pop("max_tokens")
        body.update(parameters)
        if request.schema is not None:
            schema = {"name": "reply", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        if self._config.prompt_cache_key:
            body["prompt_cache_key"] = self._config.prompt_cache_key
        if request.choices:
            body.update(logprobs=True, top_logprobs=TOP_LOGPROBS, max_tokens=1, temperature=0)
        return body

    def check(self, request: Request) -> None:
        """Raise `LogprobsUnavailableError` for a request that no server can answer."""
        if request.choices and self._config.reasoning:
            reason = "a reasoning model thinks before it answers"
            raise logprobs_unavailable(request.model, reason)

    def _reply(self, request: Request, response: Json, seconds: float) -> Reply:
        choice, counts = response["choices"][0], response.get("usage") or {}
        usage, details = read_usage(counts), counts.get("completion_tokens_details") or {}
        message = choice["message"]
        logprobs, unlisted = (
            self._choice_logprobs(request, choice) if request.choices else ({}, None)
        )
        reply = Reply(
            text=_optional_text(message.get("content")),
            reasoning=_optional_text(message.get("reasoning_content") or message.get("reasoning")),
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=_optional_text(choice.get("finish_reason")),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            reasoning_tokens=int(details.get("reasoning_tokens") or 0),
            seconds=seconds,
            served_model=str(response.get("model") or ""),
            provider=str(response.get("provider") or ""),
            system_fingerprint=str(response.get("system_fingerprint") or ""),
            service_tier=str(response.get("service_tier") or ""),
            response_id=str(response.get("id") or ""),
        )
        may_be_empty = request.choices or reply.finish_reason in ("length", "content_filter")
        if not reply.text and not may_be_empty:
            raise TransientError("the reply is empty", usage if counts else None)
        return check_reply_size(request, reply)

    @staticmethod
    def _choice_logprobs(request: Request, choice: Json) -> tuple[dict[str, float], float | None]:
        content = (choice.get("logprobs") or {}).get("content")
        if not content:
            raise logprobs_unavailable(request.model, "its replies carry none")
        tokens = [content[0], *(content[0].get("top_logprobs") or ())]
        token_logprobs = {token["token"]: float(token["logprob"]) for token in tokens}
        return label_logprobs(token_logprobs, request.choices)


def _open_client(config: ModelConfig) -> "openai.AsyncOpenAI":
    """Return a client that sends a server nothing of the account that the environment names.

    OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS count for entries without `base_url`.
    """
    import openai  # a replay must not load clients

    key, address = api_key(config) or _NO_KEY, server_address(config) or ""
    headers = omit_telemetry(openai.omit) | {"Authorization": f"Bearer {key}"}
    if config.base_url:
        names = custom_header_names("OPENAI_CUSTOM_HEADERS")
        headers = dict.fromkeys(names, openai.omit) | headers
    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=address,
        timeout=config.timeout,
        max_retries=0,
        default_headers=headers,
        http_client=open_http_client(openai.DefaultAioHttpClient, config, address),
    )
    if config.base_url:
        client.organization = client.project = None
    return client


def _optional_text(value: Json) -> str:
    """Return a text, "" for null; raise `TypeError` for anything else."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"expected text, found {type(value).__name__}")
    return value or ""
