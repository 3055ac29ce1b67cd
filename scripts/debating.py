"""Continue the debates of a stored plan as people answer.

A desk starts this script and writes a line to it after each answer.
"""

import asyncio
import os
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

from moot.core.log import job_log
from moot.core.model_config import ModelConfig
from moot.desk.debating import Debating, jobs_with_people
from moot.llm.chat import Settings, open_chats
from moot.llm.ledger.ledger import Ledger
from moot.llm.progress import Progress
from moot.plan.plan_cache import read_plan, read_plan_digests


async def hold_debates(path: Path) -> None:
    """Hold the debates of a stored plan until the plan changes or the desk's process ends."""
    key, load = read_plan(path)
    plan, loop = load(), asyncio.get_running_loop()
    news = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(news), sys.stdin)
    jobs = [job for job, goes_on_here in jobs_with_people(plan).items() if goes_on_here]
    models = dict[str, ModelConfig]()
    for job in jobs:
        models |= plan.models_in_job(*job)
    threads = plan.threads(models, os.cpu_count() or 1)
    with closing(Ledger(plan.config.ledger)) as ledger:
        settings = Settings(plan.config.replay, plan.config.budget, threads)
        async with open_chats(models, ledger, settings, Progress("the desk's debates")) as chats:
            debating = Debating(plan, ledger, chats, partial(read_plan_digests, path))
            await debating.go_on(news, lambda: path.exists() and read_plan(path)[0] == key)


if __name__ == "__main__":
    with job_log(os.devnull):
        asyncio.run(hold_debates(Path(sys.argv[1])))
