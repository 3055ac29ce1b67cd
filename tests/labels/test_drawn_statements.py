"""Which utterances are statements, and which statements are drawn for people."""

import pandas as pd

from moot.core.utterance_kinds import CONCLUSION
from moot.labels.statements import are_statements, draw_statements

STATEMENTS = pd.DataFrame(
    {
        "item": [f"s{number}" for number in range(60)],
        "text": ["Words." if number % 3 else "" for number in range(60)],
    }
)


def test_a_larger_draw_contains_the_smaller_one_and_only_statements_with_words() -> None:
    first, second = (draw_statements(STATEMENTS, count, seed=1) for count in (10, 25))
    assert (len(first), len(second)) == (10, 25)
    assert set(first["item"]) < set(second["item"])
    assert (second["text"] != "").all()
    assert second.index.is_monotonic_increasing, "a reader sees the order of the debate"
    assert set(draw_statements(STATEMENTS, 10, seed=2)["item"]) != set(first["item"])
    assert len(draw_statements(STATEMENTS, 100, seed=1)) == 40


def test_each_statement_is_drawn_equally_often() -> None:
    draws = [draw_statements(STATEMENTS, 10, seed)["item"] for seed in range(400)]
    counts = pd.concat(draws).value_counts()
    assert len(counts) == 40 and counts.min() > 60 and counts.max() < 140  # 100 are expected


def test_a_statement_is_public_and_in_words_and_no_answer() -> None:
    statement = {"kind": "opening", "text": "It is so.", "source": "model", "visibility": "public"}
    changes = [
        {},
        {"parse_status": "invalid"},
        {"text": " "},
        {"text": None},
        {"source": "computed"},
        {"visibility": "judge"},
        {"prediction": "yes"},
        {"kind": CONCLUSION},
    ]
    utterances = pd.DataFrame([statement | change for change in changes])
    assert are_statements(utterances, ()).tolist() == [True, *[False] * 7]
    assert are_statements(utterances, ["opening"]).tolist() == [True] * 7 + [False]
