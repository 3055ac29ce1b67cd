"""Prompts that a server cut silently are detected, and options have the place that Ollama reads."""

from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints.prompt_length import (
    check_prompt_length,
    estimate_prompt_tokens,
    min_prompt_tokens,
)
from moot.llm.request import Message, Reply, request_to

TEXTS = {
    "English": "The court considered whether the tenant could keep the dog in the flat. " * 400,
    "German": "Das Gericht hat erwogen, ob die Mieterin den Hund behalten durfte. " * 400,
    "Chinese": "法院考虑了承租人是否可以在公寓里养狗，尽管合同禁止这样做。" * 500,
    "citations": "See 410 U.S. 113, 120 (1973); 347 U.S. 483, 495 (1954). " * 400,
}
TOKENS = {"English": 6000, "German": 7000, "Chinese": 8500, "citations": 12_000}
"""About what usual tokenizers count."""


def _content(endpoint: str, prompt_tokens: int) -> dict[str, Any]:
    content = completion(endpoint, "It will.")
    if endpoint == "ollama":
        return content | {"prompt_eval_count": prompt_tokens}
    return content | {"usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 3}}


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
@pytest.mark.parametrize("share", [1.0, 0.4])
async def test_a_cut_prompt_fails_its_call(endpoint: str, language: str, share: float) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(_content(endpoint, int(share * TOKENS[language])))

    request = question(endpoint, TEXTS[language])
    async with serving(answer) as server:
        if share == 1.0:
            assert (await ask_once(server, endpoint, request, context=32_768)).text == "It will."
            return
        with pytest.raises(CallFailedError, match="it was cut to"):
            await ask_once(server, endpoint, request, context=32_768)


@pytest.mark.parametrize("text", ["", "Yes?", "word", "a b c d e f g", "狗", "x" * 500, "\n" * 90])
def test_short_prompts_are_never_called_cut(text: str) -> None:
    assert min_prompt_tokens(question(text=text)) <= max(len(text), 1)


OPTIONS = {"think": False, "keep_alive": "1h", "top_k": 20, "top_p": 0.9, "stop": ["\n"],
           "num_keep": 4, "repeat_penalty": 1.1, "min_p": 0.05, "num_gpu": 1}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
async def test_each_option_is_sent_where_ollama_reads_it(name: str) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(completion("ollama", "It will."))

    entry = {"endpoint": "ollama", "model": "test", "parameters": {name: OPTIONS[name]}}
    messages = (Message("user", "Will it rain?"),)
    request = request_to(ModelConfig(**entry), messages, max_tokens=50, temperature=0.5, seed=1)
    async with serving(answer) as server:
        await ask_once(server, "ollama", request, parameters=entry["parameters"])
    (body,) = server.bodies
    place, absent = body["options"], body
    if name in ("think", "keep_alive"):
        place, absent = body, body["options"]
    assert place[name] == OPTIONS[name]
    assert name not in absent
    assert body["options"]["num_ctx"] == 8192


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("context", [2048, 4096, 8192])
@pytest.mark.parametrize("tokens_per_estimate", [0.8, 1.0, 1.3])
def test_half_of_the_context_is_a_cut_where_the_prompt_is_longer(
    language: str, context: int, tokens_per_estimate: float
) -> None:
    """Ollama reads half of its context of a prompt that does not fit it."""
    unit = question(text=TEXTS[language])
    tokens_per_character = tokens_per_estimate * estimate_prompt_tokens(unit) / len(TEXTS[language])
    long_text = (TEXTS[language] * 4)[: int(1.05 * context / tokens_per_character)]
    short_text = TEXTS[language][: int(0.5 * context / tokens_per_character)]
    half = Reply(text="It will.", prompt_tokens=4 + (context - 4) // 2)
    with pytest.raises(CallFailedError, match=f"cut to the context of {context} tokens"):
        check_prompt_length(question(text=long_text), half, context, 4)
    if tokens_per_estimate >= 1.0:
        check_prompt_length(question(text=short_text), half, context, 4)
    whole = Reply(text="It will.", prompt_tokens=int(1.05 * context))
    check_prompt_length(question(text=long_text), whole, 2 * context, 4)


REFUSALS = [
    (400, '{"error":"{\\"error\\":{\\"code\\":400,\\"message\\":\\"request (8889 tokens) exceeds'
          ' the available context size (4096 tokens), try increasing it\\",'
          '\\"type\\":\\"exceed_context_size_error\\",\\"n_ctx\\":4096}}"}'),
    (400, '{"error":"the prompt is longer than the context length currently available"}'),
    (500, '{"error":"the input length exceeds the context length"}'),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), REFUSALS)
async def test_a_server_is_asked_to_refuse_a_long_prompt(status: int, body: str) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.Response(status=status, text=body, content_type="application/json")

    async with serving(answer) as server:
        with pytest.raises(CallFailedError, match=r"`context`\), or shorten the cases") as failure:
            await ask_once(server, "ollama", question("ollama", TEXTS["German"]))
    (sent_body,) = server.bodies
    assert sent_body["truncate"] is False
    assert sent_body["shift"] is False
    assert "context" in str(failure.value) and "\\" not in str(failure.value)


@pytest.mark.parametrize("endpoint", ["openai", "ollama"])
@pytest.mark.parametrize("prompt_tokens", [1, 12, 50, 255])
async def test_a_count_below_any_context_does_not_mean_a_cut(
    endpoint: str, prompt_tokens: int
) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response(_content(endpoint, prompt_tokens))

    async with serving(answer) as server:
        reply = await ask_once(server, endpoint, question(endpoint, TEXTS["English"][:3000]))
    assert reply.text == "It will."
