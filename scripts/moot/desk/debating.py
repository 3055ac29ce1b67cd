"""Continue debates as people answer, in a process that asks the next question at once.

The process writes questions and the ledger, but no results. The next run of Snakemake reads both,
so that results have the same bytes as without a desk. No answer and no reply is lost if the process
ends at any time.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from moot.core.artifacts import file_digest, read_cases
from moot.core.types import Fields
from moot.desk.questions import answer_file
from moot.jobs.debates import Job, prepare_debates
from moot.llm.chat import Chat
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan
from moot.protocols.debate import Debate
from moot.protocols.inbox import ANSWER, FORM, INBOX, case_folder
from moot.workflow import targets
from moot.workflow.provenance import read_digests, read_sources
from moot.workflow.user_files import answer_files

_POLL_SECONDS = 1.0  # for answers that people write into files
DebateKey = tuple[Path, int]
"""A debate in which people sit: the folder of its questions, and its repeat."""
HoldDebate = Callable[[], Coroutine[Any, Any, Debate]]


def jobs_with_people(plan: Plan) -> dict[tuple[str, str], bool]:
    """Return the jobs in whose debates people sit, and whether the desk can go on with them.

    Jobs are pairs of experiment and model. The desk cannot go on if calls are gathered into waves.
    """
    jobs: dict[tuple[str, str], bool] = {}
    for name, experiment in plan.experiments.items():
        for model in experiment.config.models if experiment.people else ():
            models = plan.models_in_job(name, model).values()
            jobs[name, model] = not any(config.gathers_calls for config in models)
    return jobs


class Debating:
    """The debates of a plan in which people take part; each runs again when an answer arrives.

    Args:
        read_digests: Returns the expected digests of cases and transcripts, by path.
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
        self._jobs: dict[
            tuple[str, str], tuple[dict[str, Fields], dict[DebateKey, HoldDebate]]
        ] = {}
        self._answers_read: dict[DebateKey, set[tuple[str, int]]] = {}
        self._open_debates: dict[asyncio.Task[Debate], DebateKey] = {}

    async def go_on(self, news: asyncio.StreamReader, is_plan_current: Callable[[], bool]) -> None:
        """Continue debates with new answers until the plan changes or `news` ends.

        The answers are read at each line of `news`, and at intervals. Each time a line of three
        numbers is written to standard output: the lines read so far, the debates under way, and
        whether a run would write new results because all debates of a job have ended.
        """
        next_line, read_count, is_behind = asyncio.create_task(news.readline()), 0, False
        try:
            while is_plan_current():
                is_behind = self._start_debates() or is_behind
                sys.stdout.write(f"{read_count} {len(self._open_debates)} {is_behind:d}\n")
                sys.stdout.flush()
                await asyncio.wait(
                    {next_line, *self._open_debates},
                    timeout=_POLL_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                ended_tasks = [task for task in self._open_debates if task.done()]
                folders = {
                    self._open_debates.pop(task)[0].parent for task in ended_tasks if task.result()
                }
                is_behind = any(map(self._is_behind, folders))
                if next_line.done():
                    if not next_line.result():
                        return
                    next_line, read_count = asyncio.create_task(news.readline()), read_count + 1
        finally:
            for task in (next_line, *self._open_debates):
                task.cancel()
            await asyncio.gather(next_line, *self._open_debates, return_exceptions=True)

    def _start_debates(self) -> bool:
        """Start each debate whose answers have changed since it was last held.

        Returns:
            Whether some of them can only go on in a run.
        """
        needs_run = False
        for job, can_continue in jobs_with_people(self._plan).items():
            debates = self._load_debates(*job) if can_continue else {}
            for place, answers in answers_by_debate(INBOX.joinpath(*job)).items():
                if answers == self._answers_read.get(place) or place in self._open_debates.values():
                    continue
                if place in debates:
                    self._open_debates[asyncio.create_task(debates[place]())] = place
                if place in debates or not can_continue:
                    self._answers_read[place], needs_run = answers, needs_run or not can_continue
        return needs_run

    def _load_debates(self, experiment: str, model: str) -> Mapping[DebateKey, HoldDebate]:
        """Return functions that hold a job's debates; none while a needed file is missing."""
        debated = self._plan.experiments[experiment]
        cases = f"results/cases/{debated.config.dataset}.parquet"
        artifacts = debated.needed_by(model)
        sources = [cases, *(f"results/{path}" for path in artifacts.values())]
        digests = {path: read_digests(Path(path)) for path in sources}
        last_digests, debates = self._jobs.get((experiment, model), ({}, {}))
        if digests != last_digests:
            debates = {}
            expected = self._read_digests()
            if all(digests.values()) and digests[cases] == expected.get(cases):
                paths = {name: Path("results", path) for name, path in artifacts.items()}
                models = self._plan.models_in_job(experiment, model)
                loaded = read_cases(Path(cases))
                job = Job(self._plan.config, debated, models, *loaded, artifacts=paths)
                held = prepare_debates(job, self._chats, self._ledger)
                for (case_id, repeat), hold in held.items():
                    debates[case_folder(experiment, model, case_id), repeat] = hold
            self._jobs[experiment, model] = digests, debates
        return debates

    def _is_behind(self, folder: Path) -> bool:
        """Return whether all debates of a job have ended, but its results do not show it."""
        has_open_question = any(
            not answer_file(page).exists() for page in folder.glob(f"*/*{FORM}")
        )
        if has_open_question or any(
            place.parent == folder for place, _ in self._open_debates.values()
        ):
            return False
        job, expected = folder.parts[-2:], self._read_digests()
        answers = {str(path): file_digest(path) for path in answer_files(*job)}
        for shard in targets.shards(self._plan, *job):
            sources = read_sources(Path(shard)).items()
            answers_read = {path: digest for path, digest in sources if is_answer(path)}
            if read_digests(Path(shard)) != expected.get(shard) or answers_read != answers:
                return True
        return False


def is_answer(path: str) -> bool:
    """Return whether a file holds the answer of a person."""
    return Path(path).is_relative_to(INBOX)


def answers_by_debate(folder: Path) -> dict[DebateKey, set[tuple[str, int]]]:
    """Return the name and time of each answer in the folder of a job, by debate."""
    answers: dict[DebateKey, set[tuple[str, int]]] = defaultdict(set)
    for path in folder.glob(f"*/repeat-*{ANSWER}"):
        with suppress(OSError, ValueError):  # removed meanwhile; no answer of ours
            answers[path.parent, int(path.name.split("-")[1])].add(
                (path.name, path.stat().st_mtime_ns)
            )
    return answers
