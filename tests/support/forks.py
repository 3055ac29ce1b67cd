"""Python programs that start as forks of a process that has the large libraries loaded already.

Each Snakemake and each of its jobs is a process of its own, as for a user, but spends no second on
importing pandas, Snakemake and the like anew. moot is imported from the copy of the project that a
process belongs to: once for all forks of that copy, and again in each fork after a module of the
copy has changed. Starts as they are for a user are in the tests of stops, kills, the command line
and the desk.
"""

import atexit
import fcntl
import gc
import itertools
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn
from uuid import uuid4

LOADED = (
    "snakemake.cli",
    "snakemake.script",
    "snakemake.executors.local",
    "snakemake.report.html_reporter",
    "snakemake.profiles",
    "snakemake.storage",
    "requests",
    "smart_open",
    "nbformat",
    "docutils",
    "yte",
    "pandas",
    "pandas.io.formats.style",
    "pandas.io.formats.csvs",
    "pandas.io.formats.excel",
    "openpyxl",
    "lxml.etree",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "pyarrow.pandas_compat",
    "sqlalchemy.dialects.sqlite",
    "pydantic",
    "openai",
    "aiohttp",
    "httpcore2",
    "truststore",
    "anyio.streams.tls",
    "yaml",
    "json_repair",
    "jinja2.sandbox",
    "scipy.stats",
    "scipy.optimize",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "matplotlib.figure",
    "matplotlib.style",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
)
OF_EVERY_PROCESS = (
    "moot.plan.plan_cache",
    "moot.papers.selection",
    "moot.report.outcome",
    "moot.report.exports",
    "moot.workflow.console",
    "moot.workflow.dependencies",
    "moot.workflow.folder",
    "moot.workflow.job",
    "moot.workflow.targets",
    "moot.jobs.debates",
    "moot.jobs.job_results",
    "moot.jobs.predictions",
)
"""What each start of Snakemake or many of its jobs import of moot, besides what registries find."""
STARTING_SNAKEMAKE = (".rehearse.py", ".replay.py")
"""How the scripts of jobs end that start Snakemake."""
LOAD, READY, MAX_PROJECTS = "load moot", b"done", 3
ADDRESS = "MOOT_TEST_FORKS"
CLIENT = """#!{python} -IS
import json, os, socket, sys
program, arguments = sys.argv[1:2], sys.argv[1:]
if not program or program[0].startswith("-") and program[0] != "-m":
    os.execv({python!r}, [{python!r}, *arguments])
with socket.socket(socket.AF_UNIX) as server:
    server.connect(os.environ[{address!r}])
    text = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(text).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(text)
    status = server.recv(4)
sys.exit(int.from_bytes(status, "big") if status else 1)
"""
"""A Python to start a module or a file with; all else is for the real one."""
NUMBERS = itertools.count()


@cache
def python() -> tuple[str, dict[str, str]]:
    """Return a program that starts Python's modules and files, and the environment variable that it
    needs.

    The workers of pytest-xdist share one server. It ends with the process that started them.
    """
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    owner = os.getppid() if is_worker else os.getpid()
    run_id = os.environ["PYTEST_XDIST_TESTRUNUID"] if is_worker else uuid4().hex
    folder = Path(tempfile.gettempdir(), f"moot-forks-{run_id}")
    folder.mkdir(mode=0o700, exist_ok=True)
    program, address = folder / "python", folder / "socket"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            program.write_text(CLIENT.format(python=sys.executable, address=ADDRESS), "utf-8")
            program.chmod(0o700)
            start_server(address, program, owner)
    return str(program), {ADDRESS: str(address)}


def start_server(address: Path, program: Path, owner: int) -> None:
    """Start the server in a process of its own, and wait until it is ready."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        [sys.executable, __file__, str(address), str(program), str(owner)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=environment,
    )
    assert server.stdout
    assert server.stdout.readline() == b"ready\n"
    STARTED.append(server)


STARTED: list[subprocess.Popen[bytes]] = []
SERVERS: dict[Path, tuple[str, socket.socket]] = {}
"""The address of each copy's server, and the connection with which it ends."""


def python_of(project: Path) -> tuple[str, dict[str, str]]:
    """Return what `python` does, for forks of a process that has imported the project's moot."""
    program, variables = python()
    if project not in SERVERS:
        while len(SERVERS) >= MAX_PROJECTS:
            SERVERS.pop(next(iter(SERVERS)))[1].close()
        address = f"{variables[ADDRESS]}-{os.getpid()}-{next(NUMBERS)}"
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(variables[ADDRESS])
        text = json.dumps([[LOAD, str(project / "scripts"), address], "/", {}]).encode()
        socket.send_fds(connection, [len(text).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(text)
        assert connection.recv(len(READY)) == READY
        SERVERS[project] = address, connection
    return program, {ADDRESS: SERVERS[project][0]}


def run(
    *arguments: str | Path, cwd: Path, project: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS`, a module or a file, as a fork in a folder; all output is `stdout`.

    With `project`, the fork has imported the moot of this copy already.
    """
    program, forking = python_of(project) if project else python()
    return subprocess.run(
        [program, *arguments],
        cwd=cwd,
        env={
            **os.environ,
            **forking,
            "PYTHONDONTWRITEBYTECODE": "",
            **environment,
        },  # else each job compiles all anew
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def serve(
    address: str, program: str, owner_id: str
) -> tuple[list[str], str, dict[str, str], list[int], str]:
    """Fork for each request; returns in the fork, with what `become` takes."""
    for name in LOADED:
        import_module(name)
    owner_exit = os.pidfd_open(int(owner_id))
    client = accept_in_fork(
        address,
        owner_exit,
        announce=lambda: os.write(1, b"ready\n"),
        end=lambda: shutil.rmtree(Path(address).parent, ignore_errors=True),
    )
    os.close(owner_exit)
    arguments, folder, environment, files = receive(client)
    if arguments[0] == LOAD:
        for file in files:
            os.close(file)
        owner, states = client, import_moot(arguments[1])
        client = accept_in_fork(
            arguments[2],
            owner.fileno(),
            announce=lambda: owner.sendall(READY),
            end=lambda: Path(arguments[2]).unlink(missing_ok=True),
        )
        owner.close()
        if states != {path: state_of(path) for path in states}:
            forget_moot()
        arguments, folder, environment, files = receive(client)
    if child := os.fork():
        answer(client, child)
    client.close()
    return arguments, folder, environment, files, program


def accept_in_fork(
    address: str, owner: int, announce: Callable[[], object], end: Callable[[], object]
) -> socket.socket:
    """Fork for each client; returns in the fork, with the client.

    This process ends when the file `owner` does, after `end`.
    """
    gc.collect()
    gc.freeze()  # what is never freed is never written to, and so never copied
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        announce()
        while True:
            ready = select.select([listener, owner], [], [])[0]
            if listener not in ready:
                end()
                os._exit(0)
            client = listener.accept()[0]
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not os.fork():
                return client
            client.close()


def receive(client: socket.socket) -> tuple[list[str], str, dict[str, str], list[int]]:
    """Return the arguments, folder, environment and files that a client sends."""
    head, files, *_ = socket.recv_fds(client, 8, 3)
    text, size = b"", int.from_bytes(head, "big")
    while len(text) < size:
        text += client.recv(size - len(text))
    arguments, folder, environment = json.loads(text)
    return arguments, folder, environment, files


def import_moot(scripts: str) -> dict[str, tuple[int, int] | None]:
    """Import the moot of a folder of scripts; return the state of each file of it.

    The registries stay undiscovered, so that each process finds the modules that are there then.
    """
    sys.path.insert(0, scripts)
    sys.dont_write_bytecode = False
    for name in OF_EVERY_PROCESS:
        import_module(name)
    registry = import_module("moot.core.registry")
    for entries in registry.REGISTRIES:
        for name in entries.modules():
            import_module(name)
    registry._modules_in.cache_clear()
    sys.path.remove(scripts)
    paths = [module.__file__ for name, module in sys.modules.items() if is_moot(name)]
    return {path: state_of(path) for path in paths if path}


def is_moot(module: str) -> bool:
    return module.partition(".")[0] == "moot"


def state_of(path: str) -> tuple[int, int] | None:
    """Return the time and size of a file, or None if there is none."""
    with suppress(FileNotFoundError):
        state = Path(path).stat()
        return state.st_mtime_ns, state.st_size
    return None


def forget_moot() -> None:
    """Let this process import moot anew."""
    for name in filter(is_moot, list(sys.modules)):
        del sys.modules[name]


def answer(client: socket.socket, child: int) -> NoReturn:
    """Tell a client how its program ended, and kill the program of a client that has gone."""
    exit_event = os.pidfd_open(child)
    if exit_event not in select.select([client, exit_event], [], [])[0]:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(OSError):
        client.sendall((code if code >= 0 else 128 - code).to_bytes(4, "big"))
    os._exit(0)


def become(
    arguments: list[str], folder: str, environment: dict[str, str], files: list[int], program: str
) -> NoReturn:
    """Do in this process what a new Python with these arguments would."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    module = arguments[0] == "-m"
    first = folder if module else str(Path(arguments[0]).resolve().parent)
    search_path = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = [first, *search_path, *sys.path[1:]]
    sys.argv[:] = arguments[module:]
    status: object = None
    try:
        if module or arguments[0].endswith(STARTING_SNAKEMAKE):
            sys.executable = program  # so that Snakemake and its jobs are forks too
        if module:
            runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if not isinstance(status, int | None):
        sys.stderr.write(f"{status}\n")
        status = 1
    # as Python ends, except that what was loaded is not taken apart: that takes as long as loading
    # it
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    os._exit(status or 0)


if __name__ == "__main__":
    become(*serve(*sys.argv[1:]))
