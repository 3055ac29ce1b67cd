"""The example of a new endpoint works, and a provider's key goes to its default address alone."""

import textwrap

import pytest
from aiohttp import web

import moot.llm.endpoints
from chat_servers import completion, question, serving
from messages import refusal
from moot.core.endpoint_traits import TRAITS, EndpointTraits
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, JsonObject
from moot.llm.endpoints import ENDPOINTS, register_endpoint
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.identity import key_variable
from moot.llm.redaction import api_key
from moot.llm.request import Request

KEY = "key-of-the-example-provider"
ADDRESSES = {"base_url": "https://gateway.example/v1"}


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the example from the registries after each test."""
    for registry in (TRAITS, ENDPOINTS):
        assert "example" not in registry  # the look-up imports all endpoints
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        monkeypatch.setattr(registry, "places", dict(registry.places))
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "EXAMPLE_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


def register_example(address: str) -> None:
    """Run the example in the package's docstring, with another default address."""
    lines = (moot.llm.endpoints.__doc__ or "").splitlines()
    code = [line for line in lines if line.startswith("    ") or not line]
    source = textwrap.dedent("\n".join(code)).replace("https://api.example.com/v1", address)
    exec(
        source,
        {
            "EndpointTraits": EndpointTraits,
            "JsonObject": JsonObject,
            "OpenAIEndpoint": OpenAIEndpoint,
            "Request": Request,
            "register_endpoint": register_endpoint,
        },
    )


async def test_the_example_is_asked_with_its_key_and_its_fields(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXAMPLE_API_KEY", KEY)
    headers: list[str] = []

    async def answer(request: web.Request, _: Fields) -> web.Response:
        headers.append(request.headers["Authorization"])
        return web.json_response(completion("example", "Yes."))

    async with serving(answer) as server:
        register_example(server.address("example"))
        endpoint = ENDPOINTS["example"](ModelConfig(endpoint="example", model="test"), 1)
        reply = await endpoint.complete(question("example"))
        await endpoint.close()
    assert reply.text == "Yes."
    assert headers == [f"Bearer {KEY}"]
    [body] = server.bodies
    assert "seed" not in body
    assert body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("entry", "variable", "expected"),
    [
        ({}, "", "EXAMPLE_API_KEY"),
        ({"api_key_env": "MY_KEY"}, "", "MY_KEY"),
        (ADDRESSES, "", ""),
        ({**ADDRESSES, "api_key_env": "MY_KEY"}, "", "MY_KEY"),
        ({}, "http://localhost:8000/v1", ""),
        ({"api_key_env": "MY_KEY"}, "http://localhost:8000/v1", "MY_KEY"),
    ],
)
@pytest.mark.parametrize("endpoint", ["openai", "anthropic", "example"])
def test_only_the_default_address_gets_the_key_unasked(
    endpoint: str,
    entry: JsonObject,
    variable: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    register_example("https://api.example.com/v1")
    monkeypatch.setenv(f"{endpoint.upper()}_BASE_URL", variable)
    config = ModelConfig.model_construct(
        **{**ModelConfig(model="test").model_dump(), "endpoint": endpoint, **entry}
    )
    assert key_variable(config) == expected.replace("EXAMPLE", endpoint.upper())


def test_a_missing_key_of_the_default_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with refusal():
        api_key(ModelConfig(endpoint="openai", model="test"))
