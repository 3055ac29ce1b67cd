"""Items of the papers on a fresh machine: from a mirror of the published files to the tables.

The mirror is a web server on this machine with small files. `data/versions.csv` names it in place
of the publishers, with the checksums of the small files.

Slow: only this test detects a step between the download and the item that works for local files
alone.
"""

import csv
import hashlib
import shutil
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fault_server import FaultServer
from moot.datasets.download import COLUMNS
from moot.studies.courtroom.nlsy97_synthetic import generate_nlsy97
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

ITEMS = {
    "courtroom/table5": "nlsy97",
    "decision_conference/table2": "vast",
    "decision_conference/table3": "claim_stance",
}
"""An item to its data set."""
PEOPLE = "nlsy97/nlsy97_full.csv"
CLAIMS = "claim_stance/claim_stance_dataset_v1.csv"
MEMBER = "release/claims.csv"
"""The claims are a member of a zip file, as their publisher offers them."""


class QuietHandler(SimpleHTTPRequestHandler):
    """A handler of a folder's files that prints nothing."""

    # The base class has the parameter `format`.
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve the files of a folder, and yield the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def write_mirror(folder: Path) -> None:
    """Write small files of all data sets."""
    samples = PROJECT / "data/samples"
    (folder / PEOPLE).parent.mkdir(parents=True)
    generate_nlsy97(1, 60).to_csv(folder / PEOPLE, index=False)
    shutil.copytree(samples / "vast", folder / "vast")
    (folder / CLAIMS).parent.mkdir()
    shutil.copy(samples / CLAIMS, folder / CLAIMS)
    with zipfile.ZipFile(folder / "claims.zip", "w") as archive:
        archive.write(folder / CLAIMS, MEMBER)


def digests_of(folder: Path) -> dict[str, str]:
    """Return the sha256 of each file of a data set by its path in a folder."""
    digests = {}
    for path in folder.rglob("*.csv"):
        digests[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests


def write_versions(path: Path, url: str, digests: dict[str, str]) -> None:
    """Replace the addresses of `data/versions.csv` by addresses of the mirror.

    The primary addresses are below `/primary/`, the archive's below `/archive/`.
    """
    rows = []
    for name, digest in digests.items():
        member = MEMBER if name == CLAIMS else ""
        page = "claims.zip" if member else name
        for role in ("primary", "archive"):
            address = [role, f"{url}/{role}/{page}", f"sha256:{digest}", member]
            rows.append([name.partition("/")[0], name, *address, "free", ""])
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


def selection(**changes: Any) -> dict[str, Any]:
    """Return a configuration that selects the items, each on the paper's own data."""
    return {"papers": {"items": list(ITEMS), "models": ["served"], "cases": 2, **changes}}


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of a mirror with a whole archive and an empty primary address, and its address."""
    folder = tmp_path_factory.mktemp("mirror")
    write_mirror(folder / "archive")
    (folder / "primary").mkdir()
    with serve_folder(folder) as url:
        yield folder, url


def mirrored_workflow(folder: Path, url: str, server: FaultServer, archive: Path) -> Workflow:
    """Return a copy of the project whose published files come from a mirror."""
    workflow = Workflow(folder, server.url, analyses=())
    write_versions(workflow.project / "data/versions.csv", url, digests_of(archive))
    workflow.configure(selection())
    return workflow


@pytest.fixture(scope="module")
def built(
    mirror: tuple[Path, str], server: FaultServer, tmp_path_factory: pytest.TempPathFactory
) -> Workflow:
    """The items, where a primary address lacks the claims and has changed people."""
    folder, url = mirror
    shutil.copytree(folder / "archive/vast", folder / "primary/vast")
    changed = folder / "primary" / PEOPLE
    changed.parent.mkdir()
    changed.write_bytes((folder / "archive" / PEOPLE).read_bytes() + b"\n")
    workflow = mirrored_workflow(tmp_path_factory.mktemp("fresh"), url, server, folder / "archive")
    process = workflow.run("papers")
    assert process.returncode == 0, process.stdout[-4000:]
    return workflow


@pytest.mark.parametrize(
    ("dataset", "role"), [("nlsy97", "archive"), ("vast", "primary"), ("claim_stance", "archive")]
)
def test_the_archive_is_used_where_a_primary_file_is_changed_or_missing(
    built: Workflow, dataset: str, role: str
) -> None:
    record = pd.read_csv(built.work / f"results/downloads/{dataset}.csv")
    assert {url.split("/")[3] for url in record["url"]} == {role}
    for path, digest in zip(record["path"], record["sha256"], strict=True):
        content = (built.work / path).read_bytes()
        assert hashlib.sha256(content).hexdigest() == digest


@pytest.mark.parametrize("item", ITEMS)
def test_items_use_the_papers_data(built: Workflow, item: str) -> None:
    rows = pd.read_csv(built.work / f"results/papers/{item}.csv")
    own = rows[rows["source"] != "published"]
    assert own["Model"].tolist() == ["served"]
    page = (built.work / f"results/papers/{item.partition('/')[0]}.html").read_text("utf-8")
    assert "The paper uses other data" not in page


def test_a_second_run_downloads_nothing(built: Workflow) -> None:
    assert not built.jobs("papers") & {"download", "load_cases", "run_debates"}


def test_files_that_changed_everywhere_stop_the_run_before_a_call(
    mirror: tuple[Path, str], server: FaultServer, tmp_path: Path
) -> None:
    folder, url = mirror
    archive = tmp_path / "archive"
    shutil.copytree(folder / "archive", archive)
    (archive / PEOPLE).write_bytes(b"id\n1\n")
    workflow = mirrored_workflow(tmp_path / "workflow", url, server, archive)
    workflow.configure(selection(items=["courtroom/table5"]))
    calls = server.count()
    process = workflow.run("papers", "--retries", "0")
    assert process.returncode != 0
    assert PEOPLE in process.stdout and "sha256" in process.stdout, process.stdout[-3000:]
    assert server.count() == calls
    assert not (workflow.work / "data/raw" / PEOPLE).exists()
    assert not (workflow.work / "results/papers").exists()
