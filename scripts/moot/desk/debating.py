"""Debates that go on as people answer: a process beside the desk, which asks the next question at
once.

It writes questions and the ledger, and no result. The next run of Snakemake reads all of it there,
so that results are the same bytes as without a desk, and whatever happens to this process, no
answer and no reply is lost.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from moot.core.artifacts import read_cases
from moot.core.types import Fields
from moot.desk.answers import answer_file
from moot.jobs.debates import Job, debates_of
from moot.llm.chat import Chat
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan
from moot.protocols.debate import Debate
from moot.protocols.inbox import ANSWER, ASKED, INBOX, folder_of
from moot.workflow import targets
from moot.workflow.records import made_from, made_with, path_digest
from moot.workflow.user_files import answer_files

_LOOK_AGAIN = 1.0  # seconds, for answers that are written by hand
Place = tuple[Path, int]
"""A debate in which people sit: the folder of its questions, and its repeat."""
Hold = Callable[[], Coroutine[Any, Any, Debate]]


def jobs_with_people(plan: Plan) -> dict[tuple[str, str], bool]:
    """Experiment and model of each job in whose debates people sit; whether these can go on here:
    not where batches are gathered, or the job starts a server of its own."""
    jobs = [
        (name, model)
        for name, found in plan.experiments.items()
        if found.people
        for model in found.config.models
    ]
    return {
        job: not any(used.batch or used.serve for used in plan.models_in_job(*job).values())
        for job in jobs
    }


class Debating:
    """The debates of a plan in which people take part; each runs again when an answer arrives.

    Args:
        read_digests: returns the digests that files should have by now, by path.
    """

    def __init__(
        self,
        plan: Plan,
        ledger: Ledger,
        chats: Mapping[str, Chat],
        read_digests: Callable[[], Mapping[str, Mapping[str, str]]],
    ) -> None:
        self._plan, self._ledger, self._chats = plan, ledger, chats
        self._read_digests = read_digests
        self._jobs: dict[tuple[str, str], tuple[dict[str, Fields], dict[Place, Hold]]] = {}
        self._heard: dict[Place, set[tuple[str, int]]] = {}
        self._under_way: dict[asyncio.Task[Debate], Place] = {}

    async def go_on(self, news: asyncio.StreamReader, is_same: Callable[[], bool]) -> None:
        """Hold what has been answered, at each line of `news`, and now and then, as long as
        `is_same`.

                Writes lines of three numbers to standard output: lines read, debates under way, and
                    whether
                results are behind: all debates of a job have come to an end, and a run would do
                more than wait.
        """
        line, read, behind = asyncio.create_task(news.readline()), 0, False
        try:
            while is_same():
                behind = self._begin() or behind
                sys.stdout.write(f"{read} {len(self._under_way)} {behind:d}\n")
                sys.stdout.flush()
                await asyncio.wait(
                    {line, *self._under_way},
                    timeout=_LOOK_AGAIN,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                ended = [task for task in self._under_way if task.done()]
                folders = {self._under_way.pop(task)[0].parent for task in ended if task.result()}
                behind = any(map(self._is_behind, folders))
                if line.done():
                    if not line.result():
                        return
                    line, read = asyncio.create_task(news.readline()), read + 1
        finally:
            for task in (line, *self._under_way):
                task.cancel()
            await asyncio.gather(line, *self._under_way, return_exceptions=True)

    def _begin(self) -> bool:
        """Begin to hold each debate that has other answers than when it was last held; whether only
        a run can.
        """
        left = False
        for job, goes_on_here in jobs_with_people(self._plan).items():
            debates = self._debates(*job) if goes_on_here else {}
            for place, answers in given_answers(INBOX.joinpath(*job)).items():
                if answers == self._heard.get(place) or place in self._under_way.values():
                    continue
                if place in debates:
                    self._under_way[asyncio.create_task(debates[place]())] = place
                if place in debates or not goes_on_here:
                    self._heard[place], left = answers, left or not goes_on_here
        return left

    def _debates(self, experiment: str, model: str) -> Mapping[Place, Hold]:
        """What holds the debates of a job; nothing before a run has built all that they rest on."""
        found = self._plan.experiments[experiment]
        cases, needed = f"results/cases/{found.config.dataset}.parquet", found.needed_by(model)
        sources = [cases, *(f"results/{path}" for path in needed.values())]
        made = {path: made_with(Path(path)) for path in sources}
        before, debates = self._jobs.get((experiment, model), ({}, {}))
        if made != before:
            debates = {}
            expected = self._read_digests()
            if all(made[path] and made[path] == expected.get(path) for path in made):
                paths = {name: Path("results", path) for name, path in needed.items()}
                job = Job(experiment, model, *read_cases(Path(cases)), artifacts=paths)
                for (case_id, repeat), hold in debates_of(
                    self._plan, job, self._chats, self._ledger
                ).items():
                    debates[folder_of(experiment, model, case_id), repeat] = hold
            self._jobs[experiment, model] = made, debates
        return debates

    def _is_behind(self, folder: Path) -> bool:
        """Whether all debates of a job have come to an end, and its results do not show it."""
        asked = any(not answer_file(page).exists() for page in folder.glob(f"*/*{ASKED}"))
        if asked or any(place.parent == folder for place, _ in self._under_way.values()):
            return False
        job, expected = folder.parts[-2:], self._read_digests()
        answers = {str(path): path_digest(path) for path in answer_files(*job)}
        for shard in targets.shards(self._plan, *job):
            sources = made_from(Path(shard)).items()
            answers_read = {path: digest for path, digest in sources if is_answer(path)}
            if made_with(Path(shard)) != expected.get(shard) or answers_read != answers:
                return True
        return False


def is_answer(path: str) -> bool:
    """Whether a file holds the answer of a person."""
    return Path(path).is_relative_to(INBOX)


def given_answers(folder: Path) -> dict[Place, set[tuple[str, int]]]:
    """The answers in the folder of a job, by debate: name and time of each file."""
    found: dict[Place, set[tuple[str, int]]] = defaultdict(set)
    for path in folder.glob(f"*/repeat-*{ANSWER}"):
        with suppress(OSError, ValueError):  # removed meanwhile; no answer of ours
            found[path.parent, int(path.name.split("-")[1])].add(
                (path.name, path.stat().st_mtime_ns)
            )
    return found
