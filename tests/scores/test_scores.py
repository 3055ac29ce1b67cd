"""Test scores against small worked examples."""

import json
import shutil
from dataclasses import replace
from itertools import product

import pandas as pd
import pytest

from moot.core.errors import UserError
from moot.scores import SCORE_COLUMNS, score_experiment, transcript_shards
from moot.scores.classification_scores import classification
from moot.scores.confidence_scores import calibration
from moot.scores.cost import cost
from moot.scores.dynamics import dynamics, stated_predictions
from moot.scores.multilabel import multilabel
from moot.scores.refusals import refusal_notes
from results_on_disk import REARREST, case, prediction, utterance, write_results


def scores_by_name(frame, model="tiny", group="overall"):
    rows = frame[(frame["model"] == model) & (frame["group"] == group)]
    return {(row.metric, row.average): row.value for row in rows.itertuples()}


@pytest.fixture
def ten_cases(tmp_path):
    """Return ten cases: 3 hits, 1 miss, 2 false alarms, 3 correct rejections, 1 invalid."""
    truth = dict(zip("abcdefghij", ["yes"] * 4 + ["no"] * 6, strict=True))
    answers = dict(
        zip(
            "abcdefghij",
            ["yes", "yes", "yes", "no", "yes", "yes", "no", "no", "no", ""],
            strict=True,
        )
    )
    cases, rows = [], []
    for name, target in truth.items():
        sex = "male" if name in "abcde" else "female"
        cases.append(case(name, target, sex=sex, docket=name))
        rows.append(prediction(name, target, answers[name], retries=int(name == "j")))
    return write_results(tmp_path, cases, {"tiny": rows})


def test_scores_of_ten_cases_worked_by_hand(ten_cases):
    scores = scores_by_name(classification(ten_cases))
    expected = {
        ("accuracy", ""): 6 / 9,
        ("accuracy_invalid_wrong", ""): 6 / 10,
        ("precision", "binary"): 3 / 5,
        ("recall", "binary"): 3 / 4,
        ("f1", "binary"): 6 / 9,
        ("f1", "macro"): (6 / 9 + 6 / 9) / 2,
        ("recall", "weighted"): 6 / 9,
        ("recall_invalid_wrong", "macro"): (3 / 4 + 3 / 6) / 2,
        ("f1_invalid_wrong", "weighted"): (4 * 6 / 9 + 6 * 6 / 10) / 10,
        ("predicted_positive_rate", "binary"): 5 / 9,
        ("base_rate", "binary"): 4 / 9,
        ("base_rate_distance", "binary"): 1 / 9,
        ("false_positive_rate", "binary"): 2 / 5,
        ("confusion:yes:yes", ""): 3,
        ("confusion:no:yes", ""): 2,
        ("confusion:yes:no", ""): 1,
        ("confusion:no:no", ""): 3,
        ("confusion:no:invalid", ""): 1,
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


def test_n_is_the_number_of_debates_of_a_value(ten_cases):
    frame = (
        classification(ten_cases)
        .query("model == 'tiny' and group == 'overall'")
        .set_index("metric")
    )
    assert (frame.loc["accuracy", "n"], frame.loc["accuracy", "n_invalid"]) == (9, 1)
    assert (
        frame.loc["accuracy_invalid_wrong", "n"],
        frame.loc["accuracy_invalid_wrong", "n_invalid"],
    ) == (10, 1)


def test_groups_are_attributes_with_few_values_and_debates_without_retries(ten_cases):
    groups = set(classification(ten_cases)["group"])
    assert {
        "overall",
        "sex=male",
        "sex=female",
        "retries=0",
        "label=yes",
        "sex=male;label=no",
    } <= groups
    assert scores_by_name(classification(ten_cases), group="sex=male")["recall", "binary"] == 3 / 4
    assert (
        scores_by_name(classification(ten_cases), group="retries=0")["accuracy_invalid_wrong", ""]
        == 6 / 9
    )


def test_an_attribute_with_many_values_forms_no_groups(tmp_path):
    cases, rows = [], []
    for name in map(str, range(13)):
        cases.append(case(name, "no", docket=name))
        rows.append(prediction(name, "no", "no"))
    results = write_results(tmp_path, cases, {"tiny": rows})
    assert not classification(results)["group"].str.startswith("docket").any()


def test_reference_scores_follow_the_evaluated_base_rates(ten_cases):
    frame = classification(ten_cases)
    majority, coin = (
        scores_by_name(frame, model) for model in ("majority-class", "base-rate-coin")
    )
    assert majority["accuracy", ""] == pytest.approx(0.6)
    assert majority["f1", "binary"] == 0
    assert majority["f1", "weighted"] == pytest.approx(0.6 * 0.75)
    assert coin["accuracy", ""] == pytest.approx(0.4**2 + 0.6**2)
    assert coin["f1", "binary"] == pytest.approx(0.4)


def test_a_label_outside_the_task_is_an_error(tmp_path):
    results = write_results(
        tmp_path, [case("a", "yes")], {"tiny": [prediction("a", "yes", "maybe")]}
    )
    with pytest.raises(UserError, match=r"case 'a': prediction 'maybe'.*expected labels no, yes"):
        classification(results)


def test_calibration_worked_by_hand(tmp_path):
    rows = [
        ("a", "yes", "yes", 90),
        ("b", "no", "yes", 90),
        ("c", "no", "no", 60),
        ("d", "yes", "", None),
    ]
    cases, predictions = [], []
    for name, target, answer, confidence in rows:
        cases.append(case(name, target))
        predictions.append(prediction(name, target, answer, confidence=confidence))
    results = write_results(tmp_path, cases, {"tiny": predictions})
    frame = calibration(results)
    scores = scores_by_name(frame)
    brier = pytest.approx((0.05**2 + 0.95**2 + 0.2**2) / 3)
    assert scores["brier", ""] == scores["brier_of_prediction", ""] == brier
    assert scores["expected_calibration_error", ""] == pytest.approx(
        (abs(1.9 - 1) + abs(0.8 - 1)) / 3
    )
    assert scores["auc", ""] == pytest.approx(0.75)
    assert scores["auc_of_confidence", ""] == pytest.approx(0.25), "one tie of two pairs"
    assert scores["overconfidence", ""] == pytest.approx(0.9 - 2 / 3)
    assert set(frame["n"]) == {3} and set(frame["n_invalid"]) == {1}


def test_a_score_has_priority_over_a_stated_confidence(tmp_path):
    rows = [prediction("a", "yes", "no", score=0.4), prediction("b", "no", "no", score=0.1)]
    results = write_results(tmp_path, [case("a", "yes"), case("b", "no")], {"tiny": rows})
    scores = scores_by_name(calibration(results))
    assert scores["auc", ""] == 1
    assert scores["confidence", ""] == pytest.approx((0.6 + 0.9) / 2)


def test_cost_includes_invalid_answers(ten_cases):
    scores = scores_by_name(cost(ten_cases))
    assert scores["tokens_per_case", ""] == 100
    assert scores["retries_per_case", ""] == pytest.approx(0.1)
    assert set(cost(ten_cases)["n"]) == {10}


def test_several_labels_worked_by_hand(tmp_path):
    task = replace(REARREST, labels=("fraud", "theft", "fire"), positive="", multilabel=True)
    truth = {"a": "fraud;theft", "b": "theft", "c": "fire"}
    answers = {"a": "fraud;theft", "b": "fraud;theft", "c": ""}
    cases, rows = [], []
    for name, target in truth.items():
        cases.append(case(name, target, task.labels))
        rows.append(prediction(name, target, answers[name]))
    results = write_results(tmp_path, cases, {"tiny": rows}, task=task)
    scores = scores_by_name(multilabel(results))
    assert scores["subset_accuracy", ""] == 1 / 2
    assert scores["subset_accuracy_invalid_wrong", ""] == pytest.approx(1 / 3)
    assert scores["f1", "micro"] == pytest.approx(2 * 3 / (3 + 4))
    assert scores["f1", "macro"] == pytest.approx((2 / 3 + 1) / 2)
    assert scores["f1", "weighted"] == pytest.approx((1 * 2 / 3 + 2 * 1) / 3)
    assert scores["f1_invalid_wrong", "macro"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert classification(results).empty and calibration(results).empty


def belief(debate, turn, prediction, confidence, **columns):
    return utterance(
        debate,
        turn,
        "judge",
        "hm",
        visibility="judge",
        kind="belief",
        prediction=prediction,
        confidence=confidence,
        **columns,
    )


def test_the_moves_of_a_judge_are_computed(tmp_path):
    """The prosecutor moves the judge from 0.2 to 0.85 (a flip), the defence back by 0.05."""
    debate = [
        belief("a#0", 1, "no", 60),
        utterance("a#0", 2, "prosecutor", "secret plan", visibility="prosecutor", kind="strategy"),
        utterance("a#0", 3, "prosecutor", "He did it before."),
        belief("a#0", 4, "yes", 70),
        utterance("a#0", 5, "defense", "He was young."),
        utterance("a#0", 6, "judge", "yes it is", kind="verdict", prediction="yes", confidence=60),
        utterance("a#0", 7, "moot", "", kind="conclusion", prediction="yes", confidence=60),
    ]
    results = write_results(
        tmp_path, [case("a", "yes")], {"tiny": [prediction("a", "yes", "yes")]}, {"tiny": debate}
    )
    frame = dynamics(results)
    judge = scores_by_name(frame, group="speaker=judge")
    assert judge["flips_per_debate", ""] == judge["debates_with_flip", ""] == 1
    first, last = (
        scores_by_name(frame, group=f"speaker=judge;opinion={moment}")
        for moment in ("first", "last")
    )
    assert (first["accuracy", ""], last["accuracy", ""]) == (0, 1)
    assert first["belief_in_positive", ""] == pytest.approx(0.2)
    assert last["belief_in_positive", ""] == pytest.approx(0.8)
    assert last["confidence", ""] == pytest.approx(0.6)
    opinions = stated_predictions(results)
    assert opinions["shift"].tolist()[1:] == pytest.approx([0.65, -0.05])
    assert opinions["heard"].tolist() == [0, 1, 1], "strategies are private"


def test_debates_with_one_opinion_have_no_dynamics(tmp_path):
    rows = [utterance("a#0", 1, "judge", "no", kind="verdict", prediction="no", confidence=60)]
    results = write_results(tmp_path, [case("a", "yes")], {"tiny": []}, {"tiny": rows})
    assert dynamics(results).empty


def test_cases_of_other_splits_are_not_evaluated(tmp_path):
    fitted = replace(case("v", "yes"), split="validation")
    rows = [prediction("a", "yes", "yes"), prediction("v", "yes", "no")]
    results = write_results(tmp_path, [case("a", "yes"), fitted], {"tiny": rows})
    assert list(results.predictions["case_id"]) == ["a"]


def test_a_shard_of_an_older_run_is_an_error(tmp_path):
    rows = [utterance("a#0", 1, "judge", "no")]
    results = write_results(tmp_path, [case("a", "yes")], None, {"tiny": rows})
    folder = tmp_path / "transcripts" / "toy-courtroom" / "tiny"
    shutil.copy(folder / "0.parquet", folder / "1.parquet")
    with pytest.raises(UserError, match="is in two shards"):
        _ = results.transcripts
    with pytest.raises(UserError, match="turn 1 of debate a#0 is in two shards"):
        list(results.transcript_parts(["text"]))


@pytest.mark.parametrize("max_utterances", [4, 100_000])
def test_transcripts_read_in_parts_equal_those_read_at_once(tmp_path, monkeypatch, max_utterances):
    monkeypatch.setattr(transcript_shards, "_MAX_UTTERANCES_PER_READ", max_utterances)
    cases = [case(name, "yes") for name in "abcd"] + [replace(case("v", "yes"), split="validation")]
    conclusion_fields = {
        "kind": "conclusion",
        "speaker": "moot",
        "parsed": json.dumps({"status": "waiting", "reason": "", "score": None}),
    }
    rows = [
        utterance(f"{name}#0", turn, "judge", f"{name}{turn}")
        for name, turn in product("dbv", (2, 1))
    ]
    for name, turn in product("ca", (1, 2)):
        rows.append(utterance(f"{name}#0", turn, "judge", None))
    rows.append(utterance("c#0", 3, **conclusion_fields))
    results = write_results(tmp_path, cases, None, {"tiny": rows[:6]})
    shard = tmp_path / "transcripts" / "toy-courtroom" / "tiny" / "0.parquet"
    first_shard = shard.read_bytes()
    write_results(tmp_path, cases, None, {"tiny": rows[6:]})
    shard.rename(shard.with_name("1.parquet"))
    shard.write_bytes(first_shard)
    columns = ["model", "debate_id", "turn", "case_id", "text"]
    expected = results.transcripts[columns]
    assert list(expected["text"]) == ["", "", "b1", "b2", "d1", "d2"]
    pd.testing.assert_frame_equal(results.gather(lambda part: part, ["text"]), expected)
    parts_read = results.transcript_parts([], include_validation=True)
    parts = [list(part["debate_id"].unique()) for part in parts_read]
    assert parts == (
        [["b#0", "d#0"], ["v#0"], ["a#0"], []]
        if max_utterances < 10
        else [["b#0", "d#0", "v#0"], ["a#0"]]
    )
    with_waiting: list[str] = []
    for part in results.transcript_parts([], include_waiting=True):
        with_waiting += list(part["debate_id"].unique())
    assert with_waiting == ["b#0", "d#0", "a#0", "c#0"]


def test_every_scorer_follows_the_schema(tmp_path):
    rows = [
        utterance("a#0", 1, "judge", "no", prediction="no", confidence=60),
        utterance("a#0", 2, "judge", "I cannot.", kind="verdict", parse_status="refused"),
        utterance("a#0", 3, "clerk", "Yes.", source="person"),
    ]
    results = write_results(
        tmp_path, [case("a", "yes")], {"tiny": [prediction("a", "yes", "no")]}, {"tiny": rows}
    )
    frame = score_experiment(results)
    assert list(frame.columns) == list(SCORE_COLUMNS)
    assert not frame.duplicated(["model", "group", "metric", "average"]).any()
    pd.testing.assert_frame_equal(frame, score_experiment(results))
    [note] = refusal_notes(frame)
    assert "50.0% of 2 replies refuse" in note
