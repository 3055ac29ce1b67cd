"""`snakemake doctor`: what a run of this configuration needs, and whether it is there.

By default a server is only asked for its list of models, which costs nothing. With `doctor:
{make_calls: true}` each model answers three short calls. They show its speed, whether it keeps to a
JSON schema, and whether it gives log-probabilities.
"""

import asyncio
import json
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moot import __version__
from moot.commands.doctor_table import describe_table
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import CallError, MootError, UserError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, JsonObject
from moot.llm.endpoints import ENDPOINTS, ModelLister
from moot.llm.endpoints.embedded import model_path
from moot.llm.identity import server_address
from moot.llm.redaction import read_key, redacted
from moot.llm.request import Message, Reply, Request, request_to
from moot.plan.plan import Plan

STATE_OK, STATE_MISSING, STATE_UNKNOWN = "ok", "missing", "?"
_TIMEOUT_SECONDS = 10.0
_MIN_GIGABYTES = 2.0
_CALLS, _PROMPT_TOKENS, _REPLY_TOKENS = 3, 40, 64
_WORDS = ("yes", "no")
_SCHEMA: Fields = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": list(_WORDS)}},
    "required": ["answer"],
    "additionalProperties": False,
}
_WINDOW_FIELDS = ("max_model_len", "context_length", "context_window")
"""Names of the context window in servers' lists of models."""


@dataclass(frozen=True)
class Finding:
    """One thing that a run needs.

    Attributes:
        subject: what was checked.
        state: ok, missing, or unknown.
        details: the result, and what to do.
    """

    subject: str
    state: str
    details: str

    def __str__(self) -> str:
        return f"{self.state:<8} {self.subject}: {self.details}\n"


async def check_all(plan: Plan) -> list[Finding]:
    """Check everything that a run needs; with `doctor: {make_calls: true}`, models answer three
    calls.
    """
    findings = [*_check_machine(), *_check_data(plan)]
    for name in sorted(plan.models_used):
        model = plan.config.models[name]
        traits = endpoint_traits(model.endpoint)
        if traits.is_recorded or traits.is_simulated:
            continue
        if traits.in_process:
            access = _check_file(name, model)
        else:
            access = await _check_server(name, model)
        findings += [*_check_key(name, model), access]
        if access.state == STATE_OK and plan.config.doctor.make_calls:
            findings += await _check_replies(name, model, plan.config.seed)
        elif access.state == STATE_OK:
            dollars = _CALLS * model.cost(_PROMPT_TOKENS, _REPLY_TOKENS)
            details = (
                f"not asked; --config 'doctor={{make_calls: true}}' asks {_CALLS} calls, at most"
                f" {dollars:.4f} US dollars"
            )
            findings.append(Finding(name, STATE_UNKNOWN, details))
    return findings


def _check_machine() -> Iterator[Finding]:
    yield Finding(
        "moot",
        STATE_OK,
        f"{__version__}, Python {platform.python_version()}, {os.cpu_count()} cores",
    )
    gigabytes = shutil.disk_usage(Path.cwd()).free / 1e9
    has_space = gigabytes >= _MIN_GIGABYTES
    yield Finding(
        "disk",
        STATE_OK if has_space else STATE_MISSING,
        f"{gigabytes:.0f} GB free; expected {_MIN_GIGABYTES:.0f} or more",
    )


def _check_data(plan: Plan) -> Iterator[Finding]:
    for dataset in plan.datasets_used:
        options = plan.datasets[dataset]
        if options.source == "download":
            yield Finding(
                f"data {dataset}", STATE_OK, "fetched when first needed, unless it is there"
            )
        elif options.source != "local":
            yield Finding(f"data {dataset}", STATE_OK, f"{options.source}: comes with moot")
        elif files := plan.local_files(dataset):
            size = sum(file.stat().st_size for file in files) / 1e6
            further_files = f" and {len(files) - 1} more" if len(files) > 1 else ""
            yield Finding(f"data {dataset}", STATE_OK, f"{files[0]}{further_files}, {size:.1f} MB")
        else:
            yield Finding(
                f"data {dataset}",
                STATE_MISSING,
                f"no file below {plan.config.data_root}; see data/raw/README.md",
            )


def _check_key(name: str, model: ModelConfig) -> Iterator[Finding]:
    if not model.api_key_env:
        return
    variable = f"the environment variable {model.api_key_env}"
    if read_key(model):
        yield Finding(f"{name}, key", STATE_OK, f"{variable} is set")
    else:
        details = f"{variable} is empty: export {model.api_key_env}=..."
        yield Finding(f"{name}, key", STATE_MISSING, details)


def _check_file(name: str, model: ModelConfig) -> Finding:
    try:
        path = model_path(model)
    except UserError as error:
        return Finding(name, STATE_MISSING, str(error))
    size = path.stat().st_size / 1e6
    return Finding(name, STATE_OK, f"runs in this process; {path.name}, {size:.0f} MB")


async def _check_server(name: str, model: ModelConfig) -> Finding:
    """Check whether a server answers and lists the model."""
    if model.serve:
        return Finding(name, STATE_UNKNOWN, "a job starts its server")
    place = (server_address(model) or "").rstrip("/")
    variable = model.api_key_env if read_key(model) else None  # an empty one is reported by itself
    changes = {"timeout": _TIMEOUT_SECONDS, "api_key_env": variable}
    try:
        entries = await _list_models(model.model_copy(update=changes))
    except CallError as error:
        return Finding(name, STATE_MISSING, redacted(f"{place} gives no answer ({error})"))
    except MootError as error:
        return Finding(name, STATE_MISSING, str(error))
    if entries is None:
        return Finding(name, STATE_UNKNOWN, "this endpoint cannot list its models")
    entry_by_name = {str(entry.get("id") or entry.get("name")): entry for entry in entries}
    entry = entry_by_name.get(model.model) or entry_by_name.get(f"{model.model}:latest")
    if entry is None:
        listing = ", ".join(sorted(entry_by_name)[:5]) or "no list of models"
        details = redacted(f"{place} answers; '{model.model}' not in: {listing}")
        return Finding(name, STATE_MISSING if entries else STATE_UNKNOWN, details)
    windows = [entry[field] for field in _WINDOW_FIELDS if field in entry]
    window = "it does not say how long its context is"
    if windows:
        window = f"a context window of {windows[0]} tokens"
    return Finding(name, STATE_OK, redacted(f"{place} serves {model.model}; {window}"))


async def _list_models(model: ModelConfig) -> list[JsonObject] | None:
    """Return a server's entries of its models, None if the endpoint has no such call."""
    endpoint = ENDPOINTS[model.endpoint](model, 1)
    try:
        return await endpoint.list_models() if isinstance(endpoint, ModelLister) else None
    finally:
        await endpoint.close()


async def _check_replies(name: str, model: ModelConfig, seed: int) -> list[Finding]:
    """Ask a model three short questions."""

    def request(
        question: str, *, schema: Fields | None = None, choices: tuple[str, ...] = ()
    ) -> Request:
        return request_to(
            model,
            (Message("user", question),),
            max_tokens=_REPLY_TOKENS,
            temperature=0.0,
            seed=seed,
            schema=schema,
            choices=choices,
        )

    as_json = 'Is ice cold? Answer as JSON: {"answer": "yes"} or {"answer": "no"}.'
    in_a_word = "Is ice cold? Answer yes or no."
    calls = (
        ("speed", request("Count from one to twenty, in words."), _read_speed),
        ("JSON schema", request(as_json, schema=_SCHEMA), _read_schema),
        ("log-probabilities", request(in_a_word, choices=_WORDS), _read_logprobs),
    )
    try:
        endpoint = ENDPOINTS[model.endpoint](model, os.cpu_count() or 1)
    except MootError as error:
        return [Finding(name, STATE_MISSING, str(error))]
    findings = []
    try:
        for subject, call, read_reply in calls:
            try:
                state, details = read_reply(await endpoint.complete(call))
            except MootError as error:
                state, details = (
                    STATE_MISSING if read_reply is _read_speed else STATE_UNKNOWN,
                    str(error),
                )
            findings.append(Finding(f"{name}, {subject}", state, details))
    finally:
        await endpoint.close()
    return findings


def _read_speed(reply: Reply) -> tuple[str, str]:
    rate = reply.completion_tokens / reply.seconds if reply.seconds else 0.0
    duration = f"{reply.completion_tokens} in {reply.seconds:.1f} s"
    server = reply.served_model or "a server that gives no name"
    return STATE_OK, f"{rate:.0f} tokens a second ({duration}), by {server}"


def _read_schema(reply: Reply) -> tuple[str, str]:
    try:
        is_valid = json.loads(reply.text)["answer"] in _WORDS
    except (ValueError, TypeError, KeyError):
        is_valid = False
    if is_valid:
        return STATE_OK, "kept"
    return STATE_UNKNOWN, f"not kept: {reply.text[:60]!r}; write `structured: prompted`"


def _read_logprobs(reply: Reply) -> tuple[str, str]:
    if reply.logprobs:
        return STATE_OK, "given"
    return STATE_UNKNOWN, "not given; `answer: likelihood` takes stated answers"


def doctor(plan: Plan) -> str:
    """Return what is there and what is missing, in lines.

    Raises:
        UserError: the run would end because something is missing; the message holds all lines.
    """
    if plan.config.doctor.table:
        return describe_table(Path(plan.config.doctor.table))
    findings = asyncio.run(check_all(plan))
    lines = "".join(map(str, findings))
    if missing := sum(finding.state == STATE_MISSING for finding in findings):
        raise UserError(f"{missing} missing.\n{lines}")
    return lines
