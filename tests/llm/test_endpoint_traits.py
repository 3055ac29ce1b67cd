"""An endpoint is one file: it states its traits next to its class."""

import sys

import pytest

from messages import refusal
from moot.core.endpoint_traits import TRAITS, EndpointTraits, endpoint_traits
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import ENDPOINTS


def test_every_endpoint_has_traits() -> None:
    shipped = {name for name in ENDPOINTS if name not in ENDPOINTS.extensions}
    assert shipped >= {"anthropic", "embedded", "ollama", "openai", "recorded", "simulated"}
    assert shipped == {name for name in TRAITS if name not in TRAITS.extensions}


def test_an_endpoint_without_traits_is_a_server() -> None:
    assert endpoint_traits("unknown") == EndpointTraits()
    assert endpoint_traits("unknown").has_server


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with refusal():
        ENDPOINTS["anthropic"](ModelConfig(endpoint="anthropic", model="test"), 1)
