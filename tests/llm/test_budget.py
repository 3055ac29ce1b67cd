"""The budget is a hard stop that loses nothing, across processes."""

from pathlib import Path

import pytest

from courtroom_runs import configuration, hold, people, start_job
from fault_server import FaultServer
from moot.core.errors import RunStoppedError
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.reservations import Reservation, Totals, find_limit_error
from moot.llm.request import Reply
from patience import PATIENCE

PRICE = {"price": {"input": 100.0, "output": 400.0}, "max_tokens": 60}


def test_the_run_stops_before_the_limit_and_continues_after_it_is_raised(
    server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 10)
    server.reset(faults=[])
    config = configuration(server.url, tmp_path, PRICE, budget={"usd": 2.0})
    with pytest.raises(
        RunStoppedError, match=r"could pass the limit of 2 usd\. Spent so far"
    ) as stop:
        hold(config, cases, tmp_path / "out.parquet")
    totals = Ledger(config["ledger"]).read_totals()
    assert 1.5 < totals.usd <= 2.0
    assert "run again to go on" in str(stop.value)
    assert totals.calls == server.stats()["replies"] == server.stats()["requests"]
    assert not (tmp_path / "out.parquet").exists()
    hold({**config, "budget": {}}, cases, tmp_path / "out.parquet")
    assert server.stats()["requests"] == 160


def test_four_processes_share_one_budget(server: FaultServer, tmp_path: Path) -> None:
    cases = people(
        tmp_path / "cases.parquet", 96
    )  # no shard is done within the budget, however early its job starts
    server.reset(faults=[], latency=0.02)
    config = configuration(server.url, tmp_path, budget={"calls": 101}, shards=4)
    jobs = [
        start_job(config, cases, tmp_path / f"{shard}.parquet", 10.0, shard) for shard in range(4)
    ]
    for job in jobs:
        job.join(PATIENCE)
    assert [job.exitcode for job in jobs] == [1, 1, 1, 1]
    assert Ledger(config["ledger"]).read_totals().calls == server.stats()["requests"] == 101
    server.reset(latency=0.0)
    for shard in range(4):
        last = (tmp_path / f"{shard}.parquet.log").read_text().splitlines()[-1]
        assert "the limit of 101 calls" in last


@pytest.mark.parametrize("name", ["calls", "tokens", "usd"])
def test_each_limit_counts_what_is_spent_and_what_is_reserved(name: str) -> None:
    spent, reserved = Totals(10, 1000, 1.0), Totals(2, 200, 0.2)
    needed = {"calls": 13, "tokens": 1300, "usd": 1.3}[name]
    for limit, is_stopped in ((needed, False), (needed * 0.99, True)):
        reservation = Reservation("id", 100, 0.1, 60.0, {name: limit})
        error = find_limit_error(spent, reserved, reservation)
        assert (error is not None) == is_stopped
        assert error is None or name in str(error)


def test_a_reservation_of_a_process_that_died_runs_out(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    limits = {"calls": 1.0}
    assert ledger._reserve([Reservation("dead", 10, 0.0, -1.0, limits)]) == [None]
    first, second = ledger._reserve(
        [Reservation("a", 1, 0.0, 60.0, limits), Reservation("b", 1, 0.0, 60.0, limits)]
    )
    assert first is None
    assert isinstance(second, RunStoppedError)
    assert ledger._reserve([Reservation("a", 1, 0.0, 60.0, limits)]) == [None], (
        "a call's own reservation is no other"
    )


def test_totals_count_each_reply_once(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    entries = [
        Entry(
            f"{n:064d}",
            "m",
            "{}",
            0,
            Reply("x", prompt_tokens=2, completion_tokens=1, cost_usd=0.5),
        )
        for n in range(3)
    ]
    assert ledger.store(entries[:2]) == {}
    assert set(ledger.store(entries)) == {f"{n:064d}" for n in range(3)}
    assert ledger.read_totals() == Totals(3, 9, 1.5)
    ledger.close()
