"""An endpoint is one file: it states its traits next to its class.

No other package names it.
"""

import ast
import sys
from pathlib import Path

import pytest

from courtroom_runs import PROJECT
from messages import refusal
from moot.core.endpoint_traits import TRAITS, EndpointTraits, endpoint_traits
from moot.core.model_config import ModelConfig
from moot.llm.endpoints import ENDPOINTS

SOURCE = PROJECT / "scripts/moot"
DEFAULT_ENDPOINT = ("core/model_config.py", "openai")
STARTER_WITHOUT_FILE = ("commands/init.py", "openai")


def names_in(path: Path, names: set[str]) -> list[tuple[str, str]]:
    """Return the endpoints that a module names in string literals."""
    source = path.read_text("utf-8")
    if not any(name in source for name in names):  # parsing takes long
        return []
    constants = [
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)
    ]
    place = str(path.relative_to(SOURCE))
    return [(place, value) for value in constants if isinstance(value, str) and value in names]


def test_every_endpoint_has_traits() -> None:
    shipped = {name for name in ENDPOINTS if name not in ENDPOINTS.extensions}
    assert shipped >= {"anthropic", "embedded", "ollama", "openai", "recorded", "simulated"}
    assert shipped == {name for name in TRAITS if name not in TRAITS.extensions}


def test_no_other_room_names_an_endpoint() -> None:
    names = {name for name in TRAITS if TRAITS[name].has_server or TRAITS[name].in_process}
    files = [path for path in SOURCE.rglob("*.py") if "endpoints" not in path.parts]
    names_in_other_rooms = set[str]()
    for path in files:
        names_in_other_rooms.update(names_in(path, names))
    assert names_in_other_rooms <= {DEFAULT_ENDPOINT, STARTER_WITHOUT_FILE}


def test_an_endpoint_without_traits_is_a_server() -> None:
    assert endpoint_traits("unknown") == EndpointTraits()
    assert endpoint_traits("unknown").has_server


def test_a_missing_package_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with refusal():
        ENDPOINTS["anthropic"](ModelConfig(endpoint="anthropic", model="test"), 1)
