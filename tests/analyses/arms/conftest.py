"""One folder of results and one server for all tests of a module."""

from collections.abc import Iterator

import pytest
from arm_runs import Runs

from fault_server import FaultServer


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with FaultServer() as server:
        yield Runs(tmp_path_factory.mktemp("arms"), server)
