"""Ollama's native API (`POST /api/chat`): the context length is always sent, and truncation is an error."""

import json
import re
from dataclasses import asdict

from moot.core.errors import CallFailedError, LogprobsUnavailableError, TransientError
from moot.core.model_config import ModelConfig
from moot.core.types import Json, JsonObject
from moot.core.usage import Usage
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.openai import OpenAIEndpoint, label_logprobs, text_of
from moot.llm.endpoints.sizes import check_length
from moot.llm.request import Reply, Request

_FEWEST_TOKENS_A_CHARACTER = 1 / 8
"""No tokenizer in use packs more than about eight characters of prose into a token."""
_COUNTED = re.compile(rb'"(prompt_eval_count|eval_count)"\s*:\s*([0-9]{1,12})')
_LARGEST_LIST = 2**24
"""Of the server's models, in bytes."""


@ENDPOINTS.register("ollama")
class OllamaEndpoint(OpenAIEndpoint):
    """One attempt at `/api/chat`; the model's digest is read once and recorded with every reply."""

    path = "api/chat"
    what = "chat of Ollama's"

    def __init__(self, config: ModelConfig, threads: int) -> None:
        super().__init__(config, threads)
        if not config.api_key_env:
            del self._headers["Authorization"]
        self._not_found = f"Pull the model (`ollama pull {config.model}`) or check `base_url`."
        self._served_model = ""

    async def complete(self, request: Request) -> Reply:
        """One attempt at Ollama's chat API."""
        self._served_model = self._served_model or await self._find_model(request)
        reply = await super().complete(request)
        self._check_truncation(request, reply)
        return reply

    async def _find_model(self, request: Request) -> str:
        """The model's name and digest, as the server lists it."""
        try:
            listed = json.loads(await self.exchange("GET", "api/tags", request, _LARGEST_LIST))["models"]
            digests = {str(model.get("model")): model.get("digest") for model in listed}
        except (ValueError, TypeError, KeyError, AttributeError):
            raise TransientError(f"the list of models is none of Ollama's: {self._root}/api/tags") from None
        model = self._config.model
        name = model if ":" in model else f"{model}:latest"
        return f"{model} {digests.get(name) or digests.get(model) or 'digest unknown'}"

    def body(self, request: Request) -> JsonObject:
        """What is sent for a request."""
        names = {"max_tokens": "num_predict", "context": "num_ctx"}
        options = {names.get(name, name): value for name, value in request.parameters.items()}
        body: JsonObject = {
            "model": request.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            "stream": False,
            "options": options,
        }
        if request.schema:
            body["format"] = dict(request.schema)
        if request.choices:
            options.update(num_predict=1, temperature=0)
            body.update(logprobs=True, top_logprobs=20)
        return body

    def counted(self, tail: bytes) -> Usage | None:
        """The server's count of tokens, where the end of an answer holds it."""
        found = {name: int(count) for name, count in _COUNTED.findall(tail)}
        return Usage(found.get(b"prompt_eval_count", 0), found.get(b"eval_count", 0)) if found else None

    def check(self, request: Request) -> None:
        """Any request may be answered."""

    def _reply(self, request: Request, response: Json, seconds: float) -> Reply:
        message = response["message"]
        text, ended = text_of(message.get("content")), text_of(response.get("done_reason"))
        usage = Usage(int(response.get("prompt_eval_count") or 0), int(response.get("eval_count") or 0))
        logprobs, unlisted = self._choice_logprobs(request, response) if request.choices else ({}, None)
        if not text and not request.choices and ended != "length":
            raise TransientError("the reply is empty", usage if usage.tokens else None)
        reply = Reply(
            text=text,
            reasoning=text_of(message.get("thinking")),
            logprobs=logprobs,
            unlisted_logprob=unlisted,
            finish_reason=ended,
            seconds=seconds,
            served_model=self._served_model,
            **asdict(usage),
        )
        return check_length(request, reply)

    @staticmethod
    def _choice_logprobs(request: Request, response: Json) -> tuple[dict[str, float], float | None]:
        if not response.get("logprobs"):
            raise LogprobsUnavailableError(
                f"model '{request.model}': this Ollama server gives no log-probabilities, so `answer: likelihood` "
                "cannot be used with it. Update Ollama, or set `answer: generation`."
            )
        first = response["logprobs"][0]
        listed = [first, *(first.get("top_logprobs") or ())]
        alternatives = {one["token"]: float(one["logprob"]) for one in listed if one.get("logprob") is not None}
        return label_logprobs(alternatives, request.choices)

    def _check_truncation(self, request: Request, reply: Reply) -> None:
        """Ollama drops the beginning of a prompt that does not fit, and says nothing."""
        context = self._config.context
        fewest = request.prompt_characters * _FEWEST_TOKENS_A_CHARACTER
        if reply.prompt_tokens and (reply.prompt_tokens >= context or reply.prompt_tokens < min(fewest, context)):
            raise CallFailedError(
                f"Ollama evaluated {reply.prompt_tokens} prompt tokens of a prompt of {request.prompt_characters} "
                f"characters: it was cut to the context of {context} tokens. Raise `context` for this model."
            )
