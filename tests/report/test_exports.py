"""Test exports of debates with faults, read back by the tools that use them."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import EXPERIMENT, MODEL, configuration, hold, people
from fault_server import FaultServer
from messages import refusal
from moot.core.errors import UserError
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.report.exports import Export, call_times, check_packages, write_inspect_log
from moot.scores import score_experiment
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL

PROJECT = Path(__file__).resolve().parents[2]
CASES = 4
HOSTILE = "</script><b>*not* text</b> \x1b[31m"


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Export]:
    """Return trials of four people, two repeats each, with retried and failed calls."""
    folder = tmp_path_factory.mktemp("exported")
    results = folder / "results"
    cases = people(results / "cases" / "people.parquet", CASES, text=f"Years: {{years}}. {HOSTILE}")
    shard = results / "transcripts" / EXPERIMENT / MODEL / "0.parquet"
    shard.parent.mkdir(parents=True)
    faults = ["server_error", *["outside_labels"] * 3]
    with FaultServer(faults=faults, rate=0.5, seed=2) as server:
        experiment = {"repeats": 2, "params": {"strategy": "call"}}
        config = configuration(server.url, folder, {"attempts": 2}, experiment=experiment)
        hold(config, cases, shard)
    plan = Plan.from_yaml(config, PROJECT)
    predictions = results / "predictions" / EXPERIMENT / f"{MODEL}.parquet"
    calls = results / "calls" / EXPERIMENT / f"{MODEL}.parquet"
    write_predictions(plan.config, plan.experiments[EXPERIMENT], cases, [shard], predictions, calls)
    experiment_results = ExperimentResults(results, EXPERIMENT, plan.view(EXPERIMENT), 1)
    scores = score_experiment(experiment_results)
    model_scores = scores[(scores["model"] == MODEL) & (scores["group"] == OVERALL)]
    yield Export(experiment_results, MODEL, model_scores)


@pytest.fixture(scope="module")
def log(export: Export, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the exported log as inspect_ai reads it."""
    library = pytest.importorskip(
        "inspect_ai.log", reason="inspect_ai is not installed (the extra `inspect`)"
    )
    path = tmp_path_factory.mktemp("log") / "trial.eval"
    write_inspect_log(export, path)
    return library.read_eval_log(str(path), resolve_attachments="full")


def test_a_log_has_a_sample_for_each_debate_with_score_usage_and_times(
    export: Export, log: Any
) -> None:
    from inspect_ai.analysis import samples_df

    outcomes = export.results.predictions.set_index(["case_id", "repeat"])
    assert len(log.samples) == len(outcomes)
    for sample in log.samples:
        outcome = outcomes.loc[(sample.id, sample.epoch - 1)]
        has_answer = isinstance(outcome["prediction"], str)
        expected = (
            "N" if not has_answer else "C" if outcome["prediction"] == outcome["target"] else "I"
        )
        assert sample.scores["moot"].value == expected
        usage = sample.model_usage[MODEL]
        assert usage.input_tokens + usage.input_tokens_cache_read == outcome["prompt_tokens"]
        assert usage.output_tokens == outcome["completion_tokens"]
        times = [event.timestamp for event in sample.events]
        assert times == sorted(times) and times[0].microsecond % 1000 == 0 and times[0].year > 2000
    metrics = log.results.scores[0].metrics
    accuracy = export.scores.set_index(["metric", "average"]).loc[("accuracy", "")]
    assert next(iter(metrics)) == "accuracy"
    assert metrics["accuracy (95 % from)"].value == pytest.approx(accuracy["ci_low"])
    frame = samples_df(log.location)
    assert (
        len(frame) == len(outcomes)
        and frame["total_tokens"].sum()
        == outcomes[["prompt_tokens", "completion_tokens"]].to_numpy().sum()
    )


def test_each_call_is_in_the_span_of_its_utterance(export: Export, log: Any) -> None:
    calls = export.results.calls.set_index("call_id")
    utterances = export.results.transcripts.set_index("call_id")
    attempts = 0
    for sample in log.samples:
        spans = {event.id: event for event in sample.events if event.event == "span_begin"}
        for event in sample.events:
            if event.event != "model":
                continue
            row = utterances.loc[event.metadata["call_id"]]
            call = calls.loc[event.metadata["call_id"]]
            inner = spans[event.span_id]
            outer = spans[inner.parent_id]
            assert outer.timestamp >= call_times(call)[0]
            assert (outer.type, outer.name, inner.type) == ("agent", row["speaker"], row["kind"])
            assert outer.metadata["private"] == (row["visibility"] != "public")
            assert ("private to" in inner.name) == (row["visibility"] != "public")
            messages = json.loads(call["request"])["messages"]
            for message, (_, text) in zip(event.input, messages, strict=True):
                assert message.text == text
            assert event.output.completion == call["reply"]
            attempts += event.retries
    assert attempts == (calls["attempts"] - 1).sum() > 0


def test_an_export_is_reproducible(export: Export, log: Any, tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    write_inspect_log(export, tmp_path / "again.eval")
    second_log = read_eval_log(str(tmp_path / "again.eval"), resolve_attachments="full")
    assert second_log.model_dump(exclude={"location"}) == log.model_dump(exclude={"location"})


def test_a_missing_package_is_an_error_that_names_the_extra(
    export: Export, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "moot.report.inspect_log", None)
    with pytest.raises(UserError, match="make env EXTRAS=inspect"):
        write_inspect_log(export, tmp_path / "export")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "empty_columns",
    [["ci_low", "ci_high", "n_cases", "n_invalid"], ["n_cases"], ["n", "n_invalid"], ["ci_high"]],
)
def test_an_inspect_log_of_scores_without_intervals_or_counts_is_written(
    export: Export, empty_columns: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai.log import read_eval_log

    scores = export.scores.assign(**dict.fromkeys(empty_columns, float("nan")))
    path = tmp_path / "log.eval"
    write_inspect_log(replace(export, scores=scores), path)
    log = read_eval_log(str(path))
    assert log.results is not None and log.results.total_samples == 2 * CASES
    metrics = log.results.scores[0].metrics
    assert bool(metrics) == ("ci_high" not in empty_columns)
    for metric in metrics.values():
        assert not {"n", "n_cases"} & set(empty_columns) & set(metric.metadata or {})


def test_a_missing_package_is_named_before_a_job_starts(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("moot.report.exports.find_spec", lambda _: None)
    check_packages({"export"})
    assert "pip install 'moot[inspect]'" in caplog.text
    with refusal():
        check_packages({"convert_to_inspect"})
