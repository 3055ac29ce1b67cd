"""The results of an experiment as they are read from its files."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from moot.core.artifacts import describe, write_rows
from moot.core.errors import UserError
from moot.scores.classification_scores import classification
from moot.scores.results import ExperimentResults, MadeUpInputs
from moot.scores.served import served, version_notes, versions_said
from results_on_disk import case, prediction, utterance, write_results

CASES = [case("c1", "yes"), case("c2", "no")]


def write_run(folder: Path) -> ExperimentResults:
    """Write two debates: statements, a private note, a computed turn, silence and conclusions."""
    talk = []
    for debate in ("c2#0", "c1#0"):
        talk += [
            utterance(debate, 1, "pro", "Words."),
            utterance(debate, 2, "pro", "Hidden.", visibility="judge"),
            utterance(debate, 3, "moot", "Counted.", source="computed"),
            utterance(debate, 4, "pro", ""),
            utterance(debate, 5, "moot", "End.", kind="conclusion"),
        ]
    rows = [prediction(item.case_id, item.target, "yes") for item in CASES]
    return write_results(folder, CASES, {"m": rows}, {"m": talk})


def test_public_statements_are_what_seats_say_to_all(tmp_path: Path) -> None:
    results = write_run(tmp_path)
    statements = pd.concat(results.public_statements(["turn"]))
    assert statements[["debate_id", "turn", "text"]].values.tolist() == [
        ["c1#0", 1, "Words."],
        ["c2#0", 1, "Words."],
    ]
    assert results.cases_of_debates == {"c1#0": "c1", "c2#0": "c2"}
    assert results.target_by_id == {"c1": "yes", "c2": "no"}
    assert results.transcript_shards.turns == 10
    names = replace(results.config, recorded_names={"m": "Ann"})
    assert (names.name_of("m"), names.name_of("n")) == ("Ann", "n")
    assert repr(results) == "ExperimentResults('toy-courtroom')"


def test_only_declared_files_are_read(tmp_path: Path) -> None:
    folder = write_run(tmp_path).results
    labels, baselines = folder / "labels/toy-courtroom/m.parquet", folder / "baselines"
    write_rows(labels, "labels", [{"debate_id": "c1#0", "label": "A"}], describe())
    row = {"baseline": "rf", "case_id": "c1"}
    predicted = baselines / "toy_predictions.parquet"
    write_rows(predicted, "baseline_predictions", [row], describe())
    for kind in ("calls", "annotations"):
        write_rows(folder / kind / "toy-courtroom/m.parquet", kind, [{}, {}], describe())
    shards = [folder / f"transcripts/toy-courtroom/m/{number}.parquet" for number in (0, 10, 9)]
    for shard in shards[1:]:
        write_rows(shard, "transcripts", [], describe())

    def open_results(files: list[Path] | None) -> ExperimentResults:
        config = write_run(tmp_path).config
        return ExperimentResults(folder, "toy-courtroom", config, files=files)

    everything = open_results(None)
    assert len(everything.labels) == len(everything.baseline_predictions) == 1
    assert len(everything.calls) == len(everything.annotations) == 2
    assert [len(calls) for calls in everything.calls_of("m")] == [2]
    declared = open_results([labels, predicted, *shards])
    assert len(declared.labels) == len(declared.baseline_predictions) == 1
    assert declared.transcript_shards.turns == 10
    nothing = open_results([labels.parents[1] / "other/m.parquet"])
    assert nothing.labels.empty and nothing.baseline_predictions.empty
    with pytest.raises(ValueError, match="the rule does not name it"):
        _ = nothing.calls
    (folder / "annotations/toy-courtroom/m.parquet").unlink()
    with pytest.raises(UserError, match="expected one for each of the experiment's models"):
        _ = open_results(None).annotations


def test_remarks_on_made_up_inputs_occur_once() -> None:
    inputs = [MadeUpInputs(("a", "b"), ("x",)), MadeUpInputs(("b", "c"), ("x", "y"))]
    all_inputs = MadeUpInputs.of_all(inputs)
    assert all_inputs == MadeUpInputs(("a", "b", "c"), ("x", "y"))
    assert all_inputs.notes == ("a", "b", "c", "x", "y")


def test_versions_of_a_model_are_counted_and_named(tmp_path: Path) -> None:
    """One model was served by two versions, one by another than was asked for, one by six."""
    versions = {
        "two": ["v1, p", "v1, p", "v2"],
        "other": ["small (asked: large)"] * 3,
        "one": ["v1"] * 3,
    }
    cases = [case(f"c{number}", "yes") for number in range(6)]
    rows = {}
    for model, served_by in versions.items():
        pairs = zip(cases, served_by, strict=False)
        rows[model] = [
            prediction(item.case_id, "yes", "yes", served_by=[(model, of)]) for item, of in pairs
        ]
    places = enumerate(cases)
    rows["six"] = [
        prediction(item.case_id, "yes", "yes", served_by=[("six", f"v{n}")]) for n, item in places
    ]
    results = write_results(tmp_path, cases, rows, experiment="x")
    start = "these debates were served by other versions of a model than was asked for, or by"
    version_names = "; ".join(f"six: v{number} (1 of 6 debates)" for number in range(4))
    assert version_notes(results.predictions) == [
        f"Warning: x, two: {start} several: two: v1, p (2 of 3 debates); two: v2 (1 of 3 debates).",
        f"Warning: x, other: {start} several: other: small (asked: large) (3 of 3 debates).",
        f"Warning: x, six: {start} several: {version_names}; and 2 more.",
    ]
    scores = served(results)
    assert list(versions_said(scores, "x", "two")) == [("two", "v1"), ("two", "v2")]
    of_two = scores[scores["model"] == "two"].set_index("group")["value"]
    assert of_two.to_dict() == {"served_by=two: v1, p": 2, "served_by=two: v2": 1}
    other_scores = scores.assign(metric="other")
    assert list(versions_said(pd.concat([other_scores, scores]), "x", "one")) == [("one", "v1")]
    assert list(versions_said(scores, "y", "one")) == []


def test_answers_without_truth_have_shares_of_labels(tmp_path: Path) -> None:
    rows = [prediction(f"c{n}", "", "yes" if n % 3 else "no") for n in range(6)]
    rows.append(prediction("c6", "", ""))
    cases = [case(f"c{n}", "") for n in range(7)]
    scores = classification(write_results(tmp_path, cases, {"m": rows}))
    assert scores[["metric", "value", "n", "n_invalid"]].values.tolist() == [
        ["share:no", pytest.approx(1 / 3), 6, 1],
        ["share:yes", pytest.approx(2 / 3), 6, 1],
    ]
