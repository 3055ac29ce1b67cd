"""Fixtures of many tests: real data, if a machine has them, a model server, loaders' contexts."""

import gc
import itertools
import logging
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from messages import MESSAGES, RUNNING, RunningTest
from moot.core.command_line import use_writable_cache

if TYPE_CHECKING:
    from fault_server import FaultServer
    from moot.datasets import LoadContext

# Read when numpy is loaded: threads of several workers that wait for one another made some fits
# take a hundred times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# By default, garbage is searched for after each 700 new objects: a fifth of the time of collecting.
gc.set_threshold(20_000)
# Started by nohup or in the background of a script, the jobs of tests would ignore these signals.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
# Examples are counted, never timed: a busy machine is no fault of the code.
hypothesis.settings.register_profile("moot", deadline=None, max_examples=50)
hypothesis.settings.load_profile("moot")
PROJECT = Path(__file__).resolve().parents[1]
MODULES = itertools.count(1)
ALLOWED_SKIPS = Path(__file__).with_name("allowed_skips.txt")
SKIP_REASONS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--check-skips",
        action="store_true",
        help=f"fail if a test is skipped for a reason that {ALLOWED_SKIPS.name} does not list",
    )
    parser.addoption(
        "--write-messages", action="store_true", help="record the messages of faults anew"
    )


def pytest_configure(config: pytest.Config) -> None:
    use_writable_cache()  # runs of the tests start without the profile that does so for users
    config.stash[SKIP_REASONS] = []
    worker: dict[str, Any] | None = getattr(config, "workerinput", None)
    if worker and config.args == config.getini("testpaths"):
        config.args = rotated_rooms(int(worker["workerid"].lstrip("gw")), worker["workercount"])


def rotated_rooms(worker: int, workers: int) -> list[str]:
    """Return the parts of tests/, in an order that begins elsewhere for each worker.

    Each then rewrites the assertions of other modules in a fresh checkout; in the same order, all
    would rewrite the same module at the same time. The rest is read from the files of bytecode.
    """
    rooms = [
        str(path)
        for path in sorted(Path(__file__).parent.iterdir())
        if path.match("test_*.py") or (path.is_dir() and path.name != "__pycache__")
    ]
    start = len(rooms) * worker // workers
    return rooms[start:] + rooms[:start]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run modules with slow tests first, in the same order in each worker.

    One that starts last would keep one worker busy while the others have nothing left to do.
    """
    slow_modules = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow_modules, item.path))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the skips that are not allowed."""
    for line in config.stash[SKIP_REASONS]:
        terminalreporter.write_line(f"SKIP NOT ALLOWED: {line}", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run with `--check-skips` if a test was skipped for a reason that is not listed.

    With `--write-messages`, record the messages of faults.
    """
    if session.config.getoption("write_messages"):
        MESSAGES.write()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or not session.config.getoption("check_skips"):
        return
    lines = [line.partition("#")[0].strip() for line in ALLOWED_SKIPS.read_text().splitlines()]
    allowed_reasons = [line for line in lines if line]
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not any(reason.startswith(beginning) for beginning in allowed_reasons):
            session.config.stash[SKIP_REASONS].append(f"{report.nodeid}: {reason}")
    if session.config.stash[SKIP_REASONS]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data; a test skips where there is none.

    It is MOOT_SHARED_DATA, or ../shared/data beside the checkout.
    """
    location = os.environ.get("MOOT_SHARED_DATA")
    folder = Path(location) if location else PROJECT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(
            f"no real data at {folder} (set MOOT_SHARED_DATA to a folder laid out as"
            " data/raw/README.md says)"
        )
    return folder


@pytest.fixture(scope="session")
def papers(shared_data: Path) -> Path:
    """The folder with the extracts of the papers' texts; skips where there is none."""
    folder = shared_data.parent / "papers"
    if not folder.is_dir():
        pytest.skip(f"no extracts of the papers at {folder}")
    return folder


class Unread(logging.Handler):
    """What asyncio says of errors that nothing read, of dropped tasks, and the like."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(self.format(record))


@pytest.fixture(scope="session")
def unread() -> "Iterator[Unread]":
    """Listens to asyncio as long as tests run."""
    listener = Unread()
    logging.getLogger("asyncio").addHandler(listener)
    yield listener
    logging.getLogger("asyncio").removeHandler(listener)


@pytest.fixture(scope="module", autouse=True)
def kept_no_longer_than_twenty_modules() -> Iterator[None]:
    """Free what the tests of the last twenty modules froze.

    After each module it would take 80 s of the whole suite.
    """
    yield
    if next(MODULES) % 20 == 0:
        gc.unfreeze()
        gc.collect()


@pytest.fixture(autouse=True)
def every_error_is_read(unread: Unread, request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves "Task exception was never retrieved" or the like.

    What its jobs printed counts, too. Asyncio says so when it frees the task, so what the test made
    is looked through, and nothing older: that took half of the processor time of the quick tests.
    """
    gc.freeze()
    unread.messages.clear()
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    gc.collect()
    printed = folder.glob("*.err") if folder else ()
    unread_texts = [
        text for file in printed if "never retrieved" in (text := file.read_text(errors="replace"))
    ]
    assert not unread.messages + unread_texts, "\n".join(unread.messages + unread_texts)


@pytest.fixture(scope="session")
def running_server() -> "Iterator[FaultServer]":
    """The model server of all modules of a process; each start takes half a second."""
    from fault_server import FaultServer

    with FaultServer() as running:
        yield running


@pytest.fixture(scope="module")
def server(running_server: "FaultServer") -> "FaultServer":
    """A model server that fails when a test tells it to, and first has the settings of a start."""
    running_server.reset(anew=True)
    return running_server


@pytest.fixture(autouse=True)
def running_test(request: pytest.FixtureRequest) -> None:
    """Let `refusal` know the test whose message it compares."""
    RUNNING[:] = [RunningTest(request)]


@pytest.fixture
def load_context(tmp_path: Path) -> "Callable[..., LoadContext]":
    """Make a loader's context: `load_context("nlsy97", data_root=...)`.

    The data root is an empty folder by default.
    """

    from moot.datasets import LoadContext

    def make(name: str = "data", *, data_root: Path | None = None, seed: int = 42) -> LoadContext:
        return LoadContext(name=name, data_root=data_root or tmp_path, shipped=PROJECT, seed=seed)

    return make
