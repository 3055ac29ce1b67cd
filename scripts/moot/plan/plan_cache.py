"""The checked plan, stored during a run so that no job checks the configuration again.

Each run writes its own file, which only its jobs read. A job whose configuration, extensions or
code changed since the start of the run checks its configuration itself.
"""

import atexit
import hashlib
import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from tempfile import mkstemp
from types import MappingProxyType
from typing import TypeVar

from moot.core.artifacts import atomic_path
from moot.core.extensions import load_extensions
from moot.core.shipped_files import SHIPPED
from moot.core.types import JsonObject
from moot.plan.plan import Plan

VARIABLE, DESK = "MOOT_PLAN", "MOOT_DESK_PLAN"
"""The environment variables that name the file for jobs, and for a run that a desk continues."""
Value = TypeVar("Value")
NO_DIGESTS: Mapping[str, Mapping[str, str]] = MappingProxyType({})


class LazyValues(Mapping[str, Value]):
    """Pickled values by name, each unpickled on demand, which imports only its own module."""

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._pickled = {name: pickle.dumps(value) for name, value in values.items()}
        self._values: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._values:
            self._values[name] = pickle.loads(self._pickled[name])
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._pickled)

    def __len__(self) -> int:
        return len(self._pickled)


def keep_for_jobs(plan: Plan, raw: JsonObject) -> None:
    """Store a plan for the jobs of this run until this process ends.

    Args:
        plan: the checked configuration.
        raw: the merged configuration before it was checked, as jobs receive it.
    """
    handle, name = mkstemp(prefix="moot-plan-", dir=".snakemake")
    path = Path(name).absolute()
    atexit.register(path.unlink, missing_ok=True)
    os.close(handle)
    write_plan(path, plan, raw)
    os.environ[VARIABLE] = str(path)


def write_plan(
    path: Path,
    plan: Plan,
    raw: JsonObject,
    digests: Mapping[str, Mapping[str, str]] = NO_DIGESTS,
) -> None:
    """Store a plan in a file.

    Args:
        path: the file; it is not removed.
        plan, raw: see `keep_for_jobs`.
        digests: by path, the digests of people's debates and of their cases.
    """
    light = _with_lazy_values(plan)
    with atomic_path(path) as part:
        content = (_config_digest(raw), plan.config.extensions, pickle.dumps(light), dict(digests))
        part.write_bytes(pickle.dumps(content))


def _with_lazy_values(plan: Plan) -> Plan:
    """Return a plan whose experiments, data sets and designs are unpickled on demand."""
    light = copy(plan)
    light.experiments, light.datasets = LazyValues(plan.experiments), LazyValues(plan.datasets)
    if plan.designs:
        light.designs = LazyValues(plan.designs)
    return light


def read_plan(path: Path) -> tuple[str, Callable[[], Plan]]:
    """Return the key of a stored plan, and a function that loads the plan.

    The key changes with everything that the plan depends on.
    """
    key, extensions, pickled, _ = pickle.loads(path.read_bytes())

    def load() -> Plan:
        load_extensions(extensions)
        plan: Plan = pickle.loads(pickled)
        return plan

    return key, load


def read_plan_digests(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the digests that were stored with a plan, by the path of their file."""
    digests: Mapping[str, Mapping[str, str]] = pickle.loads(path.read_bytes())[3]
    return digests


def plan_of(raw: JsonObject) -> Plan:
    """Return the plan of a job.

    It is the stored plan of its run, or a new one if that belongs to another configuration.
    """
    with suppress(KeyError, OSError):
        key, load = read_plan(Path(os.environ[VARIABLE]))
        if key == _config_digest(raw):
            return load()
    return Plan.from_yaml(raw, SHIPPED)


def _config_digest(raw: JsonObject) -> str:
    """Return a digest of a configuration, its folder, its extensions' files and moot's."""
    extensions = raw.get("extensions") or ()
    folders = [
        Path(folder).expanduser()
        for folder in ([extensions] if isinstance(extensions, str) else extensions)
    ]
    content = [
        json.dumps(raw, sort_keys=True, default=str),
        str(Path.cwd()),
        *_file_states((SHIPPED / "scripts", *folders)),
    ]
    return hashlib.sha256("\0".join(content).encode()).hexdigest()


def _file_states(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the path, size and time of each Python file below the folders."""
    paths: list[Path] = []
    for folder in folders:
        paths += folder.rglob("*.py")
    for path in sorted(paths):
        state = path.stat()
        yield f"{path} {state.st_size} {state.st_mtime_ns}"
