"""Python programs that start as forks of a process that has the large libraries loaded already.

Each Snakemake and each of its jobs is a process of its own, as for a user, but spends no second on
importing pandas, Snakemake and the like anew. moot itself is imported by each from the copy of the
project that it belongs to. Starts as they are for a user are in the tests of stops, kills, the
command line and the desk.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NoReturn

LOADED = (
    "snakemake.cli",
    "snakemake.script",
    "snakemake.executors.local",
    "snakemake.report.html_reporter",
    "snakemake.profiles",
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
    "yaml",
    "json_repair",
    "jinja2.sandbox",
    "scipy.stats",
    "scipy.optimize",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
)
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


@cache
def python() -> tuple[str, dict[str, str]]:
    """A program that starts Python's modules and files, and the variable of the environment that it
    needs.
    """
    folder = tempfile.TemporaryDirectory(prefix="forks")
    program, address = Path(folder.name, "python"), str(Path(folder.name, "socket"))
    program.write_text(CLIENT.format(python=sys.executable, address=ADDRESS), encoding="utf-8")
    program.chmod(0o700)
    command = [sys.executable, __file__, address, str(program)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    )
    assert server.stdout and server.stdin
    assert server.stdout.readline() == "ready\n"

    def end() -> None:
        server.communicate()  # it ends where its input does
        folder.cleanup()

    atexit.register(end)
    return str(program), {ADDRESS: address}


def run(*arguments: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `python ARGUMENTS` gives in a folder: a module or a file that starts in a fork; all that
    it prints is `stdout`.
    """
    program, forking = python()
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


def serve(address: str, program: str) -> tuple[list[str], str, dict[str, str], list[int], str]:
    """Fork for each request; returns in the fork, with what `become` takes."""
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # what is never freed is never written to, and so never copied
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            ready = select.select([listener, 0], [], [])[0]
            if listener not in ready:
                sys.exit()
            client = listener.accept()[0]
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not os.fork():
                break
            client.close()
    head, files, *_ = socket.recv_fds(client, 8, 3)
    text, size = b"", int.from_bytes(head, "big")
    while len(text) < size:
        text += client.recv(size - len(text))
    if child := os.fork():
        answer(client, child)
    client.close()
    return (*json.loads(text), files, program)


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
        if module:
            sys.executable = program  # so that Snakemake's jobs are forks too
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
