"""Short waits for tests of faults."""

import pytest

from moot.llm import waiting


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first wait after a fault takes a thousandth of a second."""
    monkeypatch.setattr(waiting, "FIRST_BACKOFF_SECONDS", 0.001)
