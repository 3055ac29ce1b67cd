"""A run whose files are in an object store leaves there what a run on a disk leaves.

The store is one on this machine.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake.iocontainers import Namedlist

from fault_server import FaultServer
from messages import refusal
from moot.workflow.job import link_results, use_result_paths
from project_copy import PROJECT, Workflow, unedited_copy

MISSING = "needs moto[server] and snakemake-storage-plugin-s3"
BUCKET, PREFIX = "moot", "run"
TARGETS = ("results/reader/courtroom.html", "results/outcome/courtroom.csv")
LOCAL = ("logs/", "configuration.json")
"""What a run leaves beside its outputs, and logs, which hold times."""
KEY = {"aws_access_key_id": "x", "aws_secret_access_key": "y", "region_name": "us-east-1"}


def test_files_of_a_job_are_named_from_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copies = ".snakemake/storage/s3/moot/run/"
    inputs = Namedlist(
        fromdict={"cases": f"{copies}results/cases/a.parquet", "own": "/shipped/own.csv"}
    )
    job: Any = SimpleNamespace(
        input=inputs,
        output=Namedlist(toclone=[f"{copies}results/scores/results.parquet"]),
        log=Namedlist(toclone=[f"{copies}results/logs/scores/results.log"]),
    )
    use_result_paths(job)
    assert (job.input.cases, job.input.own) == ("results/cases/a.parquet", "/shipped/own.csv")
    assert list(job.input) == [job.input.cases, job.input.own]
    assert (*job.output, *job.log) == (
        "results/scores/results.parquet",
        "results/logs/scores/results.log",
    )
    assert Path("results").resolve() == tmp_path / copies / "results"
    use_result_paths(job)
    assert job.input.cases == "results/cases/a.parquet"
    with refusal():
        link_results(Path("elsewhere/results"))


@pytest.fixture
def store() -> Iterator[str]:
    server = pytest.importorskip("moto.server", reason=MISSING).ThreadedMotoServer(
        port=0, verbose=False
    )
    pytest.importorskip("snakemake_storage_plugin_s3", reason=MISSING)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host.replace('0.0.0.0', '127.0.0.1')}:{port}"
    server.stop()


@pytest.mark.slow
def test_a_run_in_an_object_store_has_the_same_results_as_on_disk(
    store: str, tmp_path: Path
) -> None:
    import boto3

    client = boto3.client("s3", endpoint_url=store, **KEY)
    client.create_bucket(Bucket=BUCKET)
    arguments = (
        *("--profile", str(PROJECT / "profiles/s3")),
        *("--default-storage-prefix", f"s3://{BUCKET}/{PREFIX}"),
        *("--storage-s3-endpoint-url", store),
    )
    keys = {"SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "x", "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "y"}
    with FaultServer() as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        workflow.configure({"run": ["single"]})
        process = workflow.run(*TARGETS)
        assert process.returncode == 0, process.stdout[-6000:]
        request_count = server.count()
        disk = shutil.move(workflow.work / "results", tmp_path / "disk")
        process = workflow.run(*TARGETS, *arguments, **keys)
        assert process.returncode == 0, process.stdout[-6000:]
        assert server.count() == request_count, "all replies are in the ledger"
        assert "Nothing to be done" in workflow.run(*TARGETS, *arguments, **keys).stdout
    names = []
    for path in disk.rglob("*"):
        name = path.relative_to(disk).as_posix()
        if path.is_file() and not name.startswith(LOCAL):
            stored = client.get_object(Bucket=BUCKET, Key=f"{PREFIX}/results/{name}")
            assert stored["Body"].read() == path.read_bytes(), name
            names.append(name)
    assert set(TARGETS) <= {f"results/{name}" for name in names}
