"""Whole messages of faults, as `tests/data/messages.yaml` records them.

`pytest --write-messages`, of all tests or some, records them anew; the change is read in review.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import yaml

FILE = Path(__file__).resolve().parents[1] / "data" / "messages.yaml"
Refusal = Callable[..., AbstractContextManager[None]]
"""The fixture `refusal`: a block that raises an error of a class (by default a `UserError`), whose
message is the recorded one."""


class Messages:
    """The recorded messages of each module and test, in the order of its parameters."""

    def __init__(self) -> None:
        self.recorded = yaml.safe_load(FILE.read_text("utf-8"))
        self.found: dict[str, dict[str, dict[int, str]]] = {}

    def add(self, module: str, test: str, place: int, message: str) -> str:
        """Note a message; return the recorded one, or "" if there is none."""
        self.found.setdefault(module, {}).setdefault(test, {})[place] = message
        recorded = self.recorded.get(module, {}).get(test, [])
        return recorded[place] if place < len(recorded) else ""

    def write(self) -> None:
        """Record the messages of the modules whose tests have run."""
        for module, tests in self.found.items():
            self.recorded[module] = {}
            for test, messages in tests.items():
                self.recorded[module][test] = [messages[place] for place in sorted(messages)]
        text = yaml.safe_dump(self.recorded, allow_unicode=True, width=1_000_000)
        FILE.write_text(text, "utf-8")
