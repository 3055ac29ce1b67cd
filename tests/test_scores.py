"""Scores against small worked examples."""

import shutil
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, matthews_corrcoef, precision_recall_fscore_support, roc_auc_score

from moot.errors import UserError
from moot.scores import SCORE_COLUMNS, score_experiment
from moot.scores.calibration import auc_of, calibration
from moot.scores.classification import classification, confusion_cells, confusion_metrics
from moot.scores.cost import cost
from moot.scores.dynamics import dynamics
from moot.scores.multilabel import multilabel
from moot.scores.paired import compare_paired, holm, mcnemar_exact
from moot.scores.uncertainty import CaseBootstrap, mean_of, ratio_of
from results_on_disk import REARREST, case, prediction, utterance, write_results


def test_repeats_of_a_case_are_drawn_together():
    bootstrap = CaseBootstrap(["a", "a", "b", "b", "c", "c"], seed=1, resamples=200)
    assert (bootstrap.weights[:, 0::2] == bootstrap.weights[:, 1::2]).all()
    assert (bootstrap.weights.sum(axis=1) == 6).all()
    assert len(np.unique(bootstrap.weights[:, 0])) > 2


def test_repeats_do_not_narrow_the_interval():
    outcomes = {"a": 1, "b": 0, "c": 1, "d": 0}
    once = CaseBootstrap(list(outcomes), seed=3).interval(mean_of(list(outcomes.values())))
    twenty = CaseBootstrap([c for c in outcomes for _ in range(20)], seed=3)
    assert twenty.interval(mean_of([v for v in outcomes.values() for _ in range(20)])) == once


def test_interval_covers_the_mean_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    hits = 0
    for trial in range(300):
        sample = rng.random(80) < 0.3
        low, high = CaseBootstrap([str(i) for i in range(80)], seed=trial, resamples=400).interval(mean_of(sample))
        hits += low <= 0.3 <= high
    assert 0.90 <= hits / 300 <= 0.985


def test_one_case_has_a_value_and_no_interval():
    value, low, high = CaseBootstrap(["a", "a"], seed=0).estimate(ratio_of([1, 3], [2, 2]))
    assert value == 1.0
    assert np.isnan(low) and np.isnan(high)


def test_a_thousand_resamples_of_150_cases_are_quick():
    started = time.perf_counter()
    bootstrap = CaseBootstrap([str(i) for i in range(150)], seed=0)
    for column in range(12):
        bootstrap.estimate(mean_of(np.arange(150) % (column + 2)))
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_gives_the_same_interval(seed):
    cases, values = [str(i) for i in range(30)], np.arange(30)
    assert CaseBootstrap(cases, seed).interval(mean_of(values)) == CaseBootstrap(cases, seed).interval(mean_of(values))
    assert CaseBootstrap(cases, seed).interval(mean_of(values)) != CaseBootstrap(cases, seed + 1).interval(
        mean_of(values)
    )


def scores_by_name(frame, model="tiny", group="overall"):
    rows = frame[(frame["model"] == model) & (frame["group"] == group)]
    return {(row.metric, row.average): row.value for row in rows.itertuples()}


@pytest.fixture
def ten_cases(tmp_path):
    """Four rearrested of ten: 3 hits, 1 miss, 2 false alarms, 3 correct rejections, 1 invalid on a negative."""
    truth = dict(zip("abcdefghij", ["yes"] * 4 + ["no"] * 6, strict=True))
    answers = dict(zip("abcdefghij", ["yes", "yes", "yes", "no", "yes", "yes", "no", "no", "no", ""], strict=True))
    return write_results(
        tmp_path,
        [case(c, truth[c], sex="male" if c in "abcde" else "female", docket=c) for c in truth],
        {"tiny": [prediction(c, truth[c], answers[c], retries=int(c == "j")) for c in truth]},
    )


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
        ("tp", "binary"): 3,
        ("fp", "binary"): 2,
        ("fn", "binary"): 1,
        ("tn", "binary"): 3,
        ("confusion:no:invalid", ""): 1,
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


def test_n_says_what_a_value_rests_on(ten_cases):
    frame = classification(ten_cases).query("model == 'tiny' and group == 'overall'").set_index("metric")
    assert (frame.loc["accuracy", "n"], frame.loc["accuracy", "n_invalid"]) == (9, 1)
    assert (frame.loc["accuracy_invalid_wrong", "n"], frame.loc["accuracy_invalid_wrong", "n_invalid"]) == (10, 1)


def test_groups_are_attributes_with_few_values_and_debates_without_retries(ten_cases):
    groups = set(classification(ten_cases)["group"])
    assert {"overall", "sex=male", "sex=female", "retries=0", "label=yes", "sex=male;label=no"} <= groups
    assert scores_by_name(classification(ten_cases), group="sex=male")["recall", "binary"] == 3 / 4
    assert scores_by_name(classification(ten_cases), group="retries=0")["accuracy_invalid_wrong", ""] == 6 / 9


def test_an_attribute_with_many_values_forms_no_groups(tmp_path):
    cases = [case(str(i), "no", docket=str(i)) for i in range(13)]
    results = write_results(tmp_path, cases, {"tiny": [prediction(str(i), "no", "no") for i in range(13)]})
    assert not classification(results)["group"].str.startswith("docket").any()


def test_references_follow_the_evaluated_base_rates(ten_cases):
    frame = classification(ten_cases)
    majority, coin = (scores_by_name(frame, model) for model in ("majority-class", "base-rate-coin"))
    assert majority["accuracy", ""] == pytest.approx(0.6)
    assert majority["f1", "binary"] == 0
    assert majority["f1", "weighted"] == pytest.approx(0.6 * 0.75)
    assert coin["accuracy", ""] == pytest.approx(0.4**2 + 0.6**2)
    assert coin["f1", "binary"] == pytest.approx(0.4)


LABELS = ("con", "neutral", "pro")


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=30))
def test_metrics_agree_with_scikit_learn(pairs):
    truth, answers = zip(*pairs, strict=True)
    rows = pd.DataFrame({"target": truth, "prediction": answers, "status": "valid", "experiment": "e", "model": "m"})
    counts = confusion_cells(rows, LABELS).sum(axis=0).reshape(1, 3, 4)
    ours = confusion_metrics(counts, LABELS, "pro", strict=False)
    for average in ("macro", "weighted"):
        theirs = precision_recall_fscore_support(truth, answers, average=average, zero_division=0)[:3]
        assert [ours[name, average, ""][0] for name in ("precision", "recall", "f1")] == pytest.approx(theirs)
    theirs = precision_recall_fscore_support(truth, answers, labels=["pro"], average=None, zero_division=0)[:3]
    assert [ours[name, "binary", ""][0] for name in ("precision", "recall", "f1")] == pytest.approx(np.ravel(theirs))
    assert ours["mcc", "", ""][0] == pytest.approx(matthews_corrcoef(truth, answers))
    if len(set(truth) | set(answers)) > 1:
        assert ours["kappa", "", ""][0] == pytest.approx(cohen_kappa_score(truth, answers))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_auc_agrees_with_scikit_learn_ties_included(pairs):
    truth, score = np.array([t for t, _ in pairs], float), np.array([s for _, s in pairs], float)
    ours = auc_of(truth, score)(np.ones((1, len(pairs))))[0]
    if len(set(truth)) == 1:
        assert np.isnan(ours)
    else:
        assert ours == pytest.approx(roc_auc_score(truth, score))


def test_a_drawn_row_counts_as_often_as_it_was_drawn():
    truth, score, weights = np.array([1.0, 0, 1, 0]), np.array([0.9, 0.4, 0.3, 0.2]), np.array([[2.0, 1, 0, 3]])
    assert auc_of(truth, score)(weights)[0] == roc_auc_score(truth, score, sample_weight=weights[0])


def test_a_label_outside_the_task_is_an_error(tmp_path):
    results = write_results(tmp_path, [case("a", "yes")], {"tiny": [prediction("a", "yes", "maybe")]})
    with pytest.raises(UserError, match=r"case 'a': prediction 'maybe'.*expected labels no, yes"):
        classification(results)


def test_calibration_worked_by_hand(tmp_path):
    rows = [("a", "yes", "yes", 90), ("b", "no", "yes", 90), ("c", "no", "no", 60), ("d", "yes", "", None)]
    results = write_results(
        tmp_path,
        [case(name, target) for name, target, _, _ in rows],
        {"tiny": [prediction(name, target, answer, confidence=c) for name, target, answer, c in rows]},
    )
    frame = calibration(results)
    scores = scores_by_name(frame)
    assert scores["brier", ""] == pytest.approx((0.1**2 + 0.9**2 + 0.4**2) / 3)
    assert scores["expected_calibration_error", ""] == pytest.approx((abs(1.8 - 1) + abs(0.6 - 1)) / 3)
    assert scores["auc", ""] == pytest.approx(0.75)
    assert scores["overconfidence", ""] == pytest.approx(0.8 - 2 / 3)
    assert set(frame["n"]) == {3} and set(frame["n_invalid"]) == {1}


def test_a_score_outweighs_a_stated_confidence(tmp_path):
    rows = [prediction("a", "yes", "no", score=0.4), prediction("b", "no", "no", score=0.1)]
    results = write_results(tmp_path, [case("a", "yes"), case("b", "no")], {"tiny": rows})
    scores = scores_by_name(calibration(results))
    assert scores["auc", ""] == 1
    assert scores["confidence", ""] == pytest.approx((0.6 + 0.9) / 2)


def test_cost_counts_invalid_answers_too(ten_cases):
    scores = scores_by_name(cost(ten_cases))
    assert scores["tokens_per_case", ""] == 100
    assert scores["retries_per_case", ""] == pytest.approx(0.1)
    assert set(cost(ten_cases)["n"]) == {10}


def test_several_labels_worked_by_hand(tmp_path):
    task = replace(REARREST, labels=("fraud", "theft", "fire"), positive="", multilabel=True)
    truth = {"a": "fraud;theft", "b": "theft", "c": "fire"}
    answers = {"a": "fraud;theft", "b": "fraud;theft", "c": ""}
    results = write_results(
        tmp_path,
        [case(c, truth[c], task.labels) for c in truth],
        {"tiny": [prediction(c, truth[c], answers[c]) for c in truth]},
        task=task,
    )
    scores = scores_by_name(multilabel(results))
    assert scores["subset_accuracy", ""] == 1 / 2
    assert scores["subset_accuracy_invalid_wrong", ""] == pytest.approx(1 / 3)
    assert scores["f1", "micro"] == pytest.approx(2 * 3 / (3 + 4))
    assert scores["f1", "macro"] == pytest.approx((2 / 3 + 1) / 2)
    assert scores["f1_invalid_wrong", "macro"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert classification(results).empty and calibration(results).empty


def belief(debate, turn, prediction, confidence, **columns):
    return utterance(
        debate, turn, "judge", "hm", visibility="judge", kind="belief", prediction=prediction, confidence=confidence,
        **columns,
    )  # fmt: skip


def test_who_persuaded_the_judge(tmp_path):
    """One debate: the prosecutor moves the judge from 0.4 to 0.7 (a flip), the defence back by 0.1."""
    debate = [
        belief("a#0", 1, "no", 60),
        utterance("a#0", 2, "prosecutor", "secret plan", visibility="prosecutor", kind="strategy"),
        utterance("a#0", 3, "prosecutor", "He did it before."),
        belief("a#0", 4, "yes", 70),
        utterance("a#0", 5, "defense", "He was young."),
        utterance("a#0", 6, "judge", "yes it is", kind="verdict", prediction="yes", confidence=60),
        utterance("a#0", 7, "moot", "", kind="conclusion", prediction="yes", confidence=60),
    ]
    results = write_results(tmp_path, [case("a", "yes")], {"tiny": [prediction("a", "yes", "yes")]}, {"tiny": debate})
    frame = dynamics(results)
    whole = scores_by_name(frame, group="speaker=judge")
    assert whole["flips_per_debate", ""] == 1 and whole["opinions_per_debate", ""] == 3
    prosecution = scores_by_name(frame, group="speaker=judge;after=prosecutor")
    assert prosecution["shift_to_positive", ""] == pytest.approx(0.3)
    assert prosecution["flips_to:yes", ""] == 1
    defence = scores_by_name(frame, group="speaker=judge;after=defense")
    assert defence["shift_to_positive", ""] == pytest.approx(-0.1)
    assert defence["moves_to_negative", ""] == 1
    assert scores_by_name(frame, group="speaker=judge;opinion=first")["accuracy", ""] == 0
    assert scores_by_name(frame, group="speaker=judge;opinion=last")["accuracy", ""] == 1
    assert scores_by_name(frame, group="speaker=judge;turn=4")["confidence", ""] == pytest.approx(0.7)


def test_one_opinion_a_debate_has_no_dynamics(tmp_path):
    rows = [utterance("a#0", 1, "judge", "no", kind="verdict", prediction="no", confidence=60)]
    results = write_results(tmp_path, [case("a", "yes")], {"tiny": []}, {"tiny": rows})
    assert dynamics(results).empty


def test_mcnemar_and_holm_by_hand():
    assert mcnemar_exact(0, 0) == 1
    assert mcnemar_exact(1, 5) == pytest.approx(2 * (1 + 6) / 2**6)
    assert holm([0.04, 0.01, 0.03, float("nan")]) == pytest.approx([0.06, 0.03, 0.06, float("nan")], nan_ok=True)
    assert holm([0.9, 0.8]) == [1, 1]


def test_paired_comparison_takes_the_cases_that_both_argued():
    first = pd.DataFrame([prediction(c, "yes", "yes") for c in "abc"])
    second = pd.DataFrame([prediction("a", "yes", "yes"), prediction("b", "yes", ""), prediction("z", "yes", "no")])
    found = compare_paired(first, second, seed=0)
    assert (found["n"], found["first_alone"], found["second_alone"]) == (2, 1, 0)
    assert found["difference"] == 0.5


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
    with pytest.raises(UserError, match="stands in two shards"):
        _ = results.transcripts


def test_every_scorer_keeps_to_the_schema(tmp_path):
    rows = [utterance("a#0", 1, "judge", "no", prediction="no", confidence=60)]
    results = write_results(tmp_path, [case("a", "yes")], {"tiny": [prediction("a", "yes", "no")]}, {"tiny": rows})
    frame = score_experiment(results)
    assert list(frame.columns) == list(SCORE_COLUMNS)
    assert not frame.duplicated(["model", "group", "metric", "average"]).any()
    pd.testing.assert_frame_equal(frame, score_experiment(results))


def test_scoring_150_cases_is_quick(tmp_path):
    cases = [case(str(i), "yes" if i % 3 else "no", sex="m" if i % 2 else "f") for i in range(150)]
    rows = [prediction(c.case_id, c.target, "yes", confidence=80.0) for c in cases]
    results = write_results(tmp_path, cases, {"tiny": rows})
    started = time.perf_counter()
    classification(results)
    assert time.perf_counter() - started < 2
