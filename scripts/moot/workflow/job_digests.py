"""Digests of everything that a job depends on.

Each rule states its inputs and declares what else its jobs depend on: options (configuration, seed,
the user's own files), prompts and code. The digests of a job cover its own declarations and those
of the jobs that make its inputs, down to the configuration. Therefore an upstream change alters the
parameters of every job downstream, and Snakemake replaces all files that a failed, stopped or
killed run left.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from moot.workflow.artifact_rules import Job, rule_of

Wildcards = Any
"""An object with one attribute for each wildcard, as Snakemake passes it to functions of rules."""
Paths = str | list[str]
Input = Paths | Callable[[Wildcards], Paths]
"""A path with wildcards, a list of such paths, or a function of the wildcards that returns
paths.
"""
Declaration = Callable[[Wildcards], object]


@dataclass(frozen=True)
class Digests:
    """The dependencies of a job, including the jobs before it.

    Attributes:
        options: the configuration, the seed and the user's own files.
        prompts: the prompt templates.
        code: the source files.
    """

    options: str
    prompts: str
    code: str


@dataclass(frozen=True)
class Rule:
    """A rule's statements about its jobs; all functions take the wildcards of a job.

    Attributes:
        inputs: the input files, by name.
        options: the configuration and the user's files that the job depends on, as JSON.
        prompts: a digest of the prompts that the job renders.
        code: a digest of the code that the job runs.
    """

    inputs: Mapping[str, Input]
    options: Declaration
    prompts: Declaration
    code: Declaration


class JobDigests:
    """The digests of all jobs, computed from what the rules state."""

    def __init__(self) -> None:
        self.rules: dict[str, Rule] = {}
        self._inputs: dict[str, Mapping[str, Input]] = {}
        self._rules_of_files: dict[str, str] = {}
        self._digests: dict[Job, Digests] = {}

    def add_inputs(self, rule: str, inputs: Mapping[str, Input]) -> None:
        """Record the inputs of a rule."""
        self._inputs[rule] = inputs

    def add_rule(
        self,
        rule: str,
        options: Declaration,
        prompts: Declaration,
        code: Declaration,
        outputs: Iterable[str] = (),
    ) -> None:
        """Record the dependencies of a rule besides its inputs, and its outputs without
        wildcards.
        """
        self._rules_of_files.update(dict.fromkeys(map(str, outputs), rule))
        self.rules[rule] = Rule(self._inputs.get(rule, {}), options, prompts, code)

    def inputs(self, rule: str, **wildcards: str) -> dict[str, Paths]:
        """Return the files that a job of a rule reads, by name."""
        values = SimpleNamespace(**wildcards)
        return {
            name: paths(values) if callable(paths) else _fill_wildcards(paths, wildcards)
            for name, paths in self.rules[rule].inputs.items()
        }

    def of(self, rule: str, **wildcards: str) -> Digests:
        """Return the digests of a job of a rule.

        Raises:
            KeyError: no such rule, or the plan names no such experiment, model or data set.
            UserError: a data set is made by a model that is not part of this run.
        """
        key = rule, tuple(sorted(wildcards.items()))
        if key not in self._digests:
            self._digests[key] = self._compute(rule, wildcards)
        return self._digests[key]

    def of_files(self, paths: Iterable[str]) -> dict[str, Digests]:
        """Return the digests of the jobs that make some files, and of all their inputs."""
        digests: dict[str, Digests] = {}
        remaining = list(paths)
        while remaining:
            path = remaining.pop()
            job = self._job_of(path)
            if job and path not in digests:
                rule, wildcards = job
                digests[path] = self.of(rule, **dict(wildcards))
                remaining += flatten(self.inputs(rule, **dict(wildcards)).values())
        return digests

    def _job_of(self, path: str) -> Job | None:
        if path in self._rules_of_files:
            return self._rules_of_files[path], ()
        return rule_of(path)

    def _compute(self, name: str, wildcards: dict[str, str]) -> Digests:
        rule, values = self.rules[name], SimpleNamespace(**wildcards)
        files = flatten(self.inputs(name, **wildcards).values())
        jobs = {job for path in files if (job := self._job_of(path))}
        upstream = [self.of(job, **dict(values)) for job, values in jobs]
        return Digests(
            options=digest([rule.options(values), sorted({job.options for job in upstream})]),
            prompts=digest([rule.prompts(values), sorted({job.prompts for job in upstream})]),
            code=digest([rule.code(values), sorted({job.code for job in upstream})]),
        )


def digest(content: object) -> str:
    """Return a digest of a JSON value."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def flatten(values: Iterable[Paths]) -> list[str]:
    """Return all paths of some inputs."""
    paths: list[str] = []
    for value in values:
        paths += [value] if isinstance(value, str) else value
    return paths


def _fill_wildcards(paths: Paths, wildcards: Mapping[str, str]) -> Paths:
    if isinstance(paths, str):
        return paths.format(**wildcards)
    return [path.format(**wildcards) for path in paths]
