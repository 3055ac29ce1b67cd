"""What the first page says of failed jobs: the message of each job's log of this run."""

import os
from pathlib import Path

import pytest

from moot.workflow.failed_jobs import UnfinishedJob, describe_failed_jobs


def test_a_failed_job_is_named_with_the_message_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        "a": "12:00:01 started\n12:00:02 moot: config: unknown\n  key\n",
        "b": "Killed",
        "c": "12:00:02 moot: " + 700 * "x",
        "earlier": "12:00:02 moot: mended",
    }
    for name, text in texts.items():
        Path(name).write_text(text)
        os.utime(name, (2, 1 if name == "earlier" else 2))
    jobs = [UnfinishedJob("score", {"experiment": name}, [name]) for name in [*texts, "missing"]]
    assert describe_failed_jobs(jobs, since=2) == [
        "Scores of a: config: unknown key",
        "Scores of b: ended without a message; see b",
        f"Scores of c: {600 * 'x'} ... The rest is in c.",
    ]
