"""The assistant of Debate-Feedback: training, storage and its place in a debate."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from judge_scripts import script_judge
from moot.core.cases import Case
from moot.core.errors import UserError
from moot.studies.feedback.protocol import debate_feedback
from moot.studies.feedback.protocol_params import FeedbackParams
from moot.studies.feedback.reliability import (
    OPINION_COLUMNS,
    Assistant,
    debater_opinions,
    load_assistant,
    save_assistant,
    train_assistant,
)
from scripted_model import WINNER, make_debate


def court_cases(count: int = 24, dataset: str = "toy") -> list[Case]:
    """Return cases that plaintiffs win if goods were broken.

    Of each eight, four are for training, two for validation and two for the test.
    """
    splits = ["train", "train", "train", "train", "validation", "validation", "test", "test"]
    stories = [
        "broken crates of glass, which the carrier dropped",
        "late payment, which the buyer had never promised",
    ]
    return [
        Case(
            f"c{n}",
            dataset,
            splits[n % 8],
            f"Matter {n} of {n * 7} sacks: {stories[n % 2]}; witness {n * 13} and clerk {n * 17}"
            " were heard.",
            "plaintiff" if n % 2 == 0 else "defendant",
            WINNER.labels,
        )
        for n in range(count)
    ]


def make_opinions(cases: Sequence[Case]) -> pd.DataFrame:
    """Return an opinion for each label on each case."""
    rows = [
        (
            case.case_id,
            case.case_id,
            case.split,
            case.text,
            label,
            f"Clearly the {label}.",
            case.target == label,
        )
        for case, label in product(cases, WINNER.labels)
    ]
    return pd.DataFrame(rows, columns=list(OPINION_COLUMNS))


@pytest.fixture(scope="module")
def assistant() -> Assistant:
    cases = court_cases(48)
    frame = make_opinions(cases)
    return train_assistant(
        frame[frame["split"] != "test"], cases, WINNER, features="tfidf-crossed", seed=1
    )


def test_the_assistant_learns_correct_opinions(assistant: Assistant) -> None:
    test = make_opinions([case for case in court_cases(48) if case.split == "test"])
    reliability = assistant.reliability(test)
    assert reliability[test["right"]].min() > reliability[~test["right"]].max()
    assert ((reliability > 0) & (reliability < 1)).all()


def test_the_assistant_is_not_trained_on_test_cases_or_copies() -> None:
    cases = court_cases(48)
    tested = next(case for case in cases if case.split == "test")
    twin = Case("twin", "toy", "train", tested.text + " Also.", tested.target, tested.labels)
    frame = make_opinions([*cases, twin])
    assistant = train_assistant(frame[frame["split"] != "test"], [*cases, twin], WINNER)
    assert assistant.card.left_out == ("twin",)
    test_ids = {case.case_id for case in cases if case.split == "test"}
    assert not ({"twin"} | test_ids) & {*assistant.card.trained_on, *assistant.card.calibrated_on}
    with pytest.raises(UserError, match="opinions over the test case"):
        train_assistant(frame, [*cases, twin], WINNER)


@pytest.mark.parametrize(
    ("split_name", "is_correct"), [("train", True), ("train", False), ("validation", True)]
)
def test_opinions_of_one_class_are_an_error(split_name: str, is_correct: bool) -> None:
    frame = make_opinions(court_cases())
    frame = frame[
        (frame["split"] != "test")
        & ((frame["split"] != split_name) | (frame["right"] == is_correct))
    ]
    with pytest.raises(
        UserError,
        match=f"opinions over {split_name} cases are all {'right' if is_correct else 'wrong'}",
    ):
        train_assistant(frame, court_cases(), WINNER)


def test_one_validation_case_is_enough() -> None:
    cases = court_cases(8)
    frame = make_opinions([case for case in cases if case.split == "train"] + [cases[4]])
    assert train_assistant(frame, cases, WINNER).card.calibrated_on == (cases[4].case_id,)


def test_a_stored_assistant_gives_the_same_reliabilities(
    assistant: Assistant, tmp_path: Path
) -> None:
    save_assistant(assistant, tmp_path / "a.skops")
    loaded = load_assistant(tmp_path / "a.skops")
    assert loaded.card == assistant.card and len(loaded.card.trained_on) == 24
    test = make_opinions(court_cases())
    assert (loaded.reliability(test) == assistant.reliability(test)).all()


async def test_a_low_reliability_falls_back_to_the_first_outlook(
    assistant: Assistant, tmp_path: Path
) -> None:
    path = tmp_path / "assistant.skops"
    save_assistant(assistant, path)
    case = next(
        case for case in court_cases(48) if case.split == "test" and case.target == "defendant"
    )
    params = FeedbackParams(
        debaters=1, rounds=1, assistant="training", opinions="form"
    )  # the debater argues for the plaintiff: wrong
    debate = make_debate(script_judge([0.2, 0.8]), params, WINNER, case, {"assistant": path})
    answer = await debate_feedback(debate, params)
    assert answer and answer.score == pytest.approx(0.2) and answer.prediction == "defendant"
    believed = next(utterance for utterance in debate.utterances if utterance.kind == "reliability")
    assert believed.parsed and believed.parsed["reliability"] < 0.5
    trusting = params.model_copy(update={"threshold": 0.0})
    voice = script_judge([0.2, 0.8])
    answer = await debate_feedback(
        make_debate(voice, trusting, WINNER, case, {"assistant": path}), trusting
    )
    assert answer and answer.score == pytest.approx(0.5)
    assert any("How reliable their opinions are" in prompt for prompt in voice.prompts)


async def test_an_assistant_of_other_data_or_of_this_case_is_an_error(
    assistant: Assistant, tmp_path: Path
) -> None:
    path = tmp_path / "other.skops"
    save_assistant(assistant, path)
    params = FeedbackParams(debaters=1, rounds=1, assistant="training")
    for case, message in [
        (court_cases(8, dataset="other")[6], "trained on data set 'toy'"),
        (court_cases(8)[0], "trained the assistant"),
    ]:
        debate = make_debate(script_judge([0.2, 0.8]), params, WINNER, case, {"assistant": path})
        with pytest.raises(UserError, match=message):
            await debate_feedback(debate, params)


def test_opinions_are_read_off_transcripts() -> None:
    cases = court_cases(8)
    transcripts = pd.DataFrame(
        [
            ("c0#0", "c0", "opening", "", "plaintiff", "Broken!"),
            ("c0#0", "c0", "rebuttal", "failed", "plaintiff", ""),
            ("c1#0", "c1", "rebuttal", "strict", "plaintiff", "Owed!"),
            ("c1#0", "c1", "summary", "", None, "In short"),
        ],
        columns=["debate_id", "case_id", "kind", "parse_status", "prediction", "text"],
    )
    frame = debater_opinions(transcripts, cases)
    assert list(frame["opinion"]) == ["Broken!", "Owed!"] and list(frame["right"]) == [True, False]
