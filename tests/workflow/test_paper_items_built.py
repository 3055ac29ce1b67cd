"""Items of the papers, built by Snakemake from a model server, as a user builds them.

Slow: only this test detects an item that does not follow a changed prompt, or that is built again
without need.
"""

import json

import pandas as pd
import pytest

from fault_server import FaultServer
from moot.core.artifacts import file_digest
from project_copy import Workflow

pytestmark = pytest.mark.slow

CASES = 2
VERDICT = "config/prompts/courtroom/verdict.jinja"
SELECTION = {
    "papers": {
        "items": ["courtroom/table4", "courtroom/table5", "decision_conference/table2"],
        "models": ["served"],
        "cases": CASES,
        "datasets": {"nlsy97": "synthetic", "vast": "sample"},
    }
}
SINGLE_PROMPTS = ("paper-zero-shot", "paper-cot", "paper-n-shot-cot")


def result_digests(workflow: Workflow) -> dict[str, str]:
    """Return the digest of each file of the results, without logs."""
    results = workflow.work / "results"
    digests = {}
    for path in results.rglob("*"):
        name = str(path.relative_to(results))
        if path.is_file() and not name.startswith("logs/"):
            digests[name] = file_digest(path)
    return digests


def result_times(workflow: Workflow) -> dict[str, int]:
    """Return the time at which each file of the results was written."""
    results = workflow.work / "results"
    return {
        str(path.relative_to(results)): path.stat().st_mtime_ns
        for path in results.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def built(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """Three items of two papers, from a model of a server."""
    workflow = Workflow(tmp_path_factory.mktemp("items"), server.url, analyses=())
    workflow.configure(SELECTION)
    process = workflow.run("papers")
    assert process.returncode == 0, process.stdout[-4000:]
    return workflow


def own_rows(workflow: Workflow, item: str) -> pd.DataFrame:
    """Return the rows of this run in the CSV file of a table."""
    table = pd.read_csv(workflow.work / "results/papers" / f"{item}.csv")
    return table[table["source"] != "published"]


@pytest.mark.parametrize("item", SELECTION["papers"]["items"])
def test_selected_items_have_a_row_of_the_own_model(built: Workflow, item: str) -> None:
    rows = own_rows(built, item)
    assert rows["Model"].tolist() == ["served"]
    assert rows.drop(columns=["source", "Model"]).notna().any(axis=None)


def test_only_the_experiments_of_the_items_ran(built: Workflow) -> None:
    folder = built.work / "results/predictions"
    expected = {*SINGLE_PROMPTS, "paper-courtroom", "paper-stance-vast"}
    assert {path.name for path in folder.iterdir()} == expected


def test_a_changed_verdict_prompt_reruns_the_verdicts_and_their_items(
    built: Workflow, server: FaultServer
) -> None:
    calls = server.count()
    digests, times = result_digests(built), result_times(built)
    built.edit(VERDICT, "then decide.", "then decide without haste.")
    process = built.run("papers")
    assert process.returncode == 0, process.stdout[-4000:]
    assert server.count() - calls == CASES, "one verdict a case"

    times_after = result_times(built)
    written = {name for name, time in times_after.items() if times.get(name) != time}
    run = "paper-courtroom/served"
    pages = {name for name in written if name.startswith("papers/")}
    artifacts = {name for name in written - pages if not name.startswith("logs/")}
    assert artifacts == {
        *(name for name in times_after if name.startswith(f"transcripts/{run}/")),
        f"predictions/{run}.parquet",
        f"calls/{run}.parquet",
        "scores/paper-courtroom.parquet",
    }
    assert pages and all(name.startswith("papers/courtroom") for name in pages)

    digests_after = result_digests(built)
    changed = {name for name, digest in digests_after.items() if digests.get(name) != digest}
    for item in ("table4", "table2", "table8"):
        assert f"papers/courtroom/{item}.csv" not in changed
    assert own_rows(built, "courtroom/table5").shape[0] == 1


def test_with_nothing_changed_nothing_runs(built: Workflow, server: FaultServer) -> None:
    calls = server.count()
    assert not built.jobs("papers") & {"run_debates", "predict", "paper_courtroom"}
    assert server.count() == calls


def test_items_of_a_later_run_leave_what_was_filled(built: Workflow, server: FaultServer) -> None:
    filled = {item: own_rows(built, item) for item in SELECTION["papers"]["items"]}
    later = {**SELECTION["papers"], "items": ["courtroom/figure5", "decision_conference/table3"]}
    later["datasets"] = {**later["datasets"], "claim_stance": "sample"}
    built.configure({"papers": later})
    calls = server.count()
    process = built.run("papers")
    assert process.returncode == 0, process.stdout[-4000:]
    assert server.count() > calls, "the later item is asked"
    for item, rows in filled.items():
        assert own_rows(built, item).equals(rows), item
    assert not own_rows(built, "decision_conference/table3").empty
    records = built.work / "results/papers"
    names = set()
    for paper in ("courtroom", "decision_conference"):
        record = json.loads((records / f"{paper}.runs.json").read_text("utf-8"))
        names.update(record["experiments"])
    assert {
        "paper-zero-shot",
        "paper-courtroom",
        "paper-stance-vast",
        "paper-stance-claims",
    } <= names
