"""Test answers by likelihood with servers that list few alternatives or none."""

import json
import math
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom_runs import configuration, hold, people
from fault_server import FaultServer
from moot.core.cases import Task
from moot.core.likelihood import calibrate, complete_logprobs, find_best_threshold, label_shares
from moot.llm.ledger.ledger import Ledger


@pytest.mark.parametrize("listed_count", [20, 5, 1])
def test_an_unlisted_word_never_decides_the_answer(
    listed_count: int, server: FaultServer, tmp_path: Path
) -> None:
    cases = people(tmp_path / "cases.parquet", 40)
    server.reset(alternatives=listed_count, logprobs="given")
    experiment = {"protocol": "zero_shot", "params": {"answer": "likelihood"}}
    config = configuration(server.url, tmp_path, experiment=experiment)
    transcript = hold(config, cases, tmp_path / "out.parquet")
    answers = transcript[transcript["kind"] == "prediction"]
    with closing(Ledger(config["ledger"])) as ledger:
        replies = ledger.replies(list(answers["call_id"]))
    for answer in answers.replace({float("nan"): None}).to_dict("records"):
        word_logprobs, parsed = replies[answer["call_id"]].logprobs, json.loads(answer["parsed"])
        assert all(map(math.isfinite, word_logprobs.values()))
        if word_logprobs:
            assert answer["prediction"].upper() == max(
                word_logprobs, key=lambda word: word_logprobs[word]
            )
            assert set(parsed.get("unlisted", [])) == {"yes", "no"} - {
                word.lower() for word in word_logprobs
            }
        else:
            assert (answer["parse_status"], answer["prediction"]) == ("invalid", None)
            assert "lists none of the words" in parsed["problem"]
    single_word_replies = [reply for reply in replies.values() if len(reply.logprobs) == 1]
    assert any(not reply.logprobs for reply in replies.values()) and bool(single_word_replies) == (
        listed_count == 1
    )


numbers = st.one_of(st.floats(-1e3, 0), st.just(-math.inf), st.just(math.nan))


@given(
    st.dictionaries(st.sampled_from(["YES", "NO", "MAYBE"]), numbers), st.one_of(st.none(), numbers)
)
def test_unlisted_words_stay_below_listed_words(
    logprobs: dict[str, float], unlisted: float | None
) -> None:
    words = ("YES", "NO", "MAYBE")
    listed_words = {word for word, value in logprobs.items() if math.isfinite(value)}
    completed = complete_logprobs(logprobs, words, unlisted)
    assert (completed is None) == (not listed_words)
    if completed is not None:
        assert all(map(math.isfinite, completed.values())) and all(
            map(math.isfinite, label_shares(completed).values())
        )
        assert all(completed[word] == logprobs[word] for word in listed_words)
        unlisted_shares = [completed[word] for word in set(words) - listed_words]
        if unlisted_shares:
            assert max(unlisted_shares) < min(completed[word] for word in listed_words)


def test_an_unlisted_word_gets_half_of_the_smallest_bound() -> None:
    completed = complete_logprobs({"YES": math.log(0.9)}, ("YES", "NO"))
    assert completed and math.exp(completed["NO"]) == pytest.approx(0.05)
    completed = complete_logprobs({"YES": math.log(0.5)}, ("YES", "NO"), math.log(0.02))
    assert completed and math.exp(completed["NO"]) == pytest.approx(0.01)


def test_answers_are_calibrated_on_validation_cases_alone() -> None:
    logprobs = [{"a": math.log(share), "b": 0.0, "c": -9.0} for share in (0.9, 0.8, 0.7)]
    conclusions = pd.DataFrame({"case_id": ["v1", "v2", "t1"], "logprobs": [*logprobs[:2], None]})
    conclusions = conclusions.assign(prediction="b", confidence=50.0, probability=0.5, score=0.5)
    task = Task("it", "Which?", ("a", "b", "c"))
    targets, splits = {"v1": "a", "v2": "a", "t1": "b"}, {"v1": "validation", "v2": "validation"}
    assert calibrate(conclusions, {}, targets, task) is conclusions
    calibrated = calibrate(conclusions, splits, targets, task)
    assert calibrated["prediction"].tolist() == ["a", "a", "b"]
    assert calibrated["confidence"].tolist()[2] == 50 and calibrated["score"].isna()[0]
    assert (100 * calibrated["probability"] == calibrated["confidence"]).tolist() == [True] * 3


@given(
    st.lists(
        st.tuples(st.sampled_from([0.1, 0.25, 0.5, 0.5000001, 0.7, 0.9]), st.booleans()),
        min_size=1,
        max_size=25,
    )
)
def test_the_threshold_has_the_best_macro_f1_and_is_nearest_to_one_half(
    cases: list[tuple[float, bool]],
) -> None:
    from sklearn.metrics import f1_score

    scores, positive = [score for score, _ in cases], [truth for _, truth in cases]
    ordered = sorted(set(scores))
    candidates = [0.5, *((low + high) / 2 for low, high in pairwise(ordered))]

    def quality(threshold: float) -> tuple[float, float]:
        predicted = [score >= threshold for score in scores]
        return f1_score(positive, predicted, average="macro", zero_division=0), -abs(
            threshold - 0.5
        )

    assert find_best_threshold(scores, positive) == max(candidates, key=quality)
