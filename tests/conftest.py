"""What many tests share: the real data, where a machine has it, a model server, and the context of loaders."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from moot.datasets import LoadContext

if TYPE_CHECKING:
    from fault_server import FaultServer

# Examples are counted, never timed: a busy machine is no fault of the code.
hypothesis.settings.register_profile("moot", deadline=None)
hypothesis.settings.load_profile("moot")
PROJECT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data: MOOT_SHARED_DATA, or ../shared/data beside the checkout; skips where there is none."""
    named = os.environ.get("MOOT_SHARED_DATA")
    folder = Path(named) if named else PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder} (set MOOT_SHARED_DATA to a folder laid out as data/raw/README.md says)")
    return folder


@pytest.fixture(scope="module")
def server() -> "Iterator[FaultServer]":
    """A model server that fails when a test tells it to."""
    from fault_server import FaultServer

    with FaultServer() as running:
        yield running


@pytest.fixture
def load_context(tmp_path: Path) -> Callable[..., LoadContext]:
    """Make a loader's context: `load_context("nlsy97", data_root=...)`; the data root is an empty folder by default."""

    def make(name: str = "data", *, data_root: Path | None = None, seed: int = 42) -> LoadContext:
        return LoadContext(name=name, data_root=data_root or tmp_path, shipped=PROJECT, seed=seed)

    return make
