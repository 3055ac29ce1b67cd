"""The results of a study: its own experiments, as far as they have scores."""

from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from in_process import RESULTS, Inputs, default_configuration
from moot.core.artifacts import describe, write_rows
from moot.core.experiment_config import COMPARISON
from moot.core.schemas import SCHEMAS
from moot.jobs.frozen_plans import NOT_FROZEN
from moot.jobs.job_results import (
    load_model_results,
    load_study_debates,
    load_study_results,
    write_registered,
    write_scores,
)
from moot.plan.plan import Plan
from moot.report.notes import REHEARSAL_NOTE
from project_copy import PROJECT
from results_on_disk import case, experiment_view, prediction, write_results

MODELS = ("first", "second")


def make_plan(**keys: Any) -> Plan:
    entry = {"protocol": "courtroom", "dataset": "nlsy97", "models": list(MODELS), "cases": 12}
    experiments = {
        "debate": entry,
        "unscored": entry,
        "noisy": {**entry, "control": "noise", "control_of": "debate"},
        "tiny": {**entry, "cases": 2},
        "elsewhere": {**entry, "study": "stance"},
    }
    config = {
        "run": list(experiments),
        "min_debates": 10,
        "models": {name: {"model": name, "base_url": "http://127.0.0.1:9"} for name in MODELS},
        "datasets": {"nlsy97": {"source": "synthetic"}},
        "experiments": experiments,
        "contrasts": {"x": {"first": "debate/first", "second": "debate/second"}},
        **keys,
    }
    return Plan.from_yaml(default_configuration(config), PROJECT)


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the inputs of a job: scores of three experiments, published values, a leaderboard."""
    monkeypatch.chdir(tmp_path)
    files = Inputs()

    def write_row(path: str, **row: str) -> Path:
        kind = Path(path).parent.name
        write_rows(
            RESULTS / path, kind, [{**dict.fromkeys(SCHEMAS[kind].names), **row}], describe()
        )
        return RESULTS / path

    for name, model in (("debate", "second"), ("elsewhere", "first"), ("noisy", "first")):
        files.append(write_row(f"scores/{name}.parquet", experiment=name, model=model))
    files.scores = [*files]
    files.baselines = [write_row("baselines/nlsy97.parquet", baseline="nb")]
    files.published = PROJECT / "data/published/published_results.csv"
    return files


def models_of(results: Any) -> dict[str, tuple[str, ...]]:
    return {name: result.config.models for name, result in results.items()}


def test_a_study_shows_scored_runs_apart_from_trials_and_controls(inputs: Any) -> None:
    plan, job = make_plan(), SimpleNamespace(input=inputs)
    study = load_study_results(plan, job, "courtroom")
    assert models_of(study.experiments) == {"debate": ("second",)}
    assert models_of(study.trials) == {"tiny": MODELS}
    assert models_of(study.controls) == {"noisy": MODELS}
    for results in (*study.experiments.values(), *study.trials.values(), *study.controls.values()):
        assert (results.results, results.seed) == (RESULTS, plan.config.seed)
        assert results.files == frozenset(inputs)
    assert list(study.scores["experiment"]) == ["debate", "elsewhere", "noisy"]
    assert list(study.baselines["nlsy97"]["baseline"]) == ["nb"]
    assert set(study.published["study"]) == {"courtroom"}
    assert (study.contrasts, study.power) == (plan.contrasts_of("courtroom"), plan.config.power)
    assert (study.plan_history, study.is_rehearsal) == ((), False)


def test_frozen_plans_are_compared_where_the_contrasts_are_shown(inputs: Any) -> None:
    inputs.frozen, inputs.scores = [], []
    job: Any = SimpleNamespace(input=inputs)
    for study, history in (("courtroom", (NOT_FROZEN,)), ("stance", ())):
        results = load_study_results(make_plan(), job, study)
        assert results.plan_history == history
        assert (results.experiments, len(results.scores)) == ({}, 0)
    assert load_study_results(make_plan(rehearsal=True), job, COMPARISON).is_rehearsal


def test_outputs_of_a_job_are_written_with_captions_from_the_results_of_their_study(
    inputs: Any,
) -> None:
    names = ("courtroom/main.csv", "courtroom/main.rst", "courtroom/main.html", "stance/of.rst")
    paths = [RESULTS / "tables" / name for name in names]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    registry: Any = defaultdict(lambda: SimpleNamespace(caption="Words."))
    written: list[Any] = []
    job: Any = SimpleNamespace(input=inputs, output=paths)
    write_registered(make_plan(), job, registry, lambda *of_item: written.append(of_item))
    files = {"csv": paths[0], "html": paths[2]}
    main, other = registry["courtroom/main"], registry["stance/of"]
    assert [(item, results.study, by_ending) for item, results, by_ending in written] == [
        (main, "courtroom", files),
        (other, "stance", {}),
    ]
    assert [paths[number].read_text() for number in (1, 3)] == ["Words.\n", "Words.\n"]


def test_a_model_whose_every_debate_waits_has_no_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cases = [case("a", "yes"), case("b", "no")]
    finished = [prediction("a", "yes", "yes"), prediction("b", "no", "yes")]
    waiting = [prediction("a", "yes", "", status="waiting")]
    view = experiment_view(dataset="nlsy97", models=MODELS)
    for name, models in (("debate", {"first"}), ("tiny", set())):
        rows = {"first": finished if models else waiting, "second": waiting}
        silent = dict.fromkeys(MODELS, ())
        write_results(RESULTS, cases, rows, silent, experiment=name, config=view)
        path = RESULTS / f"scores/{name}.parquet"
        write_scores(path, make_plan(), name, sorted(RESULTS.rglob("*.parquet")))
        frame = pd.read_parquet(path)
        assert set(frame["model"]) & set(MODELS) == models
        assert set(frame["experiment"]) == ({name} if models else set())


def test_a_study_gets_no_experiment_of_another_study() -> None:
    plan = make_plan(rehearsal=True)
    job: Any = SimpleNamespace(wildcards=SimpleNamespace(study="stance"), input=["a.parquet"])
    (debates,) = load_study_debates(plan, job).values()
    job.wildcards = SimpleNamespace(experiment="debate", model="second")
    of_model = load_model_results(plan, job)
    notes = REHEARSAL_NOTE, *plan.made_up_inputs("debate").notes
    for results, name, models in (
        (debates, "elsewhere", MODELS),
        (of_model, "debate", ("second",)),
    ):
        assert (results.experiment, results.config.models) == (name, models)
        assert (results.results, results.seed) == (RESULTS, plan.config.seed)
        assert (results.files, results.notes) == (frozenset([Path("a.parquet")]), notes)
