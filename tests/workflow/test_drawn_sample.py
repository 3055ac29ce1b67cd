"""Labels of people on a drawn sample: debates, the sheet, an annotator's entries, and raw and
corrected values.

Slow: only this test detects rules of labels that do not fit together.
"""

import re
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

LABELER = '''
import re
from moot.labels import labeler


@labeler("by_number")
def by_number(statements):
    """Affirms up to 45 of the last two digits; people affirm up to 70."""
    for text in statements["text"]:
        yield ("AFFIRM" if int(re.search(r"(\\d{2})\\)", text)[1]) < 45 else "REVERSE"), ""
'''
CONFIG = {
    "run": "panels",
    "extensions": "own",
    "annotation_sample": 60,
    "datasets/people/rows": 260,
    "experiments/panels": {
        "protocol": "panel",
        "dataset": "people",
        "models": "served",
        "cases": 50,
        "labelers": ["by_number", "human"],
        "params": {"judges": 2, "rounds": 2, "votes": "likelihood"},
    },
}
TABLES = tuple(
    f"results/tables/appellate/{name}.csv"
    for name in ("label_shares", "decision_probabilities", "volatility")
)


def affirms(text: str) -> bool:
    """What people find in a statement."""
    percentage = re.search(r"(\d{2})\)", text)
    assert percentage
    return int(percentage[1]) < 70


def annotate(sheet: Path, filled_sheet: Path, skip: int = 0) -> pd.DataFrame:
    """Fill in a copy of a sheet, but for the last rows."""
    frame = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    frame["label"] = ["AFFIRM" if affirms(text) else "REVERSE" for text in frame["statement"]]
    filled_sheet.parent.mkdir(exist_ok=True)
    frame.iloc[: len(frame) - skip].to_csv(filled_sheet, index=False)
    return frame


def built(workflow: Workflow, *targets: str) -> list[pd.DataFrame]:
    process = workflow.run(*targets)
    assert process.returncode == 0, process.stdout[-4000:]
    return [pd.read_csv(workflow.work / target) for target in targets if target.endswith(".csv")]


def test_raw_and_corrected_differ_as_planted(tmp_path: Path) -> None:
    with FaultServer() as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        (workflow.work / "own").mkdir()
        (workflow.work / "own" / "labelers.py").write_text(LABELER)
        workflow.configure(CONFIG)
        built(workflow, "annotation_sheets")
        sheets, annotations = (
            workflow.work / "data" / "annotation_sheets",
            workflow.work / "data" / "annotations",
        )
        (sheet,) = (path for path in sheets.glob("*.csv") if ".sample" not in path.name)
        first = annotate(sheet, annotations / "ann.csv", skip=1)
        assert 60 <= len(first) <= 62 and "size" not in first and "draw" not in first

        shares, positions, volatility = built(workflow, *TABLES)
        assert not [table for table in (shares, positions, volatility) if "corrected" in table], (
            "one label is missing"
        )
        assert "Raw only:" in (workflow.work / TABLES[0]).with_suffix(".html").read_text()

        annotate(sheet, annotations / "ann.csv")
        shares, positions, volatility = built(workflow, *TABLES)
        utterances = pd.read_parquet(
            workflow.work / "results" / "transcripts" / "panels" / "served" / "0.parquet"
        )
        utterances = utterances[utterances["kind"] == "statement"].assign(
            truth=lambda rows: rows["text"].map(affirms)
        )
        row = shares[(shares["statements"] == "all") & (shares["label"] == "AFFIRM")].iloc[0]
        truth = utterances["truth"].mean()
        assert row["labelled"] == len(first) and row["raw high"] < truth, (
            "the mixture is wrong, and sure of it"
        )
        assert (
            row["corrected low"] < truth < row["corrected high"]
            and abs(row["corrected"] - truth) < 0.1
        )
        changed = (
            utterances.sort_values("turn").groupby(["debate_id", "speaker"])["truth"].nunique() > 1
        )
        row = (
            volatility[volatility["transition"] == "all rounds"].dropna(subset="corrected").iloc[0]
        )
        assert row["labelled"] == len(first) / 2
        width = shares["corrected high"] - shares["corrected low"]
        assert row["corrected low"] < changed.mean() < row["corrected high"]
        seat = positions.dropna(subset="corrected")
        assert len(seat) == 8 and seat["labelled"].sum() == 2 * len(first)
        page = (workflow.work / TABLES[1]).with_suffix(".html").read_text()
        assert (
            "is raw: a person" in page and "Raw only" not in page and "corrected interval" in page
        )

        workflow.configure({**CONFIG, "annotation_sample": 90})
        built(workflow, "annotation_sheets")
        second = annotate(sheet.with_name(f"{sheet.stem}-2.csv"), annotations / "bob.csv")
        assert 28 <= len(second) <= 32 and not set(first["item"]) & set(second["item"])
        extended_table = built(workflow, TABLES[0])[0]
        assert extended_table["labelled"].max() == len(first) + len(second)
        assert (extended_table["corrected high"] - extended_table["corrected low"] < width)[
            :2
        ].all()
        assert workflow.jobs(TABLES[0]) == set()
