"""Kill a courtroom shard at many moments and compare it with an undisturbed one.

A test makes a few kills, a benchmark many.
"""

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

from courtroom_runs import MODEL, PROJECT, configuration, hold, people, start_job
from fault_server import FaultServer
from invented_replies import digest_of
from moot.llm.endpoints.openai import OpenAIEndpoint
from moot.llm.ledger.ledger import Ledger
from moot.llm.request import Message, Request
from moot.plan.plan import Plan

DEBATES, CONCURRENCY = 12, 8
CALLS = 16 * DEBATES


def durable_digests(config: dict[str, Any]) -> set[str]:
    """Return the digests that the server computes for the requests in the ledger."""
    endpoint = OpenAIEndpoint(Plan.from_yaml(config, PROJECT).config.models[MODEL], 1)
    ledger = Ledger(config["ledger"])
    with ledger._engine.connect() as connection:
        call_ids = [
            bytes(row[0]).hex() for row in connection.exec_driver_sql("SELECT call_id FROM calls")
        ]
    entries = list(ledger.entries(call_ids))
    assert len(entries) == ledger.read_totals().calls
    ledger.close()
    digests = set()
    for entry in entries:
        request = json.loads(entry.request)
        assert request.pop("served_as").startswith("http://127.0.0.1:")
        request["messages"] = tuple(Message(*message) for message in request["messages"])
        digests.add(digest_of(endpoint.body(Request(**request))))
    return digests


def kill_and_compare(server: FaultServer, folder: Path, kills: int) -> int:
    """Kill a job at `kills` moments and compare its results with an undisturbed job.

    Returns the number of repeated calls.
    """
    cases = people(folder / "cases.parquet", DEBATES)
    server.reset(latency=0.02)
    undisturbed = configuration(server.url, folder / "undisturbed", {"concurrency": CONCURRENCY})
    hold(undisturbed, cases, folder / "undisturbed.parquet")
    assert server.count() == CALLS

    server.reset()
    config = configuration(server.url, folder / "killed", {"concurrency": CONCURRENCY})
    output = folder / "killed.parquet"
    moments = sorted(random.Random(7).sample(range(2, CALLS - CONCURRENCY), kills))
    observations = []
    for moment in moments:
        process = start_job(config, cases, output)
        server.wait_for(max(moment, server.count() + 1))
        assert process.pid
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL
        assert not output.exists()
        observations.append((durable_digests(config), server.stats()["by_digest"]))
    hold(config, cases, output)

    final = server.stats()["by_digest"]
    assert len(final) == CALLS
    for durable, requests in observations:
        assert {digest: final[digest] for digest in durable} == {
            digest: requests[digest] for digest in durable
        }
    # Only calls in flight are repeated: at most `concurrency` calls a kill.
    assert 0 < sum(final.values()) - CALLS <= kills * CONCURRENCY
    assert output.read_bytes() == (folder / "undisturbed.parquet").read_bytes()
    return sum(final.values()) - CALLS
