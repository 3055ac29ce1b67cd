"""`snakemake doctor`: whether everything that a run of this configuration needs is available.

By default a server is only asked for its list of models, which is free. With `doctor: {make_calls:
true}` each model answers one call, which shows its speed, whether it keeps to a JSON schema, and
whether the server cuts a long prompt. Answers by likelihood need a second one, for one word with
its log-probabilities.
"""

import asyncio
import json
import os
import platform
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot import __version__
from moot.commands.doctor_cases import find_row_faults
from moot.commands.doctor_ledger import check_ledger
from moot.core.endpoint_traits import endpoint_traits
from moot.core.errors import CallError, CallRefusedError, MootError, UserError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields, JsonObject
from moot.datasets import LOADERS, UserDataOptions
from moot.llm.endpoints import ENDPOINTS, Endpoint
from moot.llm.endpoints.embedded import model_path
from moot.llm.endpoints.faults import logprobs_unavailable
from moot.llm.identity import is_other_model, key_variable
from moot.llm.redaction import read_key, redacted
from moot.llm.request import Message, Reply, request_to
from moot.llm.server_check import describe_silence, list_served_models, show_address
from moot.plan.plan import Plan
from moot.report.notes import DATA_NOTES, MODEL_NOTE

STATE_OK, STATE_MISSING, STATE_UNKNOWN, STATE_NOTE = "ok", "missing", "?", "note"
_PROMPTED = "write `structured: prompted`"
_MAX_LEDGER_MESSAGE = 5_000
"""Maximum characters of a message about the ledger, whose path may be long."""
_MIN_GIGABYTES = 2.0
_REPLY_TOKENS = 64
_LONG_PROMPT_WORDS = 5_000
_QUESTION = 'Is ice cold? Answer as JSON: {"answer": "yes"} or {"answer": "no"}.'
_WORDS = ("yes", "no")
_SCHEMA: Fields = {
    "type": "object",
    "properties": {"answer": {"type": "string", "enum": list(_WORDS)}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Finding:
    """The result of one check of what a run needs.

    Attributes:
        subject: the checked item.
        state: ok, missing, unknown, or a note that readers of the results need.
        details: the result and the remedy.
    """

    subject: str
    state: str
    details: str

    def __str__(self) -> str:
        return f"{self.state:<8} {self.subject}: {self.details}\n"


async def check_all(plan: Plan) -> list[Finding]:
    """Check everything that a run needs; with `doctor: {make_calls: true}`, models answer calls."""
    findings = [*_check_machine(), _check_ledger(plan.config.ledger)]
    findings += _check_data(plan)
    for name in sorted(plan.models_used):
        model = plan.config.models[name]
        traits = endpoint_traits(model.endpoint)
        if traits.is_simulated:
            findings.append(Finding(name, STATE_NOTE, MODEL_NOTE))
        if traits.is_recorded or traits.is_simulated:
            continue
        if traits.in_process:
            access = _check_file(name, model)
        else:
            access = await _check_server(name, model)
        findings += [*_check_key(name, model), access]
        can_ask = access.state != STATE_MISSING
        if can_ask and plan.config.doctor.make_calls:
            is_likelihood = name in _models_of_likelihood(plan)
            findings += await _check_calls(name, model, plan.config.seed, is_likelihood)
        elif can_ask:
            details = "not asked; --config 'doctor={make_calls: true}' makes one call"
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


def _check_ledger(ledger: str) -> Finding:
    """Check that the ledger can be opened and locked, before replies are paid for."""
    try:
        doubt = check_ledger(ledger)
    except UserError as error:
        return Finding("ledger", STATE_MISSING, redacted(error, _MAX_LEDGER_MESSAGE))
    if doubt:
        return Finding("ledger", STATE_UNKNOWN, doubt)
    return Finding(
        "ledger", STATE_OK, redacted(f"{ledger} can be opened and locked", _MAX_LEDGER_MESSAGE)
    )


def _check_data(plan: Plan) -> Iterator[Finding]:
    for dataset in plan.datasets_used:
        options = plan.datasets[dataset]
        if options.source == "download":
            yield Finding(f"data {dataset}", STATE_OK, "downloaded on first use, unless it exists")
        elif options.source != "local":
            note = DATA_NOTES.get(str(options.source))
            state = STATE_NOTE if note else STATE_OK
            yield Finding(f"data {dataset}", state, note or f"{options.source}: comes with moot")
        elif isinstance(options, UserDataOptions):
            yield from _check_own_data(plan, dataset)
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


def _check_own_data(plan: Plan, dataset: str) -> Iterator[Finding]:
    """Load files of the user, and count their cases and labels."""
    subject = f"data {dataset}"
    options = plan.datasets[dataset]
    doubts = find_row_faults(options)
    doubt_findings = [Finding(f"rows of {dataset}", STATE_UNKNOWN, doubt) for doubt in doubts]
    try:
        loaded = LOADERS[options.loader or dataset].load(options, plan.load_context(dataset))
    except UserError as error:
        message = str(error)
        yield Finding(subject, STATE_MISSING, message)
        yield from (finding for finding in doubt_findings if finding.details not in message)
        return
    counts = ", ".join(f"{count} {finding}" for finding, count in loaded.cleaning.items())
    labels = Counter(case.target for case in loaded.cases)
    label_counts = ", ".join(f"{label} {labels[label]}" for label in loaded.task.labels)
    positive = f"; positive: {loaded.task.positive}" if loaded.task.positive else ""
    yield Finding(subject, STATE_OK, f"{counts}; labels: {label_counts}{positive}")
    yield from doubt_findings


def _check_key(name: str, model: ModelConfig) -> Iterator[Finding]:
    variable = key_variable(model)
    if not variable:
        return
    if read_key(model):
        yield Finding(f"{name}, key", STATE_OK, f"the environment variable {variable} is set")
    else:
        details = f"the environment variable {variable} is empty: export {variable}=..."
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
    try:
        entries = await list_served_models(model)
    except CallError as error:
        return Finding(name, STATE_MISSING, describe_silence(model, error))
    except MootError as error:
        return Finding(name, STATE_MISSING, str(error))
    if entries is None:
        return Finding(name, STATE_UNKNOWN, "this endpoint cannot list its models")
    state, details = _check_listing(model.model, entries)
    return Finding(name, state, redacted(f"{show_address(model)} {details}"))


def _check_listing(model: str, entries: Sequence[JsonObject]) -> tuple[str, str]:
    """Return whether a server's entries of its models have a model, as a state and in words.

    A server with a single model, such as llama.cpp's, may answer under any name.
    """
    names = {str(entry.get("id") or entry.get("name")) for entry in entries}
    if names & {model, f"{model}:latest"}:
        return STATE_OK, f"serves {model}"
    if len(names) > 1:
        return STATE_MISSING, f"answers; '{model}' not in: {', '.join(sorted(names)[:5])}"
    # llama.cpp's server lists the path of its file
    listed = f"lists {Path(*names).name} alone" if names else "lists no models"
    return STATE_UNKNOWN, f"answers, but {listed}; a call shows whether it serves '{model}'"


def _models_of_likelihood(plan: Plan) -> set[str]:
    """Return the models of experiments that decide by the log-probabilities of words.

    Which of its seats answers so depends on a protocol; models of other seats count, too.
    """
    names: set[str] = set()
    for experiment in plan.experiments.values():
        if experiment.params.needs_logprobs:
            names |= {*experiment.config.models} | experiment.seats
    return names


async def _check_calls(
    name: str, model: ModelConfig, seed: int, is_likelihood: bool
) -> list[Finding]:
    """Ask a model what the calls of a run ask."""
    try:
        endpoint = ENDPOINTS[model.endpoint](model, os.cpu_count() or 1)
    except MootError as error:
        return [Finding(name, STATE_MISSING, str(error))]
    try:
        findings = [await _check_reply(name, model, endpoint, seed)]
        if is_likelihood:
            findings.append(await _check_logprobs(name, model, endpoint, seed))
    finally:
        await endpoint.close()
    return findings


async def _check_reply(name: str, model: ModelConfig, endpoint: Endpoint, seed: int) -> Finding:
    """Ask a model one question after a long prompt, and for a JSON object, as debates do."""
    words = 0
    if endpoint_traits(model.endpoint).has_server:
        # it fits the model's context, but not the 4,096 tokens of a server's default
        words = min(_LONG_PROMPT_WORDS, (model.context or 2 * _LONG_PROMPT_WORDS) // 2)
    prompt = f"{'cold ' * words}\n{_QUESTION}"
    request = request_to(
        model,
        (Message("user", prompt),),
        max_tokens=_REPLY_TOKENS,
        temperature=0.0,
        seed=seed,
        schema=_SCHEMA,
    )
    try:
        reply = await endpoint.complete(request)
    except MootError as error:
        details = str(error)
        if isinstance(error, CallRefusedError):
            details += (
                f" If it takes no schema, {_PROMPTED}; if its window is shorter, write `context`;"
                " if no seed, write `seed: null`."
            )
        return Finding(f"{name}, reply", STATE_MISSING, details)
    if 0 < reply.prompt_tokens < words:  # each word is a token at least
        details = (
            f"the server read {reply.prompt_tokens} tokens of a prompt of {words} words: it cuts"
            " long prompts. Raise its context"
        )
        return Finding(f"{name}, reply", STATE_MISSING, details)
    state, schema = _read_schema(reply)
    return Finding(f"{name}, reply", state, f"{_describe_speed(reply, model.model)}; {schema}")


async def _check_logprobs(name: str, model: ModelConfig, endpoint: Endpoint, seed: int) -> Finding:
    """Ask a model for one word with its log-probabilities."""
    question = (Message("user", "Is ice cold? Answer yes or no."),)
    request = request_to(model, question, max_tokens=1, temperature=0.0, seed=seed, choices=_WORDS)
    subject = f"{name}, log-probabilities"
    try:
        await endpoint.complete(request)
    except CallRefusedError as error:  # as a run takes the refusal of the first such request
        unavailable = logprobs_unavailable(model.model, str(error))
        return Finding(subject, STATE_MISSING, str(unavailable))
    except MootError as error:
        return Finding(subject, STATE_MISSING, str(error))
    return Finding(subject, STATE_OK, "the server gives them, as answers by likelihood need")


def _describe_speed(reply: Reply, asked: str) -> str:
    rate = reply.completion_tokens / reply.seconds if reply.seconds else 0.0
    duration = f"{reply.completion_tokens} in {reply.seconds:.1f} s"
    server = reply.served_model or "a server without a name"
    if is_other_model(asked, reply.served_model):
        server += f", which is another model than {asked}"
    return f"{rate:.0f} tokens a second ({duration}), by {server}"


def _read_schema(reply: Reply) -> tuple[str, str]:
    try:
        is_valid = json.loads(reply.text)["answer"] in _WORDS
    except (ValueError, TypeError, KeyError):
        is_valid = False
    if is_valid:
        return STATE_OK, "it keeps to a JSON schema"
    return STATE_UNKNOWN, f"JSON schema not kept: {reply.text[:60]!r}; {_PROMPTED}"


def doctor(plan: Plan) -> str:
    """Return the available and the missing items, one per line.

    Raises:
        UserError: the run would end because something is missing; the message holds all lines.
    """
    findings = asyncio.run(check_all(plan))
    lines = "".join(map(str, findings))
    if missing := sum(finding.state == STATE_MISSING for finding in findings):
        raise UserError(f"{missing} missing.\n{lines}")
    return lines
