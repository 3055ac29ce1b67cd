"""Each published file, loaded by Snakemake as a user loads it, has the counts that its publisher or
paper states.

One run loads all files. Tests state the counts that cannot be reproduced:
opinions that no gate lets pass, and VAST's sentiment-swapped test, which is no complete data set
(its loader's own tests read it).

Slow: only this test detects published files whose counts through rules differ from a process.
"""

from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from project_copy import Workflow, unedited_copy

pytestmark = pytest.mark.slow

LOCAL = {"source": "local"}
DATASETS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(
        (
            "nlsy97",
            "vast",
            "claim_stance",
            "claim_polarity",
            "caselaw",
            "cail18",
        ),
        LOCAL,
    ),
    "agenticsimlaw": LOCAL,
    "nyu_debates": LOCAL,
    "opinions": {**LOCAL, "path": "opinions/nm_appeals_250.jsonl", "facts": "opinion"},
}
TARGETS = {
    "nlsy97": {"no": 1019, "yes": 393},
    "caselaw": {"plaintiff": 634, "defendant": 366},
}
SPLITS = {
    "vast": {"test": 3006, "validation": 2062, "train": 13477},
    "claim_stance": {"test": 1355, "train and validation": 1039},
    "claim_polarity": {"test": 1355, "train and validation": 1039},
}


@pytest.fixture(scope="module")
def loaded(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    workflow = Workflow(
        tmp_path_factory.mktemp("published"), "http://127.0.0.1:1", project=unedited_copy()
    )
    workflow.configure(
        {"data_root": str(shared_data), **{f"datasets/{name}": DATASETS[name] for name in DATASETS}}
    )
    process = workflow.run(*(f"results/cases/{name}.parquet" for name in DATASETS))
    assert process.returncode == 0, process.stdout[-4000:]
    cases = workflow.work / "results" / "cases"
    cases_by_dataset = {name: pd.read_parquet(cases / f"{name}.parquet") for name in DATASETS}
    return cases_by_dataset | {
        f"{name}, account": pd.read_csv(cases / f"{name}_cleaning.csv") for name in DATASETS
    }


def account(loaded: dict[str, pd.DataFrame], name: str) -> dict[str, int]:
    frame = loaded[f"{name}, account"]
    return dict(zip(frame.iloc[:, 0], frame.iloc[:, 1], strict=True))


@pytest.mark.parametrize("name", TARGETS)
def test_labels_are_as_many_as_published(name: str, loaded: dict[str, pd.DataFrame]) -> None:
    assert Counter(loaded[name]["target"]) == TARGETS[name]


@pytest.mark.parametrize("name", SPLITS)
def test_published_splits_are_whole(name: str, loaded: dict[str, pd.DataFrame]) -> None:
    split_counts = Counter(loaded[name]["split"])
    assert sum(split_counts.values()) == sum(SPLITS[name].values())
    assert split_counts["test"] == SPLITS[name]["test"]


def test_stances_of_the_test_files(loaded: dict[str, pd.DataFrame]) -> None:
    expected = {
        "vast": {"con": 1018, "pro": 944, "neutral": 1044},
        "claim_stance": {"pro": 700, "con": 655},
        "claim_polarity": {"negative": 723, "positive": 563, "neutral": 69},
    }
    for name, counts in expected.items():
        frame = loaded[name]
        assert Counter(frame.loc[frame["split"] == "test", "target"]) == counts, name


def test_cail18_has_its_records_and_articles(loaded: dict[str, pd.DataFrame]) -> None:
    frame = loaded["cail18"]
    assert len(frame) == 3675
    assert len(set(";".join(frame["target"]).split(";"))) == 63
    assert account(loaded, "cail18")["records that list several articles"] == 1143


def test_recorded_debates_and_opinions(loaded: dict[str, pd.DataFrame]) -> None:
    assert len(loaded["agenticsimlaw"]) == 200
    assert len(loaded["nyu_debates"]) == 413
    opinions = account(loaded, "opinions")
    assert (opinions["opinions read"], opinions["outcome by the record"]) == (250, 250)
    outcomes = Counter(
        dict(attributes)["outcome"] for attributes in loaded["opinions"]["attributes"]
    )
    assert outcomes == Counter(affirm=108, reverse=79, mixed=56, dismiss=7)
