"""The jobs that the rules declare for a plan, without a run of Snakemake."""

import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, ClassVar, TextIO

from snakemake.io import directory, expand, local, report
from snakemake.parser import parse

from moot.core.experiment_config import COMPARISON, RECORDED
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.report.exports import EXPORTERS
from moot.report.outcome import read_outcome
from moot.workflow import dependencies, targets
from moot.workflow.job_digests import JobDigests
from moot.workflow.provenance import DIGESTS
from moot.workflow.resumed_debates import SHARDS, times_resumed

PROJECT = Path(__file__).resolve().parents[2]
FIRST = ("declarations", "inputs", "models", "shown")
"""Files of rules that define what the others call."""
EXCLUDED = ("common", "hooks", "targets", "commands")
"""Files of rules that set up a run, or that declare no artifact."""
NAMES = {
    "COMPARISON": COMPARISON,
    "DIGESTS": DIGESTS,
    "EXPORTERS": EXPORTERS,
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
    "read_outcome": read_outcome,
    "report": report,
    "resumed": times_resumed,
    "targets": targets,
    "update": str,
}
"""What `rules/common.smk` and Snakemake give to the rules."""


class _Workflow:
    """Evaluates what rules state, and keeps none of it."""

    cores = 1
    global_resources: ClassVar[dict[str, Any]] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_, **__: lambda function: function

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


def declared_jobs(plan: Plan, **names: Any) -> JobDigests:
    """Return the jobs of a plan, as the rules declare their inputs and dependencies.

    Args:
        plan: the checked configuration.
        names: names that replace those that the rules see.
    """
    namespace = {**NAMES, "plan": plan, "workflow": _Workflow()}
    for code in _compiled_rules():
        exec(code, namespace)
        namespace |= names
    jobs: JobDigests = namespace["jobs"]
    return jobs
