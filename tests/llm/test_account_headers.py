"""Only a provider's own server receives the account that the environment names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from aiohttp import web

from chat_servers import ChatServer, completion, question, serving
from moot.core.endpoint_traits import TRAITS
from moot.core.model_config import ModelConfig
from moot.core.types import Fields
from moot.llm.endpoints import ENDPOINTS, register_endpoint
from moot.llm.endpoints.anthropic import AnthropicEndpoint
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.endpoints.sdk import is_account_server
from moot.llm.identity import client_address, server_address

ACCOUNT = "account-of-the-environment"
VARIABLES = {
    "OPENAI_ORG_ID": ACCOUNT,
    "OPENAI_PROJECT_ID": ACCOUNT,
    "OPENAI_CUSTOM_HEADERS": f"x-gateway: {ACCOUNT}",
    "ANTHROPIC_CUSTOM_HEADERS": f"x-gateway: {ACCOUNT}",
}
HEADERS = {
    "openai": ["openai-organization", "openai-project", "x-gateway"],
    "anthropic": ["x-gateway"],
}
CLASSES: dict[str, type[OpenAIEndpoint | AnthropicEndpoint]] = {
    "openai": OpenAIEndpoint,
    "anthropic": AnthropicEndpoint,
}
SUBCLASS = "another-provider"


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in VARIABLES.items():
        monkeypatch.setenv(variable, value)
    for variable in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "ANOTHER_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the subclass from the registries after each test."""
    for registry in (TRAITS, ENDPOINTS):
        assert SUBCLASS not in registry  # the look-up imports all endpoints
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        monkeypatch.setattr(registry, "places", dict(registry.places))


def register_subclass(base: str, address: str) -> None:
    """Register a subclass of an endpoint with a default address of its own."""
    traits = replace(
        TRAITS[base],
        default_address=address,
        address_variable="ANOTHER_BASE_URL",
        key_variable="",
    )
    subclass = type("AnotherEndpoint", (CLASSES[base],), {})
    register_endpoint(SUBCLASS, traits)(subclass)


@asynccontextmanager
async def recording_headers(base: str) -> AsyncIterator[tuple[ChatServer, list[str]]]:
    """Serve an endpoint's replies, and list the names of the headers that hold the account."""
    names: list[str] = []

    async def answer(request: web.Request, _: Fields) -> web.Response:
        names.extend(name.lower() for name, value in request.headers.items() if value == ACCOUNT)
        return web.json_response(completion(base, "Yes."))

    async with serving(answer) as server:
        yield server, names


async def ask(config: ModelConfig) -> None:
    endpoint = ENDPOINTS[config.endpoint](config, 1)
    reply = await endpoint.complete(question(config.endpoint))
    await endpoint.close()
    assert reply.text == "Yes."


@pytest.mark.parametrize("place", ["default_address", "variable", "base_url"])
@pytest.mark.parametrize("base", list(CLASSES))
async def test_another_address_gets_no_account(
    base: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with recording_headers(base) as (server, names):
        address = server.address(base)
        if place == "base_url":
            await ask(ModelConfig(endpoint=base, model="test", base_url=address))
        else:
            is_default = place == "default_address"
            register_subclass(base, address if is_default else "http://127.0.0.1:9/v1")
            if not is_default:
                monkeypatch.setenv("ANOTHER_BASE_URL", address)
            await ask(ModelConfig(endpoint=SUBCLASS, model="test"))
    assert len(server.bodies) == 1
    assert names == []


@pytest.mark.parametrize("base", list(CLASSES))
async def test_the_server_of_the_account_receives_it(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with recording_headers(base) as (server, names):
        monkeypatch.setenv(f"{base.upper()}_BASE_URL", server.address(base))
        await ask(ModelConfig(endpoint=base, model="test"))
    assert sorted(names) == HEADERS[base]


@pytest.mark.parametrize("base", ["openai", "anthropic"])
@pytest.mark.parametrize("variable", ["", "  ", "https://gateway.example/v1"])
@pytest.mark.parametrize("base_url", [None, "https://other.example/v1"])
def test_the_account_is_of_the_address_that_the_package_calls(
    monkeypatch: pytest.MonkeyPatch, base: str, variable: str, base_url: str | None
) -> None:
    traits = TRAITS[base]
    monkeypatch.setenv(traits.address_variable, variable)
    config = ModelConfig.model_validate({"endpoint": base, "model": "m", "base_url": base_url})
    address = variable.strip() or traits.default_address
    assert client_address(traits) == address
    assert server_address(config) == (base_url or address)
    assert is_account_server(config, traits) == (base_url is None)
