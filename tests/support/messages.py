"""Whole messages of faults, as `tests/data/messages.yaml` records them.

`pytest --write-messages`, of all tests or some, records them anew; the change is read in review.
"""

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pytest
import yaml

from moot.core.errors import UserError
from moot.core.yaml_text import load_yaml

TESTS = Path(__file__).resolve().parents[1]
FILE = TESTS / "data" / "messages.yaml"


class Messages:
    """The recorded messages of each module and test, in the order of its parameters."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, dict[int, str]]] = {}

    @cached_property
    def recorded(self) -> dict[str, dict[str, list[str]]]:
        """Read when a test needs it, since every worker imports this module."""
        messages: dict[str, dict[str, list[str]]] = load_yaml(FILE.read_text("utf-8"))
        return messages

    def add(self, module: str, test: str, place: int, message: str) -> str:
        """Note a message; return the recorded one, or "" if there is none."""
        self.found.setdefault(module, {}).setdefault(test, {})[place] = message
        recorded = self.recorded.get(module, {}).get(test, [])
        return recorded[place] if place < len(recorded) else ""

    def write(self) -> None:
        """Record the messages of the tests that have run, and forget those of removed tests."""
        for module, tests in self.found.items():
            recorded = self.recorded.setdefault(module, {})
            for test, messages in tests.items():
                recorded[test] = [messages[place] for place in sorted(messages)]
            source = (TESTS / module).read_text("utf-8")
            for test in [name for name in recorded if f"def {name}(" not in source]:
                del recorded[test]
        text = yaml.safe_dump(self.recorded, allow_unicode=True, width=1_000_000)
        FILE.write_text(text, "utf-8")


MESSAGES = Messages()


@dataclass
class RunningTest:
    """The test that runs, and the place of its next message among those of its parameters."""

    request: pytest.FixtureRequest
    places: Iterator[int] = field(init=False)

    def __post_init__(self) -> None:
        callspec = getattr(self.request.node, "callspec", None)
        self.places = itertools.count(max(callspec.indices.values()) if callspec else 0)

    def is_recorded(self, message: str) -> bool:
        """Note a message; return whether it is the recorded one, without folders and ports."""
        request = self.request
        if "tmp_path" in request.fixturenames:
            message = message.replace(str(request.getfixturevalue("tmp_path")), "FOLDER")
        message = message.replace(str(TESTS.parent), "PROJECT")
        message = re.sub(r"127\.0\.0\.1:\d+", "SERVER", message)
        module, test = request.path.relative_to(TESTS).as_posix(), request.function.__name__
        recorded = MESSAGES.add(module, test, next(self.places), message)
        return message == recorded or request.config.getoption("write_messages")


RUNNING: list[RunningTest] = []


@contextmanager
def refusal(kind: type[Exception] = UserError) -> Iterator[None]:
    """Expect a fault in a block; its message is the one that `tests/data/messages.yaml` records."""
    with pytest.raises(kind) as caught:
        yield
    assert RUNNING[-1].is_recorded(str(caught.value)), str(caught.value)
