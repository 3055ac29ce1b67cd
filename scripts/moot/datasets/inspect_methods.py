"""The methods and repeats of logs of inspect_ai.

A method is a task with the arguments in which its logs differ. Logs with the same method and model
are repeats.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.cell_text import cell_text
from moot.core.types import Json, JsonObject

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

_OPERATIONAL_SETTINGS = {
    "adaptive_connections",
    "attempt_timeout",
    "batch",
    "cache",
    "max_connections",
    "max_retries",
    "seed",
    "timeout",
}
"""Settings of the generation that make no other method: how calls are made, and the seed."""
_MAX_ARGUMENT_CHARS = 40


def list_methods(logs: Mapping[Path, "EvalLog"]) -> Mapping[Path, str]:
    """Return the method of each log: its task, and the arguments in which logs of this task
    differ.
    """
    logs_by_task: dict[str, list[EvalLog]] = {}
    for log in logs.values():
        logs_by_task.setdefault(log.eval.task, []).append(log)
    methods = {}
    for path, log in logs.items():
        task_logs = logs_by_task[log.eval.task]
        has_one_solver = len({_solver(task_log) for task_log in task_logs}) == 1
        list_arguments = _all_arguments if has_one_solver else _arguments
        all_arguments, arguments = list(map(list_arguments, task_logs)), list_arguments(log)
        parts = [log.eval.task]
        for name in sorted(set().union(*all_arguments)):
            values = {json.dumps(mapping.get(name)) for mapping in all_arguments}
            if len(values) > 1:
                parts.append(f"{name}={_argument_text(arguments.get(name))}")
        methods[path] = ", ".join(parts)
    return methods


def _arguments(log: "EvalLog") -> Mapping[str, Json]:
    """Return the arguments of the task, the solver and the generation."""
    arguments: dict[str, Json] = {"solver": _solver(log)} if _solver(log) else {}
    for settings in (log.eval.model_generate_config, log.plan.config):
        values = settings.model_dump(mode="json", exclude_none=True)
        arguments |= {name: values[name] for name in values.keys() - _OPERATIONAL_SETTINGS}
    return {
        **arguments,
        **_plain_arguments(log.eval.solver_args),
        **_plain_arguments(log.eval.task_args),
    }


def _solver(log: "EvalLog") -> str:
    return log.eval.solver or ", ".join(step.solver for step in log.plan.steps)


def _solver_parameters(log: "EvalLog") -> Mapping[str, Json]:
    """Return the parameters of the steps of the solver, by step and name."""
    parameters: dict[str, Json] = {}
    counts = Counter(step.solver for step in log.plan.steps)
    for number, step in enumerate(log.plan.steps, 1):
        is_only_step = counts[step.solver] == 1
        prefix = step.solver if is_only_step else f"step {number} {step.solver}"
        for name, value in _plain_arguments(step.params).items():
            parameters[f"{prefix} {name}"] = value
    return parameters


def _all_arguments(log: "EvalLog") -> Mapping[str, Json]:
    return {**_solver_parameters(log), **_arguments(log)}


def _plain_arguments(arguments: Mapping[str, object] | None) -> JsonObject:
    plain_arguments: JsonObject = json.loads(json.dumps(arguments or {}, default=str))
    return plain_arguments


def _argument_text(value: Json) -> str:
    """Return an argument in the name of a method: a long one in short, with a digest that
    identifies it.
    """
    text = " ".join(cell_text(value).split()) or "default"
    if len(text) <= _MAX_ARGUMENT_CHARS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:_MAX_ARGUMENT_CHARS]}... ({digest[:6]})"


def list_first_repeats(
    logs: Mapping[Path, "EvalLog"], methods: Mapping[Path, str]
) -> Mapping[Path, int]:
    """Return the number of the first repeat of each log.

    It follows the repeats of earlier logs of the same run.
    """
    counts = Counter[tuple[str, str]]()
    first_repeats = {}
    for path, log in logs.items():
        identity = (methods[path], log.eval.model)
        first_repeats[path] = counts[identity]
        counts[identity] += max(sample.epoch for sample in log.samples or ())
    return first_repeats
