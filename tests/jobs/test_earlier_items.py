"""What a run of items filled stays filled, in whatever order items are run."""

import random
from pathlib import Path
from typing import Any

import pytest

from moot.core.config_errors import Faults
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files, paper_files
from moot.jobs.earlier_items import earlier_files, join_earlier, plan_of_page, write_record
from moot.papers.selection import KINDS_WITHOUT_DEBATES, PREFIX, add_paper_experiments
from moot.plan.plan import Plan
from paper_items import PAPERS

PROJECT = Path(__file__).resolve().parents[2]
COURTROOM = PAPERS["courtroom"]
ITEMS: list[str] = []
for each_paper in PAPERS.values():
    ITEMS += [item.name for item in each_paper.items if item.kind not in KINDS_WITHOUT_DEBATES]


def configuration(**papers: Any) -> dict[str, Any]:
    files = default_files(PROJECT)
    if not papers:  # the other documented way
        files = [*files, *paper_files(PROJECT)]
        return merge_over_defaults({"run": ["paper-zero-shot"]}, files)
    config = merge_over_defaults({"papers": papers}, files)
    add_paper_experiments(config, PROJECT)
    return config


def run_items(config: dict[str, Any]) -> tuple[dict[str, Plan], set[tuple[str, str]]]:
    """Run the experiments of a configuration.

    Returns the plan of each page, and the papers' experiments and models that the pages may show.
    """
    plan = Plan.from_yaml(config, PROJECT, default_files(PROJECT), Faults())
    for experiment in plan.experiments.values():
        for model in experiment.config.models:
            path = Path("results", "predictions", experiment.name, f"{model}.parquet")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    pages: dict[str, Plan] = {}
    runs = set[tuple[str, str]]()
    for paper in PAPERS.values():
        page, joined_config = plan_of_page(plan, config, paper.name)
        write_record(page, joined_config, paper)
        pages[paper.name] = page
        for name, entry in page.experiments.items():
            if entry.study in paper.studies and entry.entry.startswith(PREFIX):
                runs.update((name, model) for model in entry.config.models)
    return pages, runs


@pytest.mark.parametrize("seed", range(2))
def test_what_was_filled_stays_filled(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    draw = random.Random(seed)
    order: list[dict[str, Any]] = [{"items": item} for item in draw.sample(ITEMS, 10)]
    order.insert(draw.randrange(10), {})
    earlier_runs: set[tuple[str, str]] = set()
    for papers in order:
        pages, runs = run_items(configuration(**papers))
        assert earlier_runs <= runs, papers
        earlier_runs = runs
    for page in pages.values():
        for name, options in page.datasets.items():
            is_of_paper = name.startswith("paper-") and options.source != "sample"
            assert not is_of_paper or options.source == "download"


def test_results_of_other_data_are_not_shown_as_the_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    made_up = {"datasets": {"nlsy97": "synthetic"}}
    run_items(configuration(items="courtroom/table4", **made_up))
    _, runs = run_items(configuration(items="courtroom/table5"))
    assert {name for name, _ in runs} == {"paper-courtroom"}
    assert "results of paper-zero-shot are not shown" in caplog.text


def test_a_model_of_an_earlier_run_keeps_its_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_items(configuration(items="courtroom/table5", models="smollm2-135m"))
    predictions = "results/predictions/paper-courtroom"
    names = [f"{predictions}-seed=2/m.parquet", f"{predictions}/smollm2-135m.parquet"]
    cases = "results/cases/paper-nlsy97.parquet"
    for name in (names[0], cases, "results/cases/other.parquet"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    assert earlier_files(COURTROOM.name) == [cases, *names]
    config = join_earlier(configuration(items="courtroom/table5"), COURTROOM.name)
    assert "smollm2-135m" in config["experiments"]["paper-courtroom"]["models"]
