"""The server of `forks`: a process that loads the large libraries once and forks for each client.

`python fork_server.py ADDRESS PROGRAM OWNER` listens at a socket until the process OWNER ends.
PROGRAM starts further forks. A client may ask for a server of its own for a copy of the project,
which has imported moot too.
"""

import atexit
import gc
import json
import os
import re
import runpy
import select
import shutil
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

LIBRARIES = (
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
    "pandas.core.methods.to_dict",
    "pandas.io.formats.style",
    "pandas.io.formats.csvs",
    "pandas.io.formats.excel",
    "openpyxl",
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
MODULES = (
    "moot.jobs.standins",
    "moot.core.command_line",
    "moot.plan.plan_cache",
    "moot.papers.selection",
    "moot.report.outcome",
    "moot.report.exports",
    "moot.workflow.console",
    "moot.workflow.dependencies",
    "moot.workflow.failed_jobs",
    "moot.workflow.folder",
    "moot.workflow.job",
    "moot.workflow.run_page",
    "moot.workflow.targets",
    "moot.jobs.debates",
    "moot.jobs.job_results",
    "moot.jobs.papers",
    "moot.jobs.predictions",
)
"""Modules of moot that most processes import, besides those that registries find."""
STARTING_SNAKEMAKE = (".rehearse.py", ".replay.py")
"""The ends of the names of jobs' scripts that start Snakemake."""
LOAD = "load moot"
"""The first argument of a request for the server of a copy of the project."""
READY = b"done"


class Request(NamedTuple):
    """A program that a client starts.

    It has the arguments of Python, its folder, environment, group of processes and open files.
    """

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    group: int
    files: list[int]


def serve(address: str, owner_id: int) -> Request:
    """Fork for each request; returns in the fork, with its request.

    Args:
        address: the socket of this server.
        owner_id: the process with which the server ends.
    """
    gc.set_threshold(20_000)  # as in conftest.py, also in all forks
    for name in LIBRARIES:
        import_module(name)
    import_module("snakemake.cli").get_argument_parser()  # finds all plugins of Snakemake
    owner_exit = os.pidfd_open(owner_id)
    client = accept_in_fork(
        address,
        owner_exit,
        announce=lambda: os.write(1, b"ready\n"),
        end=lambda: shutil.rmtree(Path(address).parent, ignore_errors=True),
    )
    os.close(owner_exit)
    request = receive(client)
    if request.arguments[0] == LOAD:
        client = serve_project(client, request)
        request = receive(client)
    if child := os.fork():
        answer(client, child)
    client.close()
    return request


def serve_project(owner: socket.socket, request: Request) -> socket.socket:
    """Import the moot of a copy and fork for each client; returns in the fork, with the client.

    The server of the copy ends when its owner closes the connection.
    """
    _, scripts, address = request.arguments
    for file in request.files:
        os.close(file)
    states = import_moot(scripts)
    settings = Path(scripts).parent / "config"
    read_states = states_below(settings)
    client = accept_in_fork(
        address,
        owner.fileno(),
        announce=lambda: owner.sendall(READY),
        end=lambda: Path(address).unlink(missing_ok=True),
    )
    owner.close()
    if states != {path: state_of(path) for path in states}:
        forget_moot()
    elif read_states != states_below(settings):
        forget_what_was_read()
    return client


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


def receive(client: socket.socket) -> Request:
    """Return the request that a client sends."""
    head, files, *_ = socket.recv_fds(client, 8, 3)
    text, size = b"", int.from_bytes(head, "big")
    while len(text) < size:
        text += client.recv(size - len(text))
    return Request(*json.loads(text), files)


def import_moot(scripts: str) -> dict[str, tuple[int, int] | None]:
    """Import the moot of a folder of scripts, and read the papers' designs, as each start does.

    Returns the state of each file of moot. The registries stay undiscovered, so that each process
    finds the modules that are there then.
    """
    sys.path.insert(0, scripts)
    sys.dont_write_bytecode = False
    for name in MODULES:
        import_module(name)
    registry = import_module("moot.core.registry")
    for entries in registry.REGISTRIES:
        for name in entries.modules():
            import_module(name)
    undiscovered = [(entries, vars(entries).copy()) for entries in registry.REGISTRIES]
    designs = import_module("moot.plan.papers_of_run")
    designs.read_designs(import_module("moot.core.shipped_files").SHIPPED)
    for entries, state in undiscovered:
        vars(entries).update(state)
    registry._modules_in.cache_clear()
    sys.path.remove(scripts)
    keep_parsed_rules(Path(scripts).parent)
    paths = [module.__file__ for name, module in sys.modules.items() if is_moot(name)]
    return {path: state_of(path) for path in paths if path}


def keep_parsed_rules(project: Path) -> None:
    """Parse the rules of a copy as each start does, and give every start the result.

    A third of a start is Snakemake's parser. A file that has changed is parsed anew.
    """
    workflow = import_module("snakemake.workflow")
    parse, sources = workflow.parse, import_module("snakemake.sourcecache")
    sources_opened = SimpleNamespace(open=lambda file: StringIO(Path(file.path).read_text("utf-8")))
    opener = SimpleNamespace(sourcecache=sources_opened)
    parsed: dict[tuple[str, int], tuple[Any, str, int, dict[int, int]]] = {}

    def parse_once(
        source: Any, of: Any, linemap: dict[int, int], overwrite: Any = None, rulecount: int = 0
    ) -> tuple[str, int]:
        path = source.get_path_or_uri(secret_free=True)
        state, code, count, lines = parsed.get((path, rulecount), (None, "", 0, {}))
        if state is None or state != state_of(path):
            return parse(source, of, linemap, overwrite, rulecount)
        linemap |= lines
        return code, count

    count = 0
    snakefile = project / "Snakefile"
    includes = re.findall(r'^include: "(.*)"', snakefile.read_text("utf-8"), re.MULTILINE)
    for name in ("Snakefile", *includes):
        path, linemap = str(project / name), dict[int, int]()
        source = sources.LocalSourceFile(path)
        code, next_count = parse(source, opener, linemap, None, count)
        parsed[path, count] = state_of(path), code, next_count, linemap
        count = next_count
    workflow.parse = parse_once


def is_moot(module: str) -> bool:
    return module.partition(".")[0] == "moot"


def state_of(path: str) -> tuple[int, int] | None:
    """Return the time and size of a file, or None if there is none."""
    with suppress(FileNotFoundError):
        state = Path(path).stat()
        return state.st_mtime_ns, state.st_size
    return None


def states_below(folder: Path) -> dict[str, tuple[int, int] | None]:
    """Return the state of each file in a folder."""
    return {str(path): state_of(str(path)) for path in folder.rglob("*")}


def forget_moot() -> None:
    """Let this process import moot anew."""
    for name in filter(is_moot, list(sys.modules)):
        del sys.modules[name]


def forget_what_was_read() -> None:
    """Let this process read anew what moot keeps of the files of a copy."""
    for name in filter(is_moot, list(sys.modules)):
        for function in list(vars(sys.modules[name]).values()):
            getattr(function, "cache_clear", int)()


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


def become(request: Request, program: str) -> NoReturn:
    """Do in this process what a new Python with the arguments of a request would.

    Args:
        request: of a client.
        program: the program that starts further forks.
    """
    arguments, folder, environment, group, files = request
    with suppress(PermissionError):  # a client of another session
        os.setpgid(0, group)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    if Path("config").exists():  # its prompts replace those of the copy
        forget_what_was_read()
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
    gc.collect()  # asyncio prints the errors of tasks that nothing has read
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
    ADDRESS, PROGRAM, OWNER = sys.argv[1:]
    become(serve(ADDRESS, int(OWNER)), PROGRAM)
