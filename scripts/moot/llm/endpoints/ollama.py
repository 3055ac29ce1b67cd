"""Ollama's native API (`POST /api/chat`); the context length is always sent, truncation is an error."""

import json
from collections.abc import Sequence
from dataclasses import replace

from moot.core.errors import CallFailedError, LogprobsUnavailableError, RunStoppedError, TransientError
from moot.core.model_config import ModelConfig
from moot.core.types import Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.openai import OpenAIEndpoint, label_logprobs
from moot.llm.endpoints.sizes import check_length, most_bytes
from moot.llm.request import Reply, Request

_FEWEST_TOKENS_A_CHARACTER = 1 / 8
"""No tokenizer in use packs more than about eight characters of prose into a token."""


@ENDPOINTS.register("ollama")
class OllamaEndpoint(OpenAIEndpoint):
    """Ollama's API, over the connections and with the errors of the other endpoint.

    The model's digest is read once and recorded with every reply.
    """

    path = "api/chat"
    what = "chat reply of Ollama's"

    def __init__(self, config: ModelConfig, threads: int) -> None:
        super().__init__(config, threads)
        if not config.api_key_env:
            self._headers.pop("Authorization")
        self._digest = ""

    def body(self, request: Request) -> JsonObject:
        """What is sent for a request."""
        names = {"max_tokens": "num_predict", "context": "num_ctx"}
        options = {names.get(name, name): value for name, value in request.parameters.items()}
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        body: JsonObject = {"model": request.model, "messages": messages, "stream": False, "options": options}
        if request.schema is not None:
            body["format"] = dict(request.schema)
        if request.choices:
            options.update(num_predict=1, temperature=0)
            body.update(logprobs=True, top_logprobs=20)
        return body

    async def complete(self, request: Request) -> Reply:
        """One attempt at Ollama's chat API."""
        name = self._config.model
        try:
            if not self._digest:
                listed = json.loads(await self.exchange("GET", "api/tags", request, most_bytes(request)))
                digests = {model["model"]: str(model["digest"]) for model in listed["models"]}
                self._digest = digests.get(f"{name}:latest") or digests.get(name) or "digest unknown"
            return replace(await super().complete(request), served_model=f"{name} {self._digest}")
        except RunStoppedError as error:
            raise RunStoppedError(f"{error} A model that is not there: `ollama pull {name}`.") from None
        except (ValueError, KeyError, TypeError):
            raise TransientError("the list of models is unreadable; does `base_url` name an Ollama server?") from None

    def _reply(self, request: Request, response: Json, seconds: float) -> Reply:
        message, done_reason = response["message"], response.get("done_reason") or ""
        usage = Usage(int(response.get("prompt_eval_count") or 0), int(response.get("eval_count") or 0))
        logprobs, unlisted = _choice_logprobs(request, response.get("logprobs")) if request.choices else ({}, None)
        reply = Reply(
            text=message.get("content") or "",
            reasoning=message.get("thinking") or "",
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=done_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            seconds=seconds,
        )
        if not reply.text and not request.choices and done_reason != "length":
            raise TransientError("the reply is empty", usage if usage.tokens else None)
        self._check_truncation(request, reply)
        return check_length(request, reply)

    def _check_truncation(self, request: Request, reply: Reply) -> None:
        """Ollama drops the beginning of a prompt that does not fit, and says nothing."""
        context = self._config.context
        fewest = request.prompt_characters * _FEWEST_TOKENS_A_CHARACTER
        if reply.prompt_tokens and (reply.prompt_tokens >= context or reply.prompt_tokens < min(fewest, context)):
            raise CallFailedError(
                f"Ollama evaluated {reply.prompt_tokens} prompt tokens of a prompt of {request.prompt_characters} "
                f"characters: it was cut to the context of {context} tokens. Raise `context` for this model."
            )


def _choice_logprobs(request: Request, tokens: Sequence[Json] | None) -> tuple[dict[str, float], float | None]:
    if not tokens:
        raise LogprobsUnavailableError(
            f"model '{request.model}': this Ollama server gives no log-probabilities, so `answer: likelihood` "
            "cannot be used with it. Update Ollama, or set `answer: generation`."
        )
    listed = [tokens[0], *(tokens[0].get("top_logprobs") or ())]
    return label_logprobs({item["token"]: float(item["logprob"]) for item in listed}, request.choices)
