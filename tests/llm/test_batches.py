"""Batches of the provider give the same replies as single calls, and are submitted once.

Slow: only these tests detect batches that a killed process submits again.
"""

import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from batch_server import LINE_FAULTS
from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, hold, people, start_job
from fault_server import FaultServer
from messages import refusal
from moot.commands.preview import preview
from moot.core.errors import RunStoppedError
from moot.core.utterance_kinds import CONCLUSION, REPLY_PENDING
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan
from patience import PATIENCE, wait_until

DEBATES, WAVES, LONG_DELAY = 5, 7, 36_000
PRICE = {"input": 2.0, "output": 10.0}
BATCH_OPTIONS = {"poll_seconds": 0.02}


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people(tmp_path_factory.mktemp("cases") / "cases.parquet", DEBATES)


def courtroom(server: FaultServer, folder: Path, batch: Any = None, **model: Any) -> dict[str, Any]:
    """Return the configuration of a trial of seven turns: as many calls in sequence."""
    entry = {"price": PRICE, "batch": BATCH_OPTIONS if batch is None else batch, **model}
    params = {"strategy": "none", "beliefs": "none"}
    return configuration(server.url, folder, entry, experiment={"params": params})


@pytest.fixture(scope="module")
def single(
    server: FaultServer, cases: Path, tmp_path_factory: pytest.TempPathFactory
) -> pd.DataFrame:
    """Hold the debates by single calls."""
    folder = tmp_path_factory.mktemp("single")
    return hold(courtroom(server, folder, False), cases, folder / "out.parquet")


@pytest.fixture(autouse=True)
def reset_batch_settings(server: FaultServer) -> None:
    fresh = {
        "ends": None,
        "upload_delay": [],
        "create_delay": [],
        "lines": [],
        "rate": 0.2,
        "status": "completed",
    }
    fresh |= {"create_late": 0.0, "keeps_files": False, "drops": [], "refusal_status": 0}
    server.reset(**{f"batch_{name}": value for name, value in fresh.items()})


def batch_stats(server: FaultServer) -> dict[str, Any]:
    stats = server.stats()["batches"]
    assert isinstance(stats, dict)
    return stats


def test_a_wave_is_one_batch_at_half_the_price(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    config = courtroom(server, tmp_path)
    batched = hold(config, cases, tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(batched, single)
    stats = batch_stats(server)
    assert stats["sizes"] == [DEBATES] * WAVES
    assert set(stats["lines"].values()) == {1}
    assert server.count() == len(stats["lines"]) == DEBATES * WAVES  # no single calls
    ledger = Ledger(config["ledger"])
    replies = ledger.replies(list(batched["call_id"]))
    model = Plan.from_yaml(courtroom(server, tmp_path, False), PROJECT).config.models[MODEL]
    for reply in replies.values():
        assert reply.cost_usd == pytest.approx(
            0.5 * model.cost(reply.prompt_tokens, reply.completion_tokens)
        )
        assert reply.service_tier == "batch"
    ledger.close()
    repeated = hold(courtroom(server, tmp_path, False), cases, tmp_path / "again.parquet")
    pd.testing.assert_frame_equal(repeated, single)  # single calls use the replies of batches
    assert server.count() == DEBATES * WAVES


def test_faulty_lines_are_repeated_in_the_next_batch(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    server.reset(batch_lines=LINE_FAULTS, batch_rate=0.6)
    config = courtroom(
        server, tmp_path, {**BATCH_OPTIONS, "max_calls": 3, "max_concurrent": 1}, attempts=20
    )
    pd.testing.assert_frame_equal(hold(config, cases, tmp_path / "out.parquet"), single)
    stats = batch_stats(server)
    assert max(stats["sizes"]) == 3
    assert max(stats["lines"].values()) > 1
    assert len(stats["lines"]) == DEBATES * WAVES


def test_expired_lines_are_repeated(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    server.reset(batch_status="expired")
    pd.testing.assert_frame_equal(
        hold(courtroom(server, tmp_path), cases, tmp_path / "out.parquet"), single
    )
    assert sum(batch_stats(server)["lines"].values()) > DEBATES * WAVES
    assert server.count() == DEBATES * WAVES  # every answer of the server was used


def test_a_batch_without_answers_fails_its_calls(
    server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    server.reset(batch_lines=["missing"], batch_rate=1.0)
    debates = hold(courtroom(server, tmp_path, attempts=2), cases, tmp_path / "out.parquet")
    conclusions = debates[debates["kind"] == CONCLUSION]
    assert all("ended (completed) without a reply" in parsed for parsed in conclusions["parsed"])
    assert set(batch_stats(server)["lines"].values()) == {2}


KILLS = {
    "while the batch is under way": (
        {"ends": 1},
        lambda stats: stats["batches"] == 2 and stats["polls"] >= 4,
    ),
    "between upload and creation": (
        {"upload_delay": [0, 0, LONG_DELAY]},
        lambda stats: stats["uploads"] == 3,
    ),
    "before the batch has a name": (
        {"create_delay": [0, LONG_DELAY]},
        lambda stats: stats["batches"] == 2,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("moment", KILLS)
def test_a_killed_job_submits_no_batch_twice(
    moment: str, server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    settings, is_reached = KILLS[moment]
    server.reset(**{f"batch_{name}": value for name, value in settings.items()})
    config, output = courtroom(server, tmp_path), tmp_path / "out.parquet"
    process = start_job(config, cases, output)
    wait_until(lambda: is_reached(batch_stats(server)))
    assert process.pid
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    assert not output.exists()
    server.reset(
        keep=True,
        batch_keeps_files=True,
        batch_ends=None,
        batch_upload_delay=[],
        batch_create_delay=[],
    )
    pd.testing.assert_frame_equal(hold(config, cases, output), single)
    stats = batch_stats(server)
    assert set(stats["lines"].values()) == {1}
    assert stats["sizes"] == [DEBATES] * WAVES
    assert stats["uploads"] == WAVES + (moment == "between upload and creation")


@pytest.mark.slow
def test_a_batch_that_the_provider_creates_late_is_withdrawn(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    server.reset(batch_create_late=3.0)
    config, output = courtroom(server, tmp_path), tmp_path / "out.parquet"
    process = start_job(config, cases, output)
    wait_until(lambda: batch_stats(server)["creation_requests"] == 1)
    assert process.pid
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    server.reset(keep=True, batch_create_late=0.0)
    pd.testing.assert_frame_equal(hold(config, cases, output), single)
    wait_until(lambda: batch_stats(server)["created"] == batch_stats(server)["creation_requests"])
    assert set(batch_stats(server)["lines"].values()) == {1}


def test_a_large_wave_is_split_into_files_of_the_allowed_size(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, max_bytes = 60, 18_000
    monkeypatch.setattr("moot.llm.batches.batches.MAX_BYTES", max_bytes)
    cases = people(tmp_path / "cases.parquet", count)
    config = courtroom(server, tmp_path, {**BATCH_OPTIONS, "max_concurrent": 2})
    config["experiments"][EXPERIMENT] = {
        "protocol": "zero_shot",
        "dataset": "people",
        "models": [MODEL],
    }
    transcripts = hold(config, cases, tmp_path / "out.parquet")
    stats = batch_stats(server)
    assert len(stats["sizes"]) > 2 and sum(stats["sizes"]) == len(stats["lines"]) == count
    assert max(stats["bytes"]) <= max_bytes < sum(stats["bytes"])
    assert set(stats["lines"].values()) == {1}
    conclusions = transcripts.loc[transcripts["kind"] == CONCLUSION, "parsed"]
    assert {json.loads(parsed)["status"] for parsed in conclusions} <= {"valid", "invalid"}


def test_without_waiting_each_run_completes_one_wave(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    config = courtroom(server, tmp_path, {"wait": False})
    output = tmp_path / "out.parquet"
    server.reset(batch_ends=0)
    for _ in range(2):  # the second run finds the batch still under way
        transcripts = hold(config, cases, output)
        reasons = transcripts.loc[transcripts["kind"] == CONCLUSION, "parsed"]
        assert len(reasons) == DEBATES
        assert all(
            '"status": "waiting"' in parsed and f"{REPLY_PENDING}batch_0" in parsed
            for parsed in reasons
        )
    assert batch_stats(server)["sizes"] == [DEBATES]
    for wave in range(1, WAVES + 1):
        assert '"status": "waiting"' in "".join(transcripts["parsed"].dropna())
        server.reset(keep=True, batch_ends=wave)
        transcripts = hold(config, cases, output)
    pd.testing.assert_frame_equal(transcripts, single)
    assert set(batch_stats(server)["lines"].values()) == {1}


@pytest.mark.slow
def test_replies_of_an_unused_batch_are_stored(
    server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    server.reset(batch_ends=0)
    hold(courtroom(server, tmp_path, {"wait": False}), cases, tmp_path / "out.parquet")
    assert Ledger(str(tmp_path / "ledger")).read_totals().calls == 0
    server.reset(keep=True, batch_ends=None)
    changed_config = courtroom(server, tmp_path)
    changed_config["seed"] = 2
    hold(changed_config, cases, tmp_path / "other.parquet")
    assert Ledger(str(tmp_path / "ledger")).read_totals().calls == DEBATES * WAVES + DEBATES


@pytest.mark.slow
def test_a_lost_response_is_looked_up_before_a_retry(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    server.reset(batch_drops=["batches", "files"])
    pd.testing.assert_frame_equal(
        hold(courtroom(server, tmp_path), cases, tmp_path / "out.parquet"), single
    )
    assert set(batch_stats(server)["lines"].values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"refusal_status": 400},
        {"status": "failed"},
        {"status": "cancelled"},
    ],
)
def test_a_rejected_batch_stops_the_run_with_a_remedy(
    settings: dict[str, Any],
    server: FaultServer,
    cases: Path,
    single: pd.DataFrame,
    tmp_path: Path,
) -> None:
    server.reset(**{f"batch_{name}": value for name, value in settings.items()})
    config = courtroom(server, tmp_path)
    with refusal(RunStoppedError):
        hold(config, cases, tmp_path / "out.parquet")
    server.reset(keep=True, batch_refusal_status=0, batch_status="completed")
    pd.testing.assert_frame_equal(hold(config, cases, tmp_path / "out.parquet"), single)
    assert server.count() == DEBATES * WAVES


def test_a_budget_holds_for_a_whole_wave(server: FaultServer, cases: Path, tmp_path: Path) -> None:
    config = {**courtroom(server, tmp_path), "budget": {"calls": 2 * DEBATES + 1}}
    with pytest.raises(RunStoppedError, match="budget"):
        hold(config, cases, tmp_path / "out.parquet")
    assert batch_stats(server)["sizes"] == [DEBATES] * 2
    assert Ledger(config["ledger"]).read_totals().calls == 2 * DEBATES


def test_seats_of_another_model_make_single_calls_between_the_waves(
    server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    server.reset(latency=0.1)
    config = courtroom(server, tmp_path)
    config["models"]["judge"] = {
        **config["models"][MODEL],
        "served_as": "judge",
        "batch": False,
        "concurrency": 2,
    }
    config["experiments"][EXPERIMENT]["params"]["seats"] = {"judge": "judge"}
    debates = hold(config, cases, tmp_path / "out.parquet")
    stats = batch_stats(server)
    assert set(stats["sizes"]) == {DEBATES}  # a wave begins after all calls of the last one
    judged = debates[(debates["speaker"] == "judge") & (debates["source"] == "model")]
    assert (
        len(stats["lines"]) + len(judged) == server.count() == (debates["source"] == "model").sum()
    )
    server.reset(latency=0.0)


@pytest.mark.slow
def test_a_command_of_the_user_answers_a_folder_of_files(
    server: FaultServer, cases: Path, single: pd.DataFrame, tmp_path: Path
) -> None:
    files = tmp_path / "files"
    config = courtroom(server, tmp_path, {"folder": str(files), "wait": False})
    for wave in range(1, WAVES + 2):
        transcripts = hold(config, cases, tmp_path / "out.parquet")
        pending = [
            path for path in files.glob("*.jsonl") if not path.with_suffix(".output.jsonl").exists()
        ]
        pending = [path for path in pending if not path.name.endswith(".output.jsonl")]
        assert len(pending) == (wave <= WAVES)
        for path in pending:
            answer_lines = [
                answer_line(server.url, line) for line in path.read_bytes().splitlines()
            ]
            content = b"\n".join(answer_lines) + b"\n"
            output = path.with_suffix(".output.jsonl")
            output.write_bytes(content[: len(content) // 2])  # still being written
            transcripts = hold(config, cases, tmp_path / "out.parquet")
            assert "lines answered" in "".join(transcripts["parsed"].dropna())
            output.write_bytes(content)
    pd.testing.assert_frame_equal(transcripts, single)


def answer_line(url: str, line: bytes) -> bytes:
    """Return the line of output that `vllm run-batch` writes for a line of input."""
    call = json.loads(line)
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(call["body"]).encode())
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        response = {"status_code": 200, "request_id": "r", "body": json.load(answer)}
    return json.dumps(
        {"id": "v", "custom_id": call["custom_id"], "response": response, "error": None}
    ).encode()


def test_a_preview_shows_the_discounted_price_and_the_waves(
    server: FaultServer, cases: Path, tmp_path: Path
) -> None:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "people.parquet").write_bytes(cases.read_bytes())
    batched, unbatched = (
        preview(Plan.from_yaml(courtroom(server, tmp_path, batch), PROJECT), tmp_path).iloc[0]
        for batch in (BATCH_OPTIONS, False)
    )
    assert batched["waves"] == WAVES and pd.isna(unbatched["waves"])
    assert 0 < batched["usd"] == pytest.approx(unbatched["usd"] / 2, abs=1e-4)
    assert server.count() == 0
