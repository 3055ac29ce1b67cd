"""Every benchmark runs, at a size that measures no speed, and prints the expected numbers.

Slow: only this test detects a benchmark that no longer runs.
"""

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pyarrow.parquet as pq
import pytest

from fault_server import FaultServer
from moot.llm.endpoints import ENDPOINTS

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def benchmark() -> Iterator[object]:
    """Import a benchmark.

    The endpoint that one of them registers is forgotten after this module.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(PROJECT / "benchmarks"))
        patch.setattr(ENDPOINTS, "_entries", {name: ENDPOINTS[name] for name in ENDPOINTS})
        yield importlib.import_module


def test_throughput(benchmark: object) -> None:
    throughput: ModuleType = benchmark("throughput")
    with FaultServer() as server:
        rates = throughput.measure(server.url, 2, 6, 1)
        stats = server.stats()
    assert set(rates) == {"AsyncOpenAI", "AsyncOpenAI, aiohttp", "moot", "bare sockets"}
    assert (stats["requests"], stats["distinct"]) == (
        24,
        6,
    ), "the contenders send the very same requests"
    assert all(rate > 0 and cpu > 0 for rate, cpu in rates.values())


@pytest.mark.parametrize("name", ["makespan", "replay", "memory"])
def test_debates(name: str, benchmark: object, tmp_path: Path) -> None:
    debates: ModuleType = benchmark("debates")
    measure, _, small_sizes = debates.MEASUREMENTS[name]
    line = measure(tmp_path, *small_sizes)
    assert re.search(r"\d", line), line
    assert line.split()[0] in ("makespan", "replay", "memory")


def test_the_page_of_many_debates(benchmark: object, tmp_path: Path) -> None:
    reader: ModuleType = benchmark("reader")
    assert re.fullmatch(r"reader: 20 debates, \d\.\d MB, .*", reader.measure(tmp_path, 20))


def test_the_published_table_of_replies_equals_the_scripts_counts(benchmark: object) -> None:
    reply_reading: ModuleType = benchmark("reply_reading")
    page = (PROJECT / "docs/faults.md").read_text(encoding="utf-8")
    assert reply_reading.render_section() in page
    assert reply_reading.replace_section(page) == page
    assert sum(counter["misread"] for counter in reply_reading.count_natural().values()) == 0


def test_the_ledger_stores_fewer_bytes_than_it_receives(benchmark: object, tmp_path: Path) -> None:
    ledger: ModuleType = benchmark("ledger")
    (line,) = ledger.measure(str(tmp_path), [700])
    bytes_per_call = (tmp_path / "ledger.sqlite").stat().st_size / 700
    assert line[0] == 700 and bytes_per_call < 0.5 * line[1] and min(line[2:]) > 0


def test_jobs_that_share_a_model(benchmark: object) -> None:
    jobs: ModuleType = benchmark("jobs")
    rate, processor = jobs.measure_once(
        "", 2, 4, 8, 0.0
    )  # it counts the calls that the ledger then holds
    assert rate > 0 and processor > 0


def test_every_stage_runs_over_made_up_debates_in_shards(
    benchmark: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scale: ModuleType = benchmark("scale")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scale, "TEMPLATES", 3)
    scale.make(40, 4)
    plan = scale.Plan.from_yaml(scale.settings(4), PROJECT)
    for stage in ("predict", "score"):
        scale.STAGES[stage](plan, 4)
    assert (
        len(pq.read_table(scale.PREDICTIONS)) == 40 and len(pq.read_table(scale.CALLS)) == 40 * 19
    )
    utterance_count = sum(len(pq.read_table(shard)) for shard in scale._shards(4))
    assert utterance_count == 40 * 20
