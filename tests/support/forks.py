"""Python programs that start as forks of a process that has the large libraries loaded already.

Each Snakemake and each of its jobs is a process of its own, as for a user, but spends no second on
importing pandas, Snakemake and the like anew. moot is imported from the copy of the project that a
process belongs to: once for all forks of that copy, and again in each fork after a module of the
copy has changed. A fork joins the process group of its client, so that a signal to the group
reaches it, unless their sessions differ. Starts as they are for a user are in the tests of stops,
kills, the command line and the desk.
"""

import fcntl
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from uuid import uuid4

import fork_server
from fork_server import LOAD, READY

MAX_PROJECTS = 3
ADDRESS = "MOOT_TEST_FORKS"
CLIENT = """#!{link} -IS
import json, os, signal, socket, sys
program, arguments = sys.argv[1:2], sys.argv[1:]
if not program or program[0].startswith("-") and program[0] != "-m":
    os.execv({python!r}, [{python!r}, *arguments])
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the fork gets it, and this program its status
with socket.socket(socket.AF_UNIX) as server:
    server.connect(os.environ[{address!r}])
    text = json.dumps([arguments, os.getcwd(), dict(os.environ), os.getpgrp()]).encode()
    socket.send_fds(server, [len(text).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(text)
    status = server.recv(4)
sys.exit(int.from_bytes(status, "big") if status else 1)
"""
"""A program that starts a module or a file in a fork, and anything else with the real Python."""
NUMBERS = itertools.count()
RUN = os.environ["PYTEST_XDIST_TESTRUNUID"] if "PYTEST_XDIST_WORKER" in os.environ else ""
FOLDER = Path(tempfile.gettempdir(), f"moot-forks-{RUN or uuid4().hex}")
"""The folder of the server that all workers share."""


@cache
def python() -> tuple[str, dict[str, str]]:
    """Return a program that starts Python's modules and files, and the variable that it needs.

    The variable is one of the environment. The workers of pytest-xdist share one server. It ends
    with the process that started them.
    """
    owner = os.getppid() if RUN else os.getpid()
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    folder, program, address = FOLDER, FOLDER / "python", FOLDER / "socket"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not address.exists():
            link = folder / "interpreter"  # a first line names no path with a space
            link.symlink_to(sys.executable)
            client = CLIENT.format(link=link, python=sys.executable, address=ADDRESS)
            program.write_text(client, "utf-8")
            program.chmod(0o700)
            start_server(address, program, owner)
    return str(program), {ADDRESS: str(address)}


def python_of_a_helper() -> tuple[str, dict[str, str]]:
    """Return what `python` does where a server runs already; for a single test none is started."""
    return python() if (FOLDER / "socket").exists() else (sys.executable, {})


def start_server(address: Path, program: Path, owner: int) -> None:
    """Start the server in a process of its own, and wait until it is ready."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        [sys.executable, fork_server.__file__, str(address), str(program), str(owner)],
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
        text = json.dumps(
            [[LOAD, str(project / "scripts"), address], "/", {}, os.getpgrp()]
        ).encode()
        socket.send_fds(connection, [len(text).to_bytes(8, "big")], [0, 1, 2])
        connection.sendall(text)
        assert connection.recv(len(READY)) == READY
        SERVERS[project] = address, connection
    return program, {ADDRESS: SERVERS[project][0]}


def run(
    *arguments: str | Path, cwd: Path, project: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS`, a module or a file, in a fork; all that it prints is `stdout`.

    With `project`, the fork has imported the moot of this copy already.
    """
    program, forking = python_of(project) if project else python()
    return subprocess.run(
        [program, *arguments],
        cwd=cwd,
        # With this variable set, each job would compile all modules anew.
        env={**os.environ, **forking, "PYTHONDONTWRITEBYTECODE": "", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
