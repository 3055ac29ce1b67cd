"""Test what `doctor` reports on servers.

It reports on names, context windows, keys, refused fields and cut prompts.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from aiohttp import web

from chat_servers import completion, serving
from in_process import default_configuration
from moot.commands.doctor import Finding, check_all
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS
from project_copy import PROJECT

Entries = list[dict[str, Any]] | None
Complete = Callable[[dict[str, Any]], web.Response]


def make_plan(text: str, **changes: object) -> Plan:
    return Plan.from_yaml(default_configuration(yaml.safe_load(text) | changes), PROJECT)


def complete_honestly(body: dict[str, Any]) -> web.Response:
    content = completion("openai", '{"answer": "yes"}')
    words = sum(len(message["content"].split()) for message in body["messages"])
    content["usage"] = {"prompt_tokens": 2 * words + 10, "completion_tokens": 5}
    return web.json_response(content)


def refuse_key(_body: dict[str, Any]) -> web.Response:
    return web.json_response({"error": {"message": "Invalid API key."}}, status=401)


def refuse_schema(body: dict[str, Any]) -> web.Response:
    if "response_format" in body:
        message = "'response_format' is not supported by this model."
        return web.json_response({"error": {"message": message}}, status=400)
    return complete_honestly(body)


def cut_prompts(body: dict[str, Any]) -> web.Response:
    content = completion("openai", '{"answer": "yes"}')
    words = sum(len(message["content"].split()) for message in body["messages"])
    content["usage"] = {"prompt_tokens": min(2 * words + 10, 2048), "completion_tokens": 5}
    return web.json_response(content)


def findings_of(
    entries: Entries, complete: Complete = complete_honestly, protocol: str = "protocol: courtroom"
) -> dict[str, Finding]:
    async def answer(request: web.BaseRequest, body: dict[str, Any]) -> web.Response:
        if request.method == "GET":
            if entries is None:
                return web.json_response({}, status=404)
            return web.json_response({"data": entries})
        return complete(body)

    async def check() -> list[Finding]:
        async with serving(answer) as server:
            text = f"""
run: [mine]
models: {{mine: {{model: test, base_url: "{server.address("openai")}", attempts: 1}}}}
experiments: {{mine: {{{protocol}, dataset: nlsy97, models: [mine], cases: 3}}}}
"""
            return await check_all(make_plan(text, doctor={"make_calls": True}))

    return {finding.subject: finding for finding in asyncio.run(check())}


def test_the_listed_models_are_compared() -> None:
    """A server with a single model, such as llama.cpp's, may answer under any name."""
    states = {"test": "ok", "test:latest": "ok", "/home/me/some.gguf": "?"}
    for name, state in states.items():
        finding = findings_of([{"id": name}])["mine"]
        assert finding.state == state and "/home/me" not in finding.details
    finding = findings_of([{"id": "org/a"}, {"id": "b"}])["mine"]
    assert finding.state == "missing" and "'test' not in: b, org/a" in finding.details


@pytest.mark.parametrize("entries", [None, []])
def test_a_server_without_a_list_of_models_is_still_called(entries: Entries) -> None:
    findings = findings_of(entries)
    assert findings["mine"].state == "?"
    assert findings["mine, reply"].state == "ok"


@pytest.mark.parametrize(
    ("complete", "words"),
    [
        (refuse_key, "Invalid API key"),
        (refuse_schema, "structured: prompted"),
        (cut_prompts, "it cuts long prompts"),
    ],
)
def test_a_call_finds_faults_that_would_spoil_a_run(complete: Complete, words: str) -> None:
    finding = findings_of([{"id": "test"}], complete)["mine, reply"]
    assert finding.state == "missing" and words in finding.details
    assert ("structured" in finding.details) == (complete is refuse_schema)


def give_logprobs(body: dict[str, Any]) -> web.Response:
    content = completion("openai", "yes")
    tokens = [{"token": "yes", "logprob": -0.1, "top_logprobs": []}]
    content["choices"][0]["logprobs"] = {"content": tokens}
    return web.json_response(content) if "logprobs" in body else complete_honestly(body)


def refuse_logprobs(body: dict[str, Any]) -> web.Response:
    if "logprobs" in body:
        message = "top_logprobs must be at most 5."
        return web.json_response({"error": {"message": message}}, status=400)
    return complete_honestly(body)


@pytest.mark.parametrize(
    ("complete", "state", "words"),
    [
        (give_logprobs, "ok", "the server gives them"),
        (complete_honestly, "missing", "no log-probabilities (its replies carry none)"),
        (refuse_logprobs, "missing", "(HTTP 400: top_logprobs must be at most 5)"),
    ],
)
def test_answers_by_likelihood_need_log_probabilities(
    complete: Complete, state: str, words: str
) -> None:
    protocol = "protocol: zero_shot, params: {answer: likelihood}"
    findings = findings_of([{"id": "test"}], complete, protocol)
    finding = findings["mine, log-probabilities"]
    assert finding.state == state and words in finding.details
    assert findings["mine, reply"].state == "ok"
    assert "mine, log-probabilities" not in findings_of([{"id": "test"}], complete)


@pytest.mark.parametrize("name", [*PROTOCOLS])
def test_a_protocol_states_where_it_needs_log_probabilities(name: str) -> None:
    params = PROTOCOLS[name].params
    choices = {field: str(info.annotation) for field, info in params.model_fields.items()}
    by_likelihood = {field for field, values in choices.items() if "'likelihood'" in values}
    assert by_likelihood <= {*params.likelihood_fields}


def test_another_model_that_answers_is_named() -> None:
    def answer_as_another(_body: dict[str, Any]) -> web.Response:
        usage = {"prompt_tokens": 9_000, "completion_tokens": 2}
        reply = {**completion("openai", "one two"), "model": "gpt-4.1", "usage": usage}
        return web.json_response(reply)

    finding = findings_of([{"id": "test"}], answer_as_another)["mine, reply"]
    assert "by gpt-4.1, which is another model than test" in finding.details
