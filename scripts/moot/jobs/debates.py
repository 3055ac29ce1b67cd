"""A job's debates: every case and repeat of one experiment, model and shard.

They are held concurrently, and their results are yielded in order.
"""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from moot.core.artifacts import atomic_path, describe
from moot.core.cases import Case, Task, resembles_test_case
from moot.core.config import Config
from moot.core.errors import DebatePausedError, UserError
from moot.core.log import LOG
from moot.core.model_config import ModelConfig
from moot.core.schemas import SCHEMAS
from moot.core.types import JsonObject
from moot.core.utterance_kinds import CALL_FAILED, CONCLUSION
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.llm.redaction import redacted
from moot.plan.debated_cases import choose_debated_cases
from moot.plan.rehearsal import stand_in_endpoints
from moot.protocols import PROTOCOLS
from moot.protocols.controls import make_debate, reword
from moot.protocols.debate import Answer, Debate, check_labels, transcript_row
from moot.protocols.experiment import Experiment
from moot.protocols.inbox import ask_by_inbox, case_folder, remove_stale_questions
from moot.protocols.people import AskPerson
from moot.protocols.setup import JobSetup
from moot.protocols.utterances import Utterance

Item = TypeVar("Item")
_BUFFER_FACTOR = 4
_DEBATES_PER_CALL = 4
"""Maximum number of open debates for each call that may be under way.

The calls of a debate follow each other. With one debate per call, the last debates would leave most
of the calls unused.
"""
_ROWS_PER_GROUP = 5000


async def run_in_order(
    jobs: Sequence[Callable[[], Coroutine[Any, Any, Item]]], max_concurrent: int
) -> AsyncGenerator[Item, None]:
    """Run jobs, at most `max_concurrent` at a time, and yield their results in the jobs' order.

    Few results wait for their turn. An error of any job ends all jobs immediately.
    """
    tasks: dict[int, asyncio.Task[Item]] = {}
    running: set[asyncio.Task[Item]] = set()
    started_count = yielded_count = 0
    try:
        while yielded_count < len(jobs):
            while len(running) < max_concurrent and started_count < min(
                len(jobs), yielded_count + max_concurrent * _BUFFER_FACTOR
            ):
                tasks[started_count] = asyncio.create_task(jobs[started_count]())
                running.add(tasks[started_count])
                started_count += 1
            ended_tasks, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in ended_tasks:
                task.result()
            while yielded_count in tasks and tasks[yielded_count].done():
                yield tasks.pop(yielded_count).result()
                yielded_count += 1
    finally:
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


async def run_debate(debate: Debate, experiment: Experiment) -> Debate:
    """Hold one debate and record its outcome as its last utterance."""
    status, answer, reason = "valid", None, ""
    try:
        answer = await PROTOCOLS[experiment.config.protocol].run(debate, experiment.params)
    except DebatePausedError as pause:
        status, answer, reason = "waiting", None, str(pause)
    if answer is not None:
        check_labels(debate.task, answer)
        reason = next(map(failed_call_reason, failed_utterances(debate)), "")
    elif status != "waiting":
        status, reason = missing_answer_reason(debate)
    # as in a recorded debate
    if not any(utterance.kind == CONCLUSION for utterance in debate.utterances):
        record_conclusion(debate, answer, status, reason)
    return debate


def failed_utterances(debate: Debate) -> list[Utterance]:
    """Return the utterances of a debate whose call failed."""
    return [
        utterance
        for utterance in debate.utterances
        if utterance.source == "model" and utterance.has_failed and utterance.parsed
    ]


def failed_call_reason(utterance: Utterance) -> str:
    """Return why the call of an utterance failed, in words."""
    parsed = utterance.parsed or {}
    return redacted(f"{CALL_FAILED}{parsed.get('error', 'no reason was recorded')}")


def missing_answer_reason(debate: Debate) -> tuple[str, str]:
    """Return whether a debate without an answer failed or is invalid, and the reason in words.

    The reason is the debate's last problem.
    """
    model_utterances = [utterance for utterance in debate.utterances if utterance.source == "model"]
    status = "failed" if model_utterances and model_utterances[-1].has_failed else "invalid"
    unusable = [utterance for utterance in model_utterances if not utterance.usable]
    if not unusable:
        return status, "the replies came to no answer (a tie, or no judge takes a position)"
    last, parsed = unusable[-1], unusable[-1].parsed or {}
    if last.has_failed:
        return status, failed_call_reason(last)
    return status, redacted(
        f"{last.kind} of {last.speaker}: {parsed.get('problem', 'the reply cannot be used')}"
    )


def record_conclusion(debate: Debate, answer: Answer | None, status: str, reason: str = "") -> None:
    """Record a debate's outcome in a row of kind `conclusion`, from which predictions are read."""
    debate.record(
        "moot",
        CONCLUSION,
        "",
        source="computed",
        parsed={
            "status": status,
            "reason": reason,
            "score": answer.score if answer else None,
            "logprobs": dict(answer.logprobs) if answer and answer.logprobs else None,
        },
        prediction=answer.prediction if answer else None,
        confidence=answer.confidence if answer else None,
        probability=answer.probability if answer else None,
    )


@dataclass(frozen=True)
class Job:
    """One debate job: what it needs of the run, and its part of the work.

    Attributes:
        config: the run's, for its seed, shards, ledger and budget.
        experiment: whose debates are held.
        models: those that speak in the debates, the job's own first.
        cases, task: of the experiment's data set, all splits.
        shard: the number of the shard; None takes all cases.
        threads: for an embedded model.
        artifacts: files that the protocol needs, by name.
        calls_per_debate: the approximate number of calls of a debate, for the progress lines; 0 if
            unknown.
    """

    config: Config
    experiment: Experiment
    models: Mapping[str, ModelConfig]
    cases: Sequence[Case]
    task: Task
    shard: int | None = None
    threads: int = 1
    artifacts: Mapping[str, Path] = field(default_factory=dict)
    calls_per_debate: int = 0

    @property
    def model(self) -> str:
        """The name of the job's own model."""
        return next(iter(self.models))


def cases_of_job(job: Job) -> list[Case]:
    """Return the cases that a job debates, in their stable order."""
    debated_cases = choose_debated_cases(job.experiment, job.cases, job.config.seed)
    if job.shard is None:
        return debated_cases
    # in turn, since the jobs end at the same time then; further cases follow in their order
    return debated_cases[job.shard :: job.config.shards]


def max_open_debates(job: Job, debates: int) -> int:
    """Return the maximum number of debates of a job that are open at once.

    If calls are gathered, it is the number of all debates, since a wave has a call of each open
    debate.
    """
    if any(config.gathers_calls for config in job.models.values()):
        return max(debates, 1)
    concurrency = job.models[job.model].concurrency
    return concurrency * _DEBATES_PER_CALL if concurrency > 1 else 1


def prepare_debates(
    job: Job,
    chats: Mapping[str, Chat],
    ledger: Ledger,
    ask_person: AskPerson = ask_by_inbox,
) -> dict[tuple[str, int], Callable[[], Coroutine[Any, Any, Debate]]]:
    """Return functions that hold each of a job's debates.

    The keys are case and repeat, in a stable order. `ask_person` is how a person in a seat is
    asked.

    A debate with people is held by one process at a time. Otherwise a slower process would withdraw
    the questions of a faster one.

    Raises:
        UserError: the protocol cannot debate the labels of these cases.
    """
    experiment = job.experiment
    misfit = PROTOCOLS[experiment.config.protocol].misfit
    if reason := misfit(experiment.params, job.task.labels, job.task.multilabel):
        place = f"experiment '{experiment.name}', data '{experiment.config.dataset}'"
        raise UserError(f"{place}: {reason}")
    reworded = reword(experiment.config, job.cases, job.task)
    cases, task = reworded.cases, reworded.task
    new_debate = make_debate(experiment.config)
    repeats_of = PROTOCOLS[experiment.config.protocol].repeats
    examples = [case for case in cases if case.split == "train" and not resembles_test_case(case)]
    setup = JobSetup(
        experiment.name,
        job.model,
        chats,
        experiment.params,
        experiment.prompts,
        job.config.seed,
        examples,
        job.artifacts,
        ask_person,
        ledger.placeholders,
    )
    asks_by_inbox = ask_person is ask_by_inbox

    async def hold(case: Case, repeat: int) -> Debate:
        folder = case_folder(experiment.name, job.model, case.case_id)
        place = hashlib.sha256(f"{folder}#{repeat}".encode()).hexdigest()
        async with ledger.claim(place) if asks_by_inbox and experiment.people else nullcontext():
            debate = await run_debate(new_debate(case, task, repeat, setup), experiment)
            if asks_by_inbox:
                remove_stale_questions(folder, repeat, debate.voices.questions)
        return reworded.restore(debate)

    debates: dict[tuple[str, int], Callable[[], Coroutine[Any, Any, Debate]]] = {}
    for case in cases_of_job(replace(job, cases=cases, task=task)):
        repeats = repeats_of(setup, case)
        for repeat in range(experiment.config.repeats) if repeats is None else repeats:
            debates[case.case_id, repeat] = partial(hold, case, repeat)
    return debates


async def run_debates(
    job: Job,
    ledger: Ledger,
    settings: Settings,
    progress: Progress,
    max_debates: int | None = None,
    ask_person: AskPerson = ask_by_inbox,
) -> AsyncGenerator[Debate, None]:
    """Hold a job's debates, or the first `max_debates`, concurrently; yield them in order."""
    async with open_chats(job.models, ledger, settings, progress) as chats:
        jobs = list(prepare_debates(job, chats, ledger, ask_person).values())[:max_debates]
        progress.debates = len(jobs)
        max_concurrent = max_open_debates(job, len(jobs))
        async with aclosing(run_in_order(jobs, max_concurrent)) as debates:
            async for debate in debates:
                progress.debates_done += 1
                progress.tick()
                yield debate


async def run_job(job: Job) -> AsyncGenerator[Debate, None]:
    """Hold a job's debates as `run_debates`, with the configured ledger and budget."""
    config, name = job.config, f"{job.experiment.name} {job.model} shard {job.shard}"
    progress = Progress(name, calls_a_debate=job.calls_per_debate)
    settings = Settings(config.replay, config.budget, job.threads, stand_in_endpoints(config))
    with closing(Ledger(config.ledger)) as ledger:
        async with aclosing(run_debates(job, ledger, settings, progress)) as debates:
            async for debate in debates:
                yield debate
    LOG.info(progress.line())


def write_transcripts(job: Job, sources: Sequence[Path], output: Path, **digests: str) -> None:
    """Hold one job's debates and write their transcripts as a stream, atomically.

    Args:
        job: the job.
        sources: the input files of the job, whose sha256 goes into the artifact.
        output: `transcripts/{experiment}/{model}/{shard}.parquet`.
        digests: the job's digests, for the artifact's metadata.
    """
    schema = SCHEMAS["transcripts"].with_metadata(describe(job.experiment.name, sources, **digests))

    async def write() -> None:
        rows: list[JsonObject] = []
        with (
            atomic_path(output) as part,
            pq.ParquetWriter(part, schema, compression="zstd") as writer,
        ):
            async with aclosing(
                run_job(job)
            ) as debates:  # replies are stored even if writing fails
                async for debate in debates:
                    rows.extend(
                        transcript_row(debate, utterance) for utterance in debate.utterances
                    )
                    if len(rows) >= _ROWS_PER_GROUP:
                        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                        rows.clear()
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))

    asyncio.run(write())
