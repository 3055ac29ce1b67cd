"""The digests that the rules declare for the jobs of a plan, without a run of Snakemake."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import CodeType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple, TextIO

from snakemake.io import directory, expand, local, report
from snakemake.parser import parse

from moot.core.experiment_config import COMPARISON, RECORDED
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.workflow import dependencies, targets
from moot.workflow.provenance import DIGESTS
from moot.workflow.resumed_debates import SHARDS, times_resumed

PROJECT = Path(__file__).resolve().parents[2]
FIRST = ("declarations", "inputs", "models", "shown")
"""Files of rules that define what the others call."""
EXCLUDED = ("common", "hooks", "targets", "commands")
"""Files of rules that set up a run, or that declare no artifact."""
NAMES = {
    "COMPARISON": COMPARISON,
    "CORES": 1,
    "FIGURES": FIGURES,
    "INDEX": targets.INDEX,
    "IS_MAIN": False,
    "Path": Path,
    "RECORDED": RECORDED,
    "SHARDS": SHARDS,
    "STORE": "",
    "TABLES": TABLES,
    "as_workflow_error": nullcontext,
    "config": {},
    "dependencies": dependencies,
    "directory": directory,
    "expand": expand,
    "local": local,
    "os": os,
    "re": re,
    "report": report,
    "resumed": times_resumed,
    "targets": targets,
    "update": str,
}
"""What `rules/common.smk` and Snakemake give to the rules."""


class Digests(NamedTuple):
    """The digests of a job's options, prompts and code."""

    options: Any
    prompts: Any
    code: Any


class DeclaredJobs:
    """The inputs and digests that rules state, by the rule's name.

    A digest is a function of the wildcards.
    """

    def __init__(self) -> None:
        self.inputs: dict[str, Mapping[str, Any]] = {}
        self.rules: dict[str, Mapping[str, Any]] = {}

    def of(self, rule: str, **wildcards: str) -> Digests:
        """Return the digests of a job of a rule."""
        values = SimpleNamespace(**wildcards)
        return Digests(*(self.rules[rule][name](values) for name in DIGESTS))


class _Workflow:
    """Evaluates what rules state, and keeps their digests."""

    global_resources: ClassVar[dict[str, Any]] = {}

    def __init__(self) -> None:
        self.jobs = DeclaredJobs()
        self._rule = ""

    def __getattr__(self, directive: str) -> Callable[..., Any]:
        return lambda *_, **__: lambda function: function

    def rule(self, name: str | None = None, **_: Any) -> Callable[..., Any]:
        return self.name(name or "")

    def name(self, name: str) -> Callable[..., Any]:
        self._rule = name
        return lambda function: function

    def input(self, *_: Any, **files: Any) -> Callable[..., Any]:
        self.jobs.inputs[self._rule] = files
        return lambda function: function

    def params(self, *_: Any, **parameters: Any) -> Callable[..., Any]:
        if set(DIGESTS) <= set(parameters):
            self.jobs.rules[self._rule] = parameters
        return lambda function: function

    @property
    def sourcecache(self) -> "_Workflow":
        return self

    def open(self, source: "_Source") -> TextIO:
        return source.path.open(encoding="utf-8")


class _Source:
    def __init__(self, path: Path) -> None:
        self.path = path

    def get_path_or_uri(self, **_: Any) -> str:
        return str(self.path)


@cache
def _compiled_rules() -> tuple[CodeType, ...]:
    folder = PROJECT / "rules"
    remaining = sorted({path.stem for path in folder.glob("*.smk")} - {*FIRST, *EXCLUDED})
    codes = []
    for name in (*FIRST, *remaining):
        path = folder / f"{name}.smk"
        code, _ = parse(_Source(path), _Workflow(), {})
        codes.append(compile(code, path, "exec"))
    return tuple(codes)


def declared_jobs(plan: Plan, **names: Any) -> DeclaredJobs:
    """Return the jobs of a plan, as the rules declare what they depend on.

    Args:
        plan: the checked configuration.
        names: names that replace those that the rules see.
    """
    workflow = _Workflow()
    namespace = {**NAMES, "plan": plan, "workflow": workflow}
    for code in _compiled_rules():
        exec(code, namespace)
        namespace |= names
    return workflow.jobs
