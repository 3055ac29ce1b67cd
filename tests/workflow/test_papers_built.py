"""Items of the papers on a fresh machine, as a user builds them.

They are built from a mirror of the published files, with a model server that is killed in the
middle. Which debates and pages follow a changed prompt is told by test_paper_reruns.

The mirror is a web server on this machine with small files. `data/versions.csv` names it in place
of the publishers, with the checksums of the small files.

Slow: only this test detects a step between the download and the item that works for local files
alone, and a call that is lost or repeated when a server dies.
"""

import csv
import shutil
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from file_servers import serve_folder
from moot.core.artifacts import file_digest
from moot.datasets.download import COLUMNS
from moot.llm.ledger.ledger import Ledger
from moot.studies.courtroom.nlsy97_synthetic import generate_nlsy97
from patience import wait_until
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

CASES = 2
ITEMS = ["courtroom/table5", "decision_conference/table2"]
EXPERIMENTS = ("paper-courtroom", "paper-stance-vast")
CALLS_BEFORE_THE_KILL = 8
PEOPLE = "nlsy97/nlsy97_full.csv"
CLAIMS = "claim_stance/claim_stance_dataset_v1.csv"
MEMBER = "release/claims.csv"
"""The claims are a member of a zip file, as their publisher offers them."""


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


def write_versions(path: Path, url: str, archive: Path) -> None:
    """Replace the addresses of `data/versions.csv` by addresses of the mirror.

    The primary addresses are below `/primary/`, the archive's below `/archive/`.
    """
    rows = []
    for file in archive.rglob("*.csv"):
        name, digest = str(file.relative_to(archive)), file_digest(file)
        member = MEMBER if name == CLAIMS else ""
        page = "claims.zip" if member else name
        for role in ("primary", "archive"):
            address = [role, f"{url}/{role}/{page}", f"sha256:{digest}", member]
            rows.append([name.partition("/")[0], name, *address, "free", ""])
    with path.open("w", encoding="utf-8", newline="") as versions:
        csv.writer(versions).writerows([COLUMNS, *rows])


@pytest.fixture(scope="module")
def mirror(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder and address of a mirror with a whole archive.

    At the primary address the claims are missing and the people have changed.
    """
    folder = tmp_path_factory.mktemp("mirror")
    write_mirror(folder / "archive")
    shutil.copytree(folder / "archive/vast", folder / "primary/vast")
    changed = folder / "primary" / PEOPLE
    changed.parent.mkdir()
    changed.write_bytes((folder / "archive" / PEOPLE).read_bytes() + b"\n")
    with serve_folder(folder) as url:
        yield folder, url


def replies_of(workflow: Workflow) -> dict[str, str]:
    """Return each stored reply of the ledger by its key."""
    if not (workflow.work / "data/ledger").exists():
        return {}
    ledger = Ledger(str(workflow.work / "data/ledger"))
    with ledger._engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM calls ORDER BY call_id")
        replies = {bytes(row[0]).hex(): repr(tuple(row)) for row in rows}
    ledger.close()
    return replies


@dataclass(frozen=True)
class Built:
    """A workflow that has built the items, and the replies of the server that was killed."""

    workflow: Workflow
    early_replies: dict[str, str]


@pytest.fixture(scope="module")
def built(mirror: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """The items; the model server is killed while it is asked, and starts again at its address."""
    folder, url = mirror
    with FaultServer(latency=0.05) as server:
        workflow = Workflow(tmp_path_factory.mktemp("fresh"), server.url, analyses=())
        write_versions(workflow.project / "data/versions.csv", url, folder / "archive")
        selection = {"items": ITEMS, "models": ["served"], "cases": CASES}
        workflow.configure({"papers": selection, "models/served/concurrency": 2})
        with ThreadPoolExecutor() as threads:
            run = threads.submit(workflow.run, "papers")
            wait_until(lambda: len(replies_of(workflow)) >= CALLS_BEFORE_THE_KILL, "calls are made")
            server.close()
            early_replies = replies_of(workflow)
            with FaultServer(port=server.port):
                process = run.result()
                assert process.returncode == 0, process.stdout[-4000:]
                yield Built(workflow, early_replies)


def test_no_stored_reply_is_asked_for_again_after_the_server_was_killed(built: Built) -> None:
    replies = replies_of(built.workflow)
    assert len(built.early_replies) < len(replies)
    assert built.early_replies.items() <= replies.items()
    results, used_ids = built.workflow.work / "results", set[str]()
    for experiment in EXPERIMENTS:
        used_ids |= set(pd.read_parquet(results / f"calls/{experiment}/served.parquet")["call_id"])
        predictions = pd.read_parquet(results / f"predictions/{experiment}/served.parquet")
        assert predictions["case_id"].nunique() == CASES
        assert "failed" not in set(predictions["status"])
    assert used_ids == set(replies), "each stored reply belongs to a debate"


@pytest.mark.parametrize("item", ITEMS)
def test_selected_items_have_a_row_of_the_own_model_on_the_papers_data(
    built: Built, item: str
) -> None:
    table = pd.read_csv(built.workflow.work / f"results/papers/{item}.csv")
    rows = table[table["source"] != "published"]
    assert rows["Model"].tolist() == ["served"]
    assert rows.drop(columns=["source", "Model"]).notna().any(axis=None)
    page = built.workflow.work / f"results/papers/{item.partition('/')[0]}.html"
    assert "The paper uses other data" not in page.read_text("utf-8")
