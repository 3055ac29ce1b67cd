"""The results that a paper's page shows: existing answers, scored or not, and trained models."""

from pathlib import Path
from typing import Any

import pytest

from changed_plans import make_plan
from moot.core.artifacts import describe, write_rows
from moot.core.schemas import SCHEMAS
from moot.jobs.job_results import RESULTS
from moot.jobs.papers import load_study, set_aside
from moot.plan.papers_of_run import PaperRun, view_paper
from paper_items import PAPERS, PUBLISHED
from results_on_disk import case, experiment_view, prediction, write_results

MODEL = "gemma-2"
DATA = "paper-nlsy97"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PaperRun:
    """Write answers of three experiments, the scores of one, and a leaderboard."""
    monkeypatch.chdir(tmp_path)
    cases = [case("a", "yes"), case("b", "no")]
    answers = [prediction("a", "yes", "yes"), prediction("b", "no", "yes")]
    waiting = [prediction("a", "yes", "", status="waiting")]
    view = experiment_view(dataset=DATA)
    for name, rows in (
        ("paper-zero-shot", answers),
        ("paper-courtroom", answers),
        ("paper-n-shot-cot", waiting),
    ):
        write_results(RESULTS, cases, {MODEL: rows}, {MODEL: ()}, experiment=name, config=view)

    def write_row(kind: str, name: str, **row: Any) -> None:
        empty = dict.fromkeys(SCHEMAS[kind].names)
        write_rows(RESULTS / kind / f"{name}.parquet", kind, [{**empty, **row}], describe())

    name = "paper-zero-shot"
    write_row("scores", name, experiment=name, model=MODEL, metric="accuracy", value=0.25)
    write_row("baselines", DATA, baseline="nb")
    return view_paper(make_plan(paper=True), PAPERS["courtroom"])


def test_answers_without_scores_are_scored_and_waiting_ones_left_out(run: PaperRun) -> None:
    files = [*RESULTS.rglob("*.parquet")]
    study = load_study(run, "courtroom", files, PUBLISHED)
    experiments = ("paper-zero-shot", "paper-courtroom")
    assert {*study.experiments} == {*experiments}
    for results in study.experiments.values():
        assert results.config.models == (MODEL,) and results.files == frozenset(files)
        assert (results.results, results.seed) == (RESULTS, run.seed)
    scores = study.scores.set_index(["experiment", "model", "metric", "group"])["value"]
    assert scores["paper-zero-shot"].tolist() == [0.25], "of its job, and not computed again"
    assert scores["paper-courtroom", MODEL, "accuracy", "overall"] == 0.5
    assert (list(study.baselines), study.trials, study.published is PUBLISHED) == ([DATA], {}, True)
    apart = set_aside(study, ["paper-courtroom"])
    assert ([*apart.experiments], [*apart.trials]) == ([experiments[0]], [experiments[1]])


def test_trained_models_without_answers_get_an_experiment_that_describes_their_data(
    run: PaperRun,
) -> None:
    cases, board = RESULTS / f"cases/{DATA}.parquet", RESULTS / f"baselines/{DATA}.parquet"
    answers = RESULTS / f"predictions/paper-zero-shot/{MODEL}.parquet"
    study = load_study(run, "courtroom", [cases, board], PUBLISHED)
    (trial,) = study.trials.values()
    assert (study.experiments, len(study.scores)) == ({}, 0)
    assert (trial.config.dataset, trial.config.models) == (DATA, ())
    assert list(study.baselines[DATA]["baseline"]) == ["nb"]
    for files in ([cases], [board, answers]):
        study = load_study(run, "courtroom", files, PUBLISHED)
        assert (study.experiments, study.baselines, study.trials) == ({}, {}, {})
