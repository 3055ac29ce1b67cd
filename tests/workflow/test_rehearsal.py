"""A rehearsal as a user runs it: the whole workflow in another folder.

Its artifacts state that they are simulated.

Slow: only this test detects an artifact of a rehearsal that does not state it.
"""

from pathlib import Path

import pandas as pd
import pytest

from moot.core.artifacts import read_metadata
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

CLOSED_PORT_URL = "http://127.0.0.1:9"
DISPUTES = {
    "loader": "table",
    "path": str(PROJECT / "docs/examples/disputes/disputes.csv"),
    "text": "facts",
    "target": "outcome",
    "question": "Who wins the dispute?",
}
"""Data of no paper, whose page would take a quarter of the time."""


def test_a_rehearsal_builds_everything_in_its_folder_and_is_marked_simulated(
    tmp_path: Path,
) -> None:
    workflow = Workflow(tmp_path, CLOSED_PORT_URL, analyses=("arms", "attribution"))
    served = {
        "endpoint": "openai",
        "model": "test",
        "base_url": CLOSED_PORT_URL,
        "api_key_env": "KEY_OF_NOBODY",
        "concurrency": 2,
    }
    workflow.configure(
        {
            "run": ["single", "trial"],
            "models/served": {
                **served,
                "price": {"input": 1.0, "output": 2.0},
                "batch": True,
            },
            "models/other": {
                **served,
                "requests_per_minute": 1,
                "reasoning": True,
                "structured": "prompted",
            },
            "datasets/people": DISPUTES,
            "experiments/single": {
                "protocol": "zero_shot",
                "dataset": "people",
                "models": ["served", "other"],
                "cases": 12,
            },
            "experiments/trial": {
                "protocol": "courtroom",
                "dataset": "people",
                "models": ["served"],
                "cases": 4,
                "arms": ["matched_calls"],
                "attribution": {"repeats": 2},
            },
            "contrasts/right": {"first": "single/served", "second": "single/other"},
            "budget": {"calls": 1},
            "ledger": "data/ledger",
        }
    )
    process = workflow.run("rehearse")
    assert process.returncode == 0, process.stdout[-4000:]
    folder = workflow.work / "rehearsal"
    assert f"moot: {folder / 'results/index.html'} has the questions" in process.stdout
    assert not (workflow.work / "results").exists()
    assert not (workflow.work / "data").exists(), "the real ledger is left alone"

    artifacts = list((folder / "results").rglob("*.parquet"))
    assert {"transcripts", "predictions", "calls", "scores"} <= {
        path.relative_to(folder).parts[1] for path in artifacts
    }
    assert {read_metadata(path).get("voices") for path in artifacts} == {"SIMULATED"}
    tables = list((folder / "results" / "tables").rglob("*.*"))
    for path in (path for path in tables if path.suffix in (".html", ".tex")):
        assert "SIMULATED" in path.read_text(encoding="utf-8"), path
    for path in (path for path in tables if path.suffix == ".csv"):
        frame = pd.read_csv(path)
        published = frame["voices"] == "published"
        assert set(frame.loc[~published, "voices"]) <= {"SIMULATED"}, path
        assert frame.loc[published, frame.columns.intersection(["ours"])].isna().all(axis=None), (
            path
        )
    for path in (folder / "results" / "figures").rglob("*.svg"):
        assert "SIMULATED" in path.read_text(encoding="utf-8"), path
    for path in (folder / "results" / "reader").glob("*.html"):
        assert "SIMULATED" in path.read_text(encoding="utf-8"), path

    report = (folder / "rehearsal.md").read_text(encoding="utf-8")
    assert report in process.stdout
    assert "MB on disk" in report and "`snakemake preview` counts the calls" in report

    assert list((folder / "data" / "ledger").glob("*.sqlite")), "a ledger of its own"
