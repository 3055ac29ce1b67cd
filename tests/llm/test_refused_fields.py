"""A server that refuses a field ends the run at the first call, with the setting that omits it."""

from typing import Any

import pytest
from aiohttp import web

from chat_servers import ask_once, completion, question, serving
from moot.core.errors import CallFailedError, RunStoppedError
from moot.core.model_config import ModelConfig
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.request import Message, request_to

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
REMEDIES = {
    "seed": "`seed: null`",
    "temperature": "`temperature: null`",
    "max_tokens": "`max_tokens: null`",
    "max_completion_tokens": "`reasoning: false`",
    "response_format": "`structured: prompted`",
    "reasoning_effort": "remove `reasoning_effort` under `parameters`",
    "top_p": "remove `top_p` under `parameters`",
}
FORMS = {
    "param": lambda name: {
        "error": {"message": "Unsupported value", "param": name, "type": "invalid_request_error"}
    },
    "inner param": lambda name: {"error": {"message": "bad", "param": f"{name}.type[0]"}},
    "quoted": lambda name: {
        "error": {"message": f"Unsupported parameter: '{name}' is not supported with this model."}
    },
    "json": lambda name: [
        {"error": {"code": 400, "message": f'Unknown name "{name}": Cannot find field.'}}
    ],
    "pydantic": lambda name: {
        "detail": [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs"}]
    },
    "text": lambda name: {"error": f"{name}: this field is not permitted"},
    "upstream": lambda name: {
        "error": {
            "message": "Provider returned error",
            "metadata": {"raw": f'{{"error": {{"message": "{name} is not allowed"}}}}'},
        }
    },
}


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", REMEDIES)
async def test_the_first_refusal_ends_the_run(name: str, form: str, status: int) -> None:
    async def answer(_request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        if name in body:
            return web.json_response(FORMS[form](name), status=status)
        return web.json_response(completion("openai", "It will."))

    parameters = {"max_tokens": 50, "temperature": 0.5, "seed": 1}
    parameters |= {"reasoning_effort": "low", "top_p": 0.9}
    request = question(parameters=parameters, schema=SCHEMA)
    is_reasoning = name == "max_completion_tokens"
    async with serving(answer) as server:
        with pytest.raises(RunStoppedError) as failure:
            await ask_once(server, "openai", request, reasoning=is_reasoning)
    assert len(server.bodies) == 1
    assert f"refuses the field `{name}`" in str(failure.value)
    assert REMEDIES[name] in str(failure.value)


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens. Reduce max_tokens or the prompt.",
        "'max_tokens' is too large: 4096. The maximum context length is 4096 and your request has"
        " 900 input tokens",
        "the prompt is too long for max_tokens",
        "We cannot process a story about seed and temperature",
    ],
)
async def test_a_prompt_that_does_not_fit_fails_its_call_only(message: str) -> None:
    async def answer(_request: web.BaseRequest, _body: dict[str, Any]) -> web.Response:
        return web.json_response({"error": {"message": message}}, status=400)

    async with serving(answer) as server:
        with pytest.raises(CallFailedError):
            await ask_once(server, "openai")


async def test_a_lower_cap_on_probabilities_names_its_key() -> None:
    async def answer(_request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        if body["top_logprobs"] > 5:
            error = {"message": "top_logprobs is 20; at most 5 are given"}
            return web.json_response({"error": error}, status=400)
        top_logprobs = [{"token": "YES", "logprob": -0.1}, {"token": "NO", "logprob": -2.4}]
        content = completion("openai", "YES")
        content["choices"][0]["logprobs"] = {
            "content": [{**top_logprobs[0], "top_logprobs": top_logprobs}]
        }
        return web.json_response(content)

    request = question(choices=("YES", "NO"))
    async with serving(answer) as server:
        with pytest.raises(RunStoppedError, match="Write `top_logprobs: 5` in the model's entry"):
            await ask_once(server, "openai", request)
        reply = await ask_once(server, "openai", request, top_logprobs=5)
    assert set(reply.logprobs) == {"YES", "NO"}


def _body(likelihood: bool = False, **entry: Any) -> dict[str, Any]:
    config = ModelConfig(model="test", base_url="http://localhost:8000/v1", **entry)
    messages = (Message("user", "Will it rain?"),)
    request = request_to(
        config, messages, max_tokens=50, temperature=0.5, seed=1,
        choices=("YES", "NO") if likelihood else (),
    )  # fmt: skip
    return OpenAIEndpoint(config, 1).body(request)


@pytest.mark.parametrize("name", ["seed", "temperature", "max_tokens"])
@pytest.mark.parametrize("likelihood", [False, True])
async def test_each_field_can_be_omitted(name: str, likelihood: bool) -> None:
    assert name in _body(likelihood)
    for entry in ({name: None}, {"omit": name}, {"omit": [name]}, {name: None, "omit": [name]}):
        assert set(_body(likelihood, **entry)) == set(_body(likelihood)) - {name}


async def test_a_reasoning_model_can_do_without_a_limit() -> None:
    assert "max_completion_tokens" in _body(reasoning=True)
    assert set(_body(reasoning=True, max_tokens=None)) == {"model", "messages"}
