"""A user's rubric in YAML alone, for a table of disputes.

Labels come from rules, a model and two people, and a third person decides.
"""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from fault_server import FaultServer
from in_process import RESULTS, default_configuration, hold_experiments
from moot.jobs.statement_labels import LabelJob, label_statements, write_drawn_sheet
from moot.plan.plan import Plan
from project_copy import PROJECT

CONFIG = {
    "run": "pleas",
    "min_debates": 1,
    "annotation_sample": 30,
    "datasets": {
        "disputes": {
            "loader": "table",
            "path": "disputes.csv",
            "text": "facts",
            "target": "outcome",
            "labels": {"LOST": "landlord", "WON": "tenant"},
            "question": "Who wins?",
            "roles": {"prosecutor": "the tenant's counsel", "defense": "the landlord's counsel"},
        }
    },
    "rubrics": {
        "grounds": {
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
    },
    "experiments": {
        "pleas": {
            "protocol": "courtroom",
            "dataset": "disputes",
            "models": "served",
            "cases": 8,
            "rubric": "grounds",
            "labelers": ["rules", "judge", "human"],
            "params": {"strategy": "none"},
        },
    },
}


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
    """One person's copy of a sheet, typed in capitals.

    On its first statement the person can say something else.
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


def test_a_rubric_of_the_users_own_is_labelled_by_all(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(PROJECT / "docs/examples/disputes/disputes.csv", tmp_path)
    model = {"endpoint": "openai", "model": "test", "base_url": server.url, "max_tokens": 50}
    config = default_configuration({**CONFIG, "models": {"served": model}, "ledger": "ledger"})
    plan = Plan.from_yaml(config, PROJECT)
    list(hold_experiments(plan))
    cases, shard = (
        RESULTS / "cases/disputes.parquet",
        RESULTS / "transcripts/pleas/served/0.parquet",
    )
    sheet, tasks = write_drawn_sheet(plan, "pleas", "served", cases, [shard], tmp_path / "sheets")
    assert "Contract &amp; law" in tasks.with_suffix(".xml").read_text()
    filled = [tmp_path / "annotations" / f"{name}.csv" for name in ("ann", "bob", "settled")]
    ann = fill_in(sheet, filled[0], "ann")
    other_label = "none" if people_say(ann["statement"][0]) != "none" else "hardship"
    fill_in(sheet, filled[1], "bob", otherwise=other_label)
    decided = {"item": [ann["item"][0]], "label": [other_label], "adjudicator": ["cyd"]}
    pd.DataFrame(decided).to_csv(filled[2], index=False)
    outputs = [RESULTS / kind / "pleas/served.parquet" for kind in ("labels", "annotations")]
    label_statements(
        plan, LabelJob("pleas", "served", cases, {("pleas", "served"): [shard]}, filled), *outputs
    )
    utterances = pd.read_parquet(shard)
    labels = pd.read_parquet(outputs[0]).set_index(["debate_id", "turn"])

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
