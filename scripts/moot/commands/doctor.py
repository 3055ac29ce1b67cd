"""`snakemake doctor`: what a run of this configuration needs, and whether it is there.

Without consent no model is asked: a server is asked for its list of models alone. With `doctor:
{ask: true}` each model answers three short calls, which show its speed, whether it keeps to a JSON
schema, and its log-probabilities.
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
from moot.core.errors import MootError, UserError
from moot.core.experiment_config import RECORDED
from moot.core.model_config import SIMULATED, ModelConfig
from moot.core.types import Fields
from moot.llm.endpoints import ENDPOINTS
from moot.llm.endpoints.anthropic import identified
from moot.llm.endpoints.embedded import model_path
from moot.llm.identity import address
from moot.llm.redaction import read_key, redacted
from moot.llm.request import Message, Reply, Request, request_to
from moot.plan.plan import Plan

GOOD, BAD, UNKNOWN = "ok", "missing", "?"
_SECONDS = 10.0
_LEAST_GIGABYTES = 2.0
_CALLS, _PROMPT_TOKENS, _REPLY_TOKENS = 3, 40, 64
_WORDS = ("yes", "no")
_SCHEMA: Fields = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": list(_WORDS)}},
    "required": ["answer"],
    "additionalProperties": False,
}
_WINDOWS = ("max_model_len", "context_length", "context_window")
"""What servers call a model's context window in their list of models."""


@dataclass(frozen=True)
class Finding:
    """What was looked at, its state (ok, missing, or unknown), and what was found or is to be done."""

    what: str
    state: str
    found: str

    def __str__(self) -> str:
        return f"{self.state:<8} {self.what}: {self.found}\n"


async def findings(plan: Plan) -> list[Finding]:
    """Everything that a run needs; with `doctor: {ask: true}`, models answer three calls each."""
    found = [*_machine(), *_data(plan)]
    for name in sorted(plan.models_used):
        model = plan.config.models[name]
        if model.endpoint in (RECORDED, SIMULATED):
            continue
        reached = (
            _in_this_process(name, model)
            if model.endpoint == "embedded"
            else await _server(name, model)
        )
        found += [*_key(name, model), reached]
        if reached.state == GOOD and plan.config.doctor.ask:
            found += await _answers(name, model, plan.config.seed)
        elif reached.state == GOOD:
            dollars = _CALLS * model.cost(_PROMPT_TOKENS, _REPLY_TOKENS)
            asked = (
                f"--config 'doctor={{ask: true}}' asks {_CALLS} calls, at most {dollars:.4f} US"
                " dollars"
            )
            found.append(Finding(name, UNKNOWN, f"not asked; {asked}"))
    return found


def _machine() -> Iterator[Finding]:
    yield Finding(
        "moot", GOOD, f"{__version__}, Python {platform.python_version()}, {os.cpu_count()} cores"
    )
    gigabytes = shutil.disk_usage(Path.cwd()).free / 1e9
    enough = gigabytes >= _LEAST_GIGABYTES
    yield Finding(
        "disk",
        GOOD if enough else BAD,
        f"{gigabytes:.0f} GB free; expected {_LEAST_GIGABYTES:.0f} or more",
    )


def _data(plan: Plan) -> Iterator[Finding]:
    for dataset in plan.datasets_used:
        options = plan.datasets[dataset]
        if options.source == "download":
            yield Finding(f"data {dataset}", GOOD, "fetched when first needed, unless it is there")
        elif options.source != "local":
            yield Finding(f"data {dataset}", GOOD, f"{options.source}: comes with moot")
        elif files := plan.local_files(dataset):
            size = sum(file.stat().st_size for file in files) / 1e6
            others = f" and {len(files) - 1} more" if len(files) > 1 else ""
            yield Finding(f"data {dataset}", GOOD, f"{files[0]}{others}, {size:.1f} MB")
        else:
            yield Finding(
                f"data {dataset}",
                BAD,
                f"no file below {plan.config.data_root}; see data/raw/README.md",
            )


def _key(name: str, model: ModelConfig) -> Iterator[Finding]:
    if model.api_key_env:
        state, found = (
            (GOOD, "is set")
            if read_key(model)
            else (BAD, f"is empty: export {model.api_key_env}=...")
        )
        yield Finding(
            f"{name}, key", state, f"the environment variable {model.api_key_env} {found}"
        )


def _in_this_process(name: str, model: ModelConfig) -> Finding:
    try:
        path = model_path(model)
    except UserError as error:
        return Finding(name, BAD, str(error))
    return Finding(
        name, GOOD, f"runs in this process; {path.name}, {path.stat().st_size / 1e6:.0f} MB"
    )


async def _server(name: str, model: ModelConfig) -> Finding:
    """Whether a server answers, and has the model; its list of models costs nothing."""
    import httpx

    if model.serve:
        return Finding(name, UNKNOWN, "a job starts its server")
    where = (address(model) or "").rstrip("/")
    headers = {"Authorization": f"Bearer {key}"} if (key := read_key(model)) else {}
    listing = f"{where}/api/tags" if model.endpoint == "ollama" else f"{where}/models"
    if model.endpoint == "anthropic":
        headers, listing = identified(key), f"{where.removesuffix('/v1')}/v1/models"
    try:
        async with httpx.AsyncClient(timeout=_SECONDS) as client:
            answer = await client.get(listing, headers=headers)
        content = answer.json() if answer.is_success else {}
    except (httpx.HTTPError, ValueError) as error:
        return Finding(
            name, BAD, redacted(f"{where} gives no answer ({type(error).__name__}: {error})")
        )
    if answer.status_code in (401, 403):
        return Finding(name, BAD, f"{where} refuses the key (status {answer.status_code})")
    entries = [entry for entry in _listed(content) if isinstance(entry, dict)]
    served = {str(entry.get("id") or entry.get("name")): entry for entry in entries}
    asked = next(
        (served[one] for one in (model.model, f"{model.model}:latest") if one in served), None
    )
    if asked is None:
        known = ", ".join(sorted(served)[:5]) or f"no list of models (status {answer.status_code})"
        return Finding(
            name,
            UNKNOWN if not served else BAD,
            redacted(f"{where} answers; '{model.model}' not in: {known}"),
        )
    windows = [str(asked[key]) for key in _WINDOWS if key in asked]
    window = (
        f"a context window of {windows[0]} tokens"
        if windows
        else "it does not say how long its context is"
    )
    return Finding(name, GOOD, redacted(f"{where} serves {model.model}; {window}"))


def _listed(content: object) -> list[object]:
    found = content.get("data") or content.get("models") if isinstance(content, dict) else None
    return found if isinstance(found, list) else []


async def _answers(name: str, model: ModelConfig, seed: int) -> list[Finding]:
    def asking(
        text: str, *, schema: Fields | None = None, choices: tuple[str, ...] = ()
    ) -> Request:
        said = (Message("user", text),)
        return request_to(
            model,
            said,
            max_tokens=_REPLY_TOKENS,
            temperature=0.0,
            seed=seed,
            schema=schema,
            choices=choices,
        )

    calls = (
        ("speed", asking("Count from one to twenty, in words."), _speed),
        (
            "JSON schema",
            asking(
                'Is ice cold? Answer as JSON: {"answer": "yes"} or {"answer": "no"}.',
                schema=_SCHEMA,
            ),
            _kept,
        ),
        (
            "log-probabilities",
            asking("Is ice cold? Answer yes or no.", choices=_WORDS),
            _likelihoods,
        ),
    )
    try:
        endpoint = ENDPOINTS[model.endpoint](model, os.cpu_count() or 1)
    except MootError as error:
        return [Finding(name, BAD, str(error))]
    found = []
    try:
        for what, request, read in calls:
            try:
                state, said = read(await endpoint.complete(request))
            except MootError as error:
                state, said = BAD if read is _speed else UNKNOWN, str(error)
            found.append(Finding(f"{name}, {what}", state, said))
    finally:
        await endpoint.close()
    return found


def _speed(reply: Reply) -> tuple[str, str]:
    rate = reply.completion_tokens / reply.seconds if reply.seconds else 0.0
    took = f"{reply.completion_tokens} in {reply.seconds:.1f} s"
    return (
        GOOD,
        (
            f"{rate:.0f} tokens a second ({took}), by"
            f" {reply.served_model or 'a server that gives no name'}"
        ),
    )


def _kept(reply: Reply) -> tuple[str, str]:
    try:
        kept = json.loads(reply.text)["answer"] in _WORDS
    except (ValueError, TypeError, KeyError):
        kept = False
    return (
        (GOOD, "kept")
        if kept
        else (UNKNOWN, f"not kept: {reply.text[:60]!r}; write `structured: prompted`")
    )


def _likelihoods(reply: Reply) -> tuple[str, str]:
    return (
        (GOOD, "given")
        if reply.logprobs
        else (UNKNOWN, "not given; `answer: likelihood` takes stated answers")
    )


def doctor(plan: Plan) -> str:
    """What is there and what is missing, in lines.

    Raises:
        UserError: something is missing without which the run would end; the message holds all
            lines.
    """
    if plan.config.doctor.table:
        return describe_table(Path(plan.config.doctor.table))
    found = asyncio.run(findings(plan))
    said = "".join(map(str, found))
    if missing := sum(finding.state == BAD for finding in found):
        raise UserError(f"{missing} missing.\n{said}")
    return said
