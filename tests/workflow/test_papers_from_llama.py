"""Items of the courtroom and of stance by a real llama.cpp server, killed in the middle.

Slow: only this test detects a call that is lost or repeated when a real server dies.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pandas as pd
import pytest

from llama_server import LlamaServer, write_tiny_llama
from moot.llm.ledger.ledger import Ledger
from patience import wait_until
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

CASES = 2
EXPERIMENTS = ("paper-courtroom", "paper-stance-vast")
CALLS = 17 * CASES
"""Sixteen of a debate and one of a label, if each reply has the form that is asked for."""
ITEMS = ("courtroom/table5", "decision_conference/table2")
CALLS_BEFORE_THE_KILL = 6


def count_calls(workflow: Workflow) -> int:
    """Return the number of replies in the ledger."""
    folder = workflow.work / "data/ledger"
    if not folder.exists():
        return 0
    ledger = Ledger(str(folder))
    calls = int(ledger.read_totals().calls)
    ledger.close()
    return calls


def replies_of(workflow: Workflow) -> dict[str, bytes]:
    """Return each stored reply of the ledger by its key."""
    ledger = Ledger(str(workflow.work / "data/ledger"))
    with ledger._engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM calls ORDER BY call_id")
        replies = {bytes(row[0]).hex(): repr(tuple(row)).encode() for row in rows}
    ledger.close()
    return replies


def test_items_continue_after_a_killed_server(tmp_path: Path) -> None:
    model = write_tiny_llama(tmp_path / "tiny.gguf")
    with closing(LlamaServer(model)) as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        workflow.configure(
            {
                "papers": {
                    "items": list(ITEMS),
                    "models": ["served"],
                    "cases": CASES,
                    "datasets": {"nlsy97": "synthetic", "vast": "sample"},
                },
                "models/served/max_tokens": 400,
                "models/served/concurrency": 1,
            }
        )
        with ThreadPoolExecutor() as threads:
            run = threads.submit(workflow.run, "papers")
            wait_until(lambda: count_calls(workflow) >= CALLS_BEFORE_THE_KILL, "calls are made")
            server.close()
            replies = replies_of(workflow)
            assert CALLS_BEFORE_THE_KILL <= len(replies) < CALLS
            with closing(LlamaServer(model, server.port)):
                process = run.result()
    assert process.returncode == 0, process.stdout[-4000:]
    replies_after = replies_of(workflow)
    assert replies.items() <= replies_after.items(), "no stored reply was asked for again"
    used: set[str] = set()
    for experiment in EXPERIMENTS:
        results = workflow.work / "results"
        used |= set(pd.read_parquet(results / f"calls/{experiment}/served.parquet")["call_id"])
        predictions = pd.read_parquet(results / f"predictions/{experiment}/served.parquet")
        assert predictions["case_id"].nunique() == CASES
        for shard in (results / f"transcripts/{experiment}/served").glob("*.parquet"):
            assert "failed" not in set(pd.read_parquet(shard)["parse_status"])
    assert used == set(replies_after), "each stored reply belongs to a debate"

    table = pd.read_csv(workflow.work / "results/papers/courtroom/table5.csv")
    assert table[table["source"] != "published"]["Model"].tolist() == ["served"]
    page = workflow.work / "results/papers/decision_conference.html"
    section = page.read_text("utf-8").partition('<section id="table2">')[2]
    section = section.partition("</section>")[0]
    assert "served" in section and "no valid answer" in section, "gibberish is no label"
