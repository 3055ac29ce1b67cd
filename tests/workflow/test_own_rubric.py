"""A user's rubric, in YAML alone: a table of disputes, labels by rules, a model and two people, and
a third person who decides.

Slow: only this test detects rules of labels that do not fit together.
"""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from project_copy import PROJECT, Workflow, unedited_copy

pytestmark = pytest.mark.slow

CONFIG = {
    "run": "pleas",
    "annotation_sample": 30,
    "datasets/disputes": {
        "loader": "table",
        "path": "disputes.csv",
        "text": "facts",
        "target": "outcome",
        "labels": {"LOST": "landlord", "WON": "tenant"},
        "question": "Who wins?",
        "roles": {"prosecutor": "counsel for the tenant", "defense": "counsel for the landlord"},
    },
    "rubrics/grounds": {
        "question": "On what <b>does</b> the speaker rest the case?",
        "labels": {
            "Contract & law": "on the lease",
            "Fairness": "on what is fair",
            "hardship": "on need",
            "none": "neither",
        },
        "neutral": "none",
        "groups": {"need": ["Fairness", "hardship"]},
        "rules": {
            "Contract & law": r"^[^)]*[0-3]\d\)",
            "Fairness": [r"^[^)]*[4-5]\d\)"],
            "hardship": r"^[^)]*[6-7]\d\)",
        },
    },
    "experiments/pleas": {
        "protocol": "courtroom",
        "dataset": "disputes",
        "models": "served",
        "cases": 8,
        "rubric": "grounds",
        "labelers": ["rules", "judge", "human"],
        "params": {"strategy": "none"},
    },
}
NAMES = ("label_shares", "label_changes", "agreement")
TABLES = tuple(f"results/tables/courtroom/{name}.csv" for name in NAMES)


def people_say(statement: str) -> str:
    """Label a statement as people do: as the rules, but with need for an age of 50 to 59."""
    match = re.search(r"(\d{2})\)", statement)
    assert match
    number = int(match[1])
    return (
        "Contract & law"
        if number < 40
        else "Fairness"
        if number < 50
        else "hardship"
        if number < 80
        else "none"
    )


def fill_in(sheet: Path, to: Path, annotator: str, otherwise: str = "") -> pd.DataFrame:
    """One person's copy of a sheet, typed in capitals; on its first statement the person says
    something else.
    """
    frame = pd.read_csv(sheet, dtype=str, keep_default_na=False)
    frame["label"], frame["annotator"] = (
        [people_say(text).upper() for text in frame["statement"]],
        annotator,
    )
    if otherwise:
        frame.loc[0, "label"] = otherwise
    to.parent.mkdir(exist_ok=True)
    frame.to_csv(to, index=False)
    return frame


def test_a_rubric_of_the_users_own_is_labelled_by_all_and_counted(tmp_path: Path) -> None:
    with FaultServer() as server:
        workflow = Workflow(tmp_path, server.url, project=unedited_copy())
        shutil.copy(PROJECT / "docs/examples/disputes/disputes.csv", workflow.work)
        workflow.configure(CONFIG)
        process = workflow.run("annotation_sheets")
        assert process.returncode == 0, process.stdout[-4000:]
        data = workflow.work / "data"
        (sheet,) = (
            path
            for path in (data / "annotation_sheets").glob("*.csv")
            if ".sample" not in path.name
        )
        assert "Contract &amp; law" in sheet.with_suffix(".xml").read_text()
        ann = fill_in(sheet, data / "annotations/ann.csv", "ann")
        other_label = "none" if people_say(ann["statement"][0]) != "none" else "hardship"
        fill_in(sheet, data / "annotations/bob.csv", "bob", otherwise=other_label)
        decided = pd.DataFrame(
            [(ann["item"][0], other_label, "cyd")], columns=["item", "label", "adjudicator"]
        )
        decided.to_csv(data / "annotations/settled.csv", index=False)
        process = workflow.run(*TABLES)
        assert process.returncode == 0, process.stdout[-4000:]
        shares, changes, agreement = (
            pd.read_csv(workflow.work / table, keep_default_na=False) for table in TABLES
        )
        utterances = pd.read_parquet(workflow.work / "results/transcripts/pleas/served/0.parquet")
        labels = pd.read_parquet(workflow.work / "results/labels/pleas/served.parquet").set_index(
            ["debate_id", "turn"]
        )

    statements = utterances[utterances["kind"].isin(["opening", "rebuttal", "closing"])].set_index(
        ["debate_id", "turn"]
    )
    assert len(labels) == len(statements) and set(labels.index) == set(statements.index), (
        "all that counsel say, and no more"
    )
    people = labels[labels["labeler"].str.startswith(("human:", "adjudicated:"))]
    assert len(people) == len(ann)
    assert people.groupby("labeler").size()["adjudicated:cyd"] == 1
    assert people[people["labeler"] == "adjudicated:cyd"]["label"].tolist() == [other_label]
    overall = shares[shares["statements"] == "all"].set_index(["of", "label"])
    assert list(overall.loc["label"].index) == sorted(
        ["Contract & law", "Fairness", "hardship", "none"]
    )
    assert list(overall.loc["group"].index) == ["Contract & law", "need", "none"]
    for label, row in overall.loc["label"].iterrows():
        assert float(row["share"]) == pytest.approx((labels["label"] == label).mean(), abs=1e-6)
    pairs = agreement[(agreement["of"] == "label") & (agreement["measure"] == "equal labels")]
    pair_agreement = pairs[pairs["labelers"] == "human:ann / human:bob"].iloc[0]
    assert float(pair_agreement["value"]) == pytest.approx(1 - 1 / len(ann), abs=1e-3) and int(
        pair_agreement["n"]
    ) == len(ann)
    assert {"judge / rules", "human:ann / rules"} <= set(pairs["labelers"])
    all_changes = changes[(changes["statements"] == "all") & (changes["from"] != "any position")]
    outgoing_shares = all_changes.astype({"share": float}).groupby("from")["share"].sum()
    assert outgoing_shares.to_numpy() == pytest.approx(1, abs=0.01), "something follows each group"
