"""Debates with placeholder replies, which a preview holds without any call.

Their transcripts and predictions let it count the calls of debates that depend on them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, closing, suppress
from pathlib import Path

from moot.core.artifacts import describe, write_rows
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.core.types import Fields
from moot.jobs.debates import Job, run_debates
from moot.llm.chat import Settings
from moot.llm.endpoints import Endpoint
from moot.llm.ledger.batching import Batched
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Reply
from moot.llm.stand_in import StandIn, fill_schema
from moot.plan.plan import Plan
from moot.protocols.debate import Debate, transcript_row
from moot.protocols.inbox import find_answer
from moot.protocols.people import Question


class Placeholders:
    """Transcripts and predictions of a preview's debates, as far as other experiments need them.

    Args:
        plan: the checked configuration.
        ledger: with real replies and placeholders.
        folder: the folder to write to, with the structure of `results/`.
    """

    def __init__(self, plan: Plan, ledger: Ledger, folder: Path) -> None:
        self._ledger, self._folder, self._shards = ledger, folder, plan.config.shards
        self._needed = set[str]()
        for experiment in plan.experiments.values():
            for model in experiment.config.models:
                self._needed.update(experiment.needed_by(model).values())

    def substitute(self, artifacts: Mapping[str, Path], results: Path) -> dict[str, Path]:
        """Return the existing artifacts below `results`, or the placeholders of missing ones.

        An artifact with neither is left out.
        """
        paths = {
            name: path if path.exists() else self._folder / path.relative_to(results)
            for name, path in artifacts.items()
        }
        return {name: path for name, path in paths.items() if path.exists()}

    def write(self, experiment: str, model: str, debates: Sequence[Debate]) -> None:
        """Write the artifacts of an experiment and model that others need."""
        shards = [
            f"transcripts/{experiment}/{model}/{shard}.parquet" for shard in range(self._shards)
        ]
        if self._needed & set(shards):
            rows = []
            for debate in debates:
                rows += [transcript_row(debate, utterance) for utterance in debate.utterances]
            # two debates never have equal words, but the placeholders of one endpoint do
            for row in rows:
                row["text"] = f"{row['text']} {row['debate_id']}" if row["text"] else ""
            for shard, shard_rows in zip(shards, [rows, *[[] for _ in shards[1:]]], strict=True):
                write_rows(self._folder / shard, "transcripts", shard_rows, describe(experiment))
        predictions = f"predictions/{experiment}/{model}.parquet"
        if predictions in self._needed:
            costs = [self._debate_cost(debate) for debate in debates]
            write_rows(self._folder / predictions, "predictions", costs, describe(experiment))

    def _debate_cost(self, debate: Debate) -> dict[str, float]:
        """Return the cost of a debate: calls, tokens, dollars."""
        calls = list(
            dict.fromkeys(utterance.call_id for utterance in debate.utterances if utterance.call_id)
        )
        replies = [entry.reply for entry in self._ledger.entries(calls)]
        return {
            "calls": len(replies),
            "prompt_tokens": sum(reply.prompt_tokens for reply in replies),
            "completion_tokens": sum(reply.completion_tokens for reply in replies),
            "cost_usd": sum(reply.cost_usd for reply in replies),
        }


def open_stand_in(_config: ModelConfig, _threads: int) -> Endpoint:
    """Return the stand-in whose replies have the greatest length."""
    return StandIn()


class PlaceholderPeople:
    """Answers for people in a debate: stored ones, or else the smallest possible ones."""

    def __init__(self) -> None:
        self.missing_answers = 0

    def __call__(self, question: Question) -> Fields:
        """Return the answer, and count missing answers."""
        answer: Fields | None = None
        with suppress(UserError):
            answer = find_answer(question)
        if answer is None:
            self.missing_answers += 1
            answer = fill_schema(question.form)
        return answer


class PreviewLedger(Ledger):
    """The ledger's replies; additions of a preview stay in memory.

    Attributes:
        placeholders: the added calls, by call id.
        stored: the model and the tokens written of each stored reply that a debate needed.
    """

    def __init__(self, ledger: str) -> None:
        super().__init__(ledger)
        self.put = Batched(self._keep, in_loop=True)  # memory needs no thread and no pause
        self.placeholders: dict[str, Entry] = {}  # pyrefly: ignore[bad-override-mutable-attribute]
        self.stored: dict[str, tuple[str, int]] = {}

    def entries(self, call_ids: Sequence[str], *, requests: bool = True) -> Iterator[Entry]:
        """Yield stored entries and placeholders.

        A call that several experiments share is counted once.
        """
        placeholders = [
            self.placeholders[call_id] for call_id in call_ids if call_id in self.placeholders
        ]
        yield from placeholders
        stored_ids = [call_id for call_id in call_ids if call_id not in self.placeholders]
        for entry in super().entries(stored_ids, requests=requests):
            self.stored[entry.call_id] = (entry.model, entry.reply.completion_tokens)
            yield entry

    def store(self, entries: Sequence[Entry]) -> dict[str, Reply]:
        """Keep placeholders in memory."""
        self.placeholders.update((entry.call_id, entry) for entry in entries)
        return {}


async def run_with_placeholders(
    job: Job,
    ledger: Ledger,
    progress: Progress,
    ask_person: PlaceholderPeople,
    max_debates: int | None = None,
) -> list[Debate]:
    """Hold a job's debates, or the first `max_debates`, with placeholder replies."""
    settings = Settings(open_endpoint=open_stand_in)
    async with aclosing(
        run_debates(job, ledger, settings, progress, max_debates, ask_person)
    ) as debates:
        return [debate async for debate in debates]


def calls_per_debate(job: Job) -> int:
    """Return the number of calls of a job's first debate, counted with placeholder replies.

    Other debates may take more or fewer. 0 if the calls cannot be counted.
    """
    progress = Progress(job.experiment.name)
    with closing(PreviewLedger(job.config.ledger)) as ledger:
        try:
            asyncio.run(run_with_placeholders(job, ledger, progress, PlaceholderPeople(), 1))
        except Exception:  # a protocol may fail on a placeholder, but not on a real reply
            return 0
    return progress.calls
