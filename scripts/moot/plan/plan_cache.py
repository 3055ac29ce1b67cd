"""The checked plan, kept from a run's start to its end, so that no job checks the configuration
again.

Jobs of this run alone read it: each run writes its own, and a job whose configuration, extensions
or code are others than the run started with checks its configuration itself.
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
"""The environment variables that name the file: to jobs; and to a run that a desk began, which goes
on by it.
"""
Value = TypeVar("Value")
NO_DIGESTS: Mapping[str, Mapping[str, str]] = MappingProxyType({})


class LazyValues(Mapping[str, Value]):
    """Pickled values by name, each unpickled when it is asked for: that imports its module, and no
    other's.
    """

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
    """Keep a plan for the jobs of this run, until this process ends.

    Args:
        plan: the checked configuration.
        raw: the same as jobs have it: merged, not yet checked.
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
    """Keep a plan in a file.

    Args:
        path: the file; it is not removed.
        plan, raw: see `keep`.
        digests: path to the digests of what people's debates rest on, and of these debates.
    """
    light = copy(plan)
    light.experiments, light.datasets = LazyValues(plan.experiments), LazyValues(plan.datasets)
    with atomic_path(path) as part:
        content = (_config_digest(raw), plan.config.extensions, pickle.dumps(light), dict(digests))
        part.write_bytes(pickle.dumps(content))


def read_plan(path: Path) -> tuple[str, Callable[[], Plan]]:
    """Return the key of a kept plan, which changes with all that it was checked from, and what
    loads it.
    """
    key, extensions, pickled, _ = pickle.loads(path.read_bytes())

    def load() -> Plan:
        load_extensions(extensions)
        plan: Plan = pickle.loads(pickled)
        return plan

    return key, load


def read_plan_digests(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Return the digests that were kept with a plan, by the path of the file that they belong
    to.
    """
    digests: Mapping[str, Mapping[str, str]] = pickle.loads(path.read_bytes())[3]
    return digests


def plan_of(raw: JsonObject) -> Plan:
    """Return the plan of a job: the one that its run kept, or where that is none of its
    configuration, one checked anew.
    """
    with suppress(KeyError, OSError):
        key, load = read_plan(Path(os.environ[VARIABLE]))
        if key == _config_digest(raw):
            return load()
    return Plan.from_yaml(raw, SHIPPED)


def _config_digest(raw: JsonObject) -> str:
    """Return a digest of a configuration, of the folder that it is read in, and of the files of its
    extensions and of moot.
    """
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
