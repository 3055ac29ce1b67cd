"""No case learns from a training case that resembles a test case, such as a copy or a cut copy."""

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from files_of_cases import MakeContext, load, write_lines
from moot.core.cases import Case, resembles_test_case
from moot.datasets import Loaded
from moot.datasets.near_duplicates import find_near_duplicates
from moot.plan.debated_cases import choose_debated_cases
from moot.training.baselines import select
from moot.training.evaluation import evaluate
from moot.training.examples import examples

PROJECT = Path(__file__).resolve().parents[3]
COUNT = 40
PLANTED = 20
LEFT_OUT = "training and validation cases that resemble a test case (nothing learns from them)"


def make_words(draw: random.Random, count: int = 120) -> list[str]:
    """Return made-up words that no other text has."""
    return ["".join(draw.choices("bcdfglmnprst", k=3)) + draw.choice("aeiou") for _ in range(count)]


def make_characters(draw: random.Random) -> list[str]:
    """Return 200 random Chinese characters."""
    return [chr(0x4E00 + draw.randrange(3000)) for _ in range(200)]


def drop_words(text: list[str], draw: random.Random, share: float = 0.07) -> list[str]:
    """Return a copy of a text without some of its words."""
    return [word for word in text if draw.random() >= share]


def write_cases(path: Path, texts: Iterable[str], plaintiffs: Iterable[bool]) -> None:
    records = [
        {"case_background": text, "labels": "Plaintiff wins" if is_won else "Defendant wins"}
        for text, is_won in zip(texts, plaintiffs, strict=True)
    ]
    write_lines(path, records)


@pytest.fixture
def planted(tmp_path: Path, load_context: MakeContext) -> Loaded:
    """Load forty test cases with random labels; training has copies of twenty of them.

    A copy lacks 7 % of the words.
    """
    draw = random.Random(5)
    tested = [make_words(draw) for _ in range(COUNT)]
    other_texts = [make_words(draw) for _ in range(COUNT)]
    outcomes = [draw.random() < 0.5 for _ in range(COUNT)]
    others_won = [draw.random() < 0.5 for _ in range(COUNT)]
    copies = [drop_words(text, draw) for text in tested[:PLANTED]]
    write_cases(tmp_path / "test.jsonl", map(" ".join, tested), outcomes)
    write_cases(
        tmp_path / "train.jsonl",
        map(" ".join, [*other_texts, *copies]),
        [*others_won, *outcomes[:PLANTED]],
    )
    return load(
        load_context("caselaw"),
        source="local",
        files={"train": "train.jsonl", "test": "test.jsonl"},
    )


def test_no_baseline_is_trained_on_planted_copies(planted: Loaded) -> None:
    assert (
        planted.cleaning[LEFT_OUT]
        == planted.cleaning["near-duplicate pairs across splits"]
        == PLANTED
    )
    data = examples(planted.cases, planted.task)
    assert data.left_out == PLANTED
    assert data.cases["split"].value_counts().to_dict() == {"train": COUNT, "test": COUNT}
    evaluation = evaluate(data, select(["tfidf-logistic-regression", "reference"]), seed=1, folds=2)
    assert set(evaluation.leaderboard["left_out"]) == {PLANTED}
    copied = {
        case.attributes["near_duplicate_of"] for case in planted.cases if resembles_test_case(case)
    }
    answers = evaluation.predictions[
        evaluation.predictions["baseline"] == "tfidf-logistic-regression"
    ]
    answers = answers[answers["case_id"].isin(copied)]
    correct_count = (answers["prediction"] == answers["target"]).sum()
    assert len(answers) == PLANTED and correct_count < 0.85 * PLANTED, (
        "a copy that was trained on is always right"
    )


def test_training_debates_and_thresholds_leave_copies_out(planted: Loaded) -> None:
    class Config:
        split, cases, calibration_cases, dataset = "train", None, 0, "caselaw"
        case_ids = ()

    class Experiment:
        name, config = "training", Config()

    debated = choose_debated_cases(Experiment(), planted.cases, seed=1)
    assert len(debated) == COUNT and not any(map(resembles_test_case, debated))


@pytest.mark.parametrize(("language", "joint"), [("en", " "), ("zh", "")])
@pytest.mark.parametrize("spoil", [drop_words, lambda text, draw: text[: len(text) // 2]])
def test_thinned_and_halved_copies_are_found(language: str, joint: str, spoil: Any) -> None:
    draw = random.Random(7)
    texts = [make_words(draw) for _ in range(30)]
    if language == "zh":
        texts = [make_characters(draw) for _ in range(30)]
    both = {f"{n}": joint.join(text) for n, text in enumerate(texts)}
    both |= {f"copy of {n}": joint.join(spoil(text, draw)) for n, text in enumerate(texts)}
    pairs = find_near_duplicates(both, language)
    assert {(pair.first, pair.second) for pair in pairs} <= {
        (f"{n}", f"copy of {n}") for n in range(30)
    }
    assert len(pairs) >= (28 if spoil is drop_words else 24), (
        "a copy that lost twice as much may be missed, and some halves"
    )


def test_only_marked_cases_outside_the_test_split_leak() -> None:
    def case(split: Any, **attributes: str) -> Case:
        return Case("a", "d", split, "t", "yes", ("no", "yes"), attributes)

    assert resembles_test_case(case("train", near_duplicate_of="x"))
    assert resembles_test_case(case("validation", near_duplicate_of="x"))
    assert not resembles_test_case(case("test", near_duplicate_of="x")) and not resembles_test_case(
        case("train", topic="x")
    )


def test_the_second_published_caselaw_file_is_the_test_set(
    tmp_path: Path, load_context: MakeContext
) -> None:
    """The file of 1000 cases trains and validates, and the other one tests.

    config/papers/feedback.yaml names them so.
    """
    draw = random.Random(9)
    write_cases(
        tmp_path / "caselaw/trial_prediction.jsonl",
        [" ".join(make_words(draw)) for _ in range(200)],
        [True, False] * 100,
    )
    write_cases(
        tmp_path / "caselaw/trial_prediction_test.jsonl",
        [" ".join(make_words(draw)) for _ in range(30)],
        [True] * 30,
    )
    configuration = yaml.safe_load((PROJECT / "config/papers/feedback.yaml").read_text())
    paper = configuration["datasets"]["paper-caselaw"]
    loaded = load(
        load_context("caselaw"),
        source="local",
        files=paper["files"],
        validation=paper["validation"],
    )
    counts = Counter(case.split for case in loaded.cases)
    assert counts["test"] == 30 and counts["train"] + counts["validation"] == 200
    assert 35 <= counts["validation"] <= 65
