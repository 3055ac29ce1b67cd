"""Items of trained models, where models were trained and no experiment ran."""

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

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
from paper_items import ITEMS, PAPERS, PUBLISHED
from project_copy import PROJECT
from results_on_disk import REARREST, case, experiment_view, write_results

PEOPLE = {"nlsy97": {"source": "synthetic", "rows": 60}}
HAS_SMOTE = find_spec("imblearn") is not None  # of the extra `tabular`
NAMES = {"Naive Bayes"}
"""As the paper names it; a row that it lacks has moot's own title."""
REBALANCED = {"Naive Bayes, rebalanced by SMOTE"}
UNTRAINED = ("tabpfn", "cnn-bert")
EMPTY_ROWS = {
    "courtroom/table3": "All rows stay empty: weights not found.",
    "feedback/table2": "Row CNN(with BERT) stays empty: weights not found.",
}
TRAINED_ITEMS: list[Any] = [
    pytest.param(
        *("courtroom/table2", PEOPLE, "nlsy97", ["nb"]),
        NAMES | REBALANCED if HAS_SMOTE else NAMES,
        id="leaderboard",
    ),
    pytest.param(
        *("feedback/table2", {"caselaw": "sample"}, "caselaw", ["majority-class"]),
        {"Majority class (trained)"},
        id="other methods",
    ),
    pytest.param(
        *("courtroom/table3", PEOPLE, "nlsy97", ["nb"]), set(), id="another model than the item"
    ),
]


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


@pytest.mark.parametrize(("item", "datasets", "dataset", "baselines", "heads"), TRAINED_ITEMS)
def test_trained_models_fill_their_item_without_an_experiment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    item: str,
    datasets: dict[str, Any],
    dataset: str,
    baselines: list[str],
    heads: set[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    config = default_configuration({"papers": {"items": item, "datasets": datasets}})
    add_paper_experiments(config, PROJECT)
    config["datasets"][f"paper-{dataset}"]["baselines"] = baselines
    plan = Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())
    files = train(plan, f"paper-{dataset}")
    add_failures(files[1])
    paper, _, key = item.partition("/")
    write_paper(view_paper(plan, PAPERS[paper]), files)
    table = pd.read_csv(RESULTS / f"papers/{paper}/{key}.csv", dtype=str)
    own_rows = table[table["source"] != "published"]
    assert set(own_rows.get("Model", ())) == heads
    assert own_rows[["n", "n_invalid", "data", "cases"]].notna().all(axis=None)
    times = own_rows.get("TT (s)", pd.Series(dtype=str))
    assert (times.astype(float) >= 0).all(), "fitting times are measured"
    page = (RESULTS / f"papers/{paper}.html").read_text(encoding="utf-8")
    section = page.partition(f'<section id="{key}">')[2].partition("</section>")[0]
    assert ("This run has no values for this item" in section) == (not heads)
    assert "the command below" not in section
    assert EMPTY_ROWS.get(item, "") in section
    assert ("The paper uses other data." in section) == bool(heads)


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
