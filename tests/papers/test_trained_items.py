"""Items of trained models, where models were trained and no experiment ran."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from in_process import RESULTS, default_configuration
from moot.core.config_errors import Faults
from moot.core.shipped_files import default_files
from moot.jobs.baselines import train_baselines
from moot.jobs.load import load_dataset
from moot.jobs.papers import write_paper
from moot.papers import fill_item
from moot.papers.grid import build_grid, intervals_frame
from moot.papers.selection import add_paper_experiments
from moot.plan.papers_of_run import view_paper
from moot.plan.plan import Plan
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from moot.training.baselines import REBALANCED
from paper_items import ITEMS, PAPERS, PUBLISHED
from project_copy import PROJECT
from results_on_disk import REARREST, case, experiment_view, write_results

DATASET = "paper-nlsy97"
HEADS = {"nb": "Naive Bayes"}
"""A baseline to its name in the paper."""
if find_spec("imblearn") is not None:  # of the extra `tabular`
    HEADS[f"nb{REBALANCED}"] = "Naive Bayes, rebalanced by SMOTE"
UNTRAINED = ("tabpfn", "rf")


def train(plan: Plan, dataset: str) -> list[Path]:
    """Load a data set, train its baselines, and return the files that pages read."""
    cases, features = (RESULTS / kind / f"{dataset}.parquet" for kind in ("cases", "features"))
    options, context = plan.datasets[dataset], plan.load_context(dataset)
    load_dataset(options, context, cases, features, RESULTS / "cleaning.csv")
    leaderboard = RESULTS / f"baselines/{dataset}.parquet"
    outputs = (leaderboard, RESULTS / "predicted.parquet", RESULTS / "models")
    train_baselines(plan, dataset, (cases, features), outputs, threads=1)
    return [cases, leaderboard]


def add_failures(leaderboard: Path) -> None:
    """Add the rows of models that could not be trained."""
    table = pq.read_table(leaderboard)
    failure = {"status": "weights not found", "accuracy": None}
    rows = [{**table.to_pylist()[0], **failure, "baseline": name} for name in UNTRAINED]
    failures = pa.Table.from_pylist(rows, schema=table.schema)
    pq.write_table(pa.concat_tables([table, failures]), leaderboard)


def test_trained_models_fill_their_item_without_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    items = ["courtroom/table2", "courtroom/table3"]
    papers = {"items": items, "datasets": {"nlsy97": {"source": "synthetic", "rows": 60}}}
    config = default_configuration({"papers": papers})
    add_paper_experiments(config, PROJECT)
    config["datasets"][DATASET]["baselines"] = ["nb"]
    plan = Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())
    files = train(plan, DATASET)
    add_failures(files[1])
    write_paper(view_paper(plan, PAPERS["courtroom"]), files)
    table = pd.read_csv(RESULTS / "papers/courtroom/table2.csv", dtype=str)
    own_rows = table[table["source"] != "published"]
    assert dict(zip(own_rows["source"], own_rows["Model"], strict=True)) == HEADS
    assert own_rows[["n", "n_invalid", "data", "cases"]].notna().all(axis=None)
    assert (own_rows["TT (s)"].astype(float) >= 0).all(), "fitting times are measured"
    page = (RESULTS / "papers/courtroom.html").read_text(encoding="utf-8")
    sections = []
    for key in ("table2", "table3"):
        section = page.partition(f'<section id="{key}">')[2].partition("</section>")[0]
        assert "the command below" not in section
        sections.append(section)
    filled, empty = sections
    assert "The paper uses other data." in filled and "The paper uses" not in empty
    assert "Row Random Forest Classifier stays empty: weights not found." in filled
    assert "This run has no values for this item" not in filled
    assert "This run has no values for this item" in empty
    assert "All rows stay empty: weights not found." in empty


def test_f1_of_a_label_of_a_trained_model_has_its_counts(tmp_path: Path) -> None:
    """A label that is neither true nor predicted has no F1."""
    labels = ("con", "neutral", "pro")
    task = replace(REARREST, labels=labels, positive="pro")
    view = experiment_view("stance", "vast", models=())
    results = write_results(tmp_path, [case("a", "pro", labels)], {}, task=task, config=view)
    board = pd.DataFrame(
        {
            "baseline": ["majority-class"],
            "title": ["Majority class"],
            "evaluation": ["test"],
            "accuracy": [0.75],
            "confusion": ["[[0, 0, 1], [0, 0, 0], [0, 0, 3]]"],
            "n": [4],
        }
    )
    study = StudyResults("stance", {"mine": results}, no_scores(), {"vast": board}, PUBLISHED)
    item = ITEMS["decision_conference/table2"]
    grid = build_grid(item, {}, fill_item(item, {"stance": study}))
    (row,) = grid.own_rows
    assert [cell.own_value.text for cell in row.cells] == ["0.857", "0.000", ""]
    intervals = intervals_frame(grid)
    assert [*intervals["n"]] == [4, 4] and [*intervals["n_invalid"]] == [0, 0]
