"""Debates with placeholder replies, which a preview holds without any call."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import aclosing, closing, suppress
from pathlib import Path

from moot.commands.preview_hours import SpeedMeter
from moot.commands.preview_price import ReplyLengths
from moot.core.endpoint_traits import endpoint_traits
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
from moot.protocols.debate import Debate
from moot.protocols.inbox import find_answer
from moot.protocols.people import Question


def open_stand_in(_config: ModelConfig, _threads: int) -> Endpoint:
    """Return the stand-in whose replies have the greatest length."""
    return StandIn()


class PlaceholderPeople:
    """Answers for people in a debate: their stored answers, or else the smallest possible
    answer.
    """

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
    """The ledger's replies; additions of a preview stay in memory."""

    def __init__(self, ledger: str, shipped: Path) -> None:
        super().__init__(ledger)
        self.put = Batched(self._keep, in_loop=True)  # memory needs no thread and no pause
        self.placeholders: dict[str, Entry] = {}
        self.speeds = SpeedMeter()
        self.lengths = ReplyLengths(shipped)

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
            self.speeds.add(entry)
            self.lengths.add(entry)
            yield entry

    def store(self, entries: Sequence[Entry]) -> dict[str, Reply]:
        """Keep placeholders in memory."""
        self.placeholders.update((entry.call_id, entry) for entry in entries)
        return {}


async def run_with_placeholders(
    plan: Plan,
    job: Job,
    ledger: Ledger,
    progress: Progress,
    ask_person: PlaceholderPeople,
    max_debates: int | None = None,
) -> list[Debate]:
    """Hold a job's debates, or the first `max_debates`, with placeholder replies."""
    settings = Settings(open_endpoint=open_stand_in)
    async with aclosing(
        run_debates(plan, job, ledger, settings, progress, max_debates, ask_person)
    ) as debates:
        return [debate async for debate in debates]


def calls_per_debate(plan: Plan, job: Job) -> int:
    """Return the number of calls of a job's first debate, counted with placeholder replies.

    Other debates may take more or fewer. 0 if the calls cannot be counted.
    """
    models, progress = (
        plan.models_in_job(job.experiment, job.model).values(),
        Progress(job.experiment),
    )
    if all(endpoint_traits(model.endpoint).is_recorded for model in models):
        return 0
    with closing(PreviewLedger(plan.config.ledger, plan.shipped)) as ledger:
        try:
            asyncio.run(run_with_placeholders(plan, job, ledger, progress, PlaceholderPeople(), 1))
        except Exception:  # a protocol may fail on a placeholder, but not on a real reply
            return 0
    return progress.calls
