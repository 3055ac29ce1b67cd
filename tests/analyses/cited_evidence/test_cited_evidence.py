"""Cited evidence: citations are read, compared with the case's passages, and counted by speaker."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from moot.analyses.cited_evidence.citations import cited_numbers
from moot.analyses.cited_evidence.tables import (
    ALL_SPEAKERS,
    COLUMNS,
    NO_EVIDENCE,
    NO_STATEMENT,
    cited_evidence,
    has_evidence,
)
from moot.core.evidence import Passage, with_evidence
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from results_on_disk import case, prediction, utterance, write_results

PASSAGES = [Passage(f"Point {number}.", "letter") for number in range(4)]


@pytest.mark.parametrize(
    ("statement", "numbers"),
    [
        ("As [1] shows.", [1]),
        ("[1][2] and [1]", [1, 2, 1]),
        ("[1, 3]; [2;4]", [1, 3, 2, 4]),
        ("[1-3] and [2–4]", [1, 2, 3, 2, 3, 4]),
        ("依据［2］和【3】", [2, 3]),
        ("[1、2]", [1, 2]),
        ("Passage 1, (2), [a], [1a], [], [ 1 ]", []),
        ("a[0] and [99999] and [9999]", [0, 9999]),
        ("[3-1]", [3, 1]),
        ("[1-9999]", [1, 9999]),
        ("", []),
    ],
)
def test_citations_are_read(statement: str, numbers: list[int]) -> None:
    assert cited_numbers(statement) == numbers


@pytest.mark.parametrize("text", ["[" * 50_000, "[1," * 30_000, "[1-" * 30_000, "[1 " * 30_000])
def test_hostile_statements_cost_no_time(text: str) -> None:
    start = time.process_time()
    cited_numbers(text)
    assert time.process_time() - start < 5


def table_of(folder: Path, talk: list[dict[str, Any]], passages: int = 4) -> pd.DataFrame:
    names = [f"c{number}" for number in range(12)]
    cases = []
    for number, name in enumerate(names):
        plain = case(name, ("no", "yes")[number % 2])
        cases.append(replace(plain, text=with_evidence(plain.text, PASSAGES[:passages])))
    predictions = [prediction(name, "no", "no") for name in names]
    results = write_results(folder, cases, {"tiny": predictions}, {"tiny": talk})
    published: Any = None
    study = StudyResults("courtroom", {"toy-courtroom": results}, no_scores(), {}, published)
    return cited_evidence(study).frame


def talk_of_twelve() -> list[dict[str, Any]]:
    talk = []
    for number in range(12):
        talk += [
            utterance(f"c{number}", 0, "prosecutor", "By [1] and [2] it holds; [7] too."),
            utterance(f"c{number}", 1, "defense", "Nothing is cited here."),
            utterance(f"c{number}", 2, "defense", "But see [2-3]."),
        ]
    return talk


def test_citations_are_counted_by_speaker(tmp_path: Path) -> None:
    frame = table_of(tmp_path, talk_of_twelve()).set_index("speaker")
    everyone = frame.loc[ALL_SPEAKERS]
    assert (everyone["citations"], everyone["statements"], everyone["debates"]) == (60, 36, 12)
    assert everyone["statements that cite"] == pytest.approx(2 / 3)
    assert everyone["citations a statement"] == pytest.approx(5 / 3)
    assert everyone["citations of passages that exist"] == pytest.approx(4 / 5)
    assert everyone["share of passages cited"] == pytest.approx(3 / 4)
    assert frame.loc["prosecutor", "citations of passages that exist"] == pytest.approx(2 / 3)
    assert frame.loc["prosecutor", "share of passages cited"] == pytest.approx(2 / 4)
    assert frame.loc["defense", "statements that cite"] == pytest.approx(1 / 2)
    assert frame.loc["defense", "citations of passages that exist"] == 1


def test_private_and_computed_words_count_for_nothing(tmp_path: Path) -> None:
    talk = talk_of_twelve()
    excluded = [
        utterance("c0", 5, "prosecutor", "[4] [4]", visibility="prosecutor"),
        utterance("c0", 6, "moot", "[4]", source="computed"),
        utterance("c0", 7, "moot", "[4]", kind="conclusion"),
    ]
    first = table_of(tmp_path / "a", talk)
    second = table_of(tmp_path / "b", [*talk, *excluded])
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize(
    ("passages", "text", "missing"), [(0, "See [1].", NO_EVIDENCE), (4, "", NO_STATEMENT)]
)
def test_a_run_says_what_is_missing(passages: int, text: str, missing: str, tmp_path: Path) -> None:
    frame = table_of(tmp_path, [utterance("c0", 0, "prosecutor", text)], passages)
    assert frame["what is missing"].tolist() == [missing]
    assert frame["statements that cite"].isna().all()


def test_statements_without_citations_have_no_share_of_existing_ones(tmp_path: Path) -> None:
    talk = [utterance(f"c{number}", 0, "judge", "So be it.") for number in range(12)]
    frame = table_of(tmp_path, talk)
    assert frame["statements that cite"].tolist() == [0]
    assert frame["citations of passages that exist"].isna().all()
    assert frame["share of passages cited"].tolist() == [0]


@pytest.mark.parametrize(
    ("options", "is_needed"), [({"evidence": "x"}, True), ({"evidence": ""}, False), ({}, False)]
)
def test_the_table_is_built_where_data_bring_evidence(
    options: dict[str, str], is_needed: bool
) -> None:
    entry = SimpleNamespace(**options)
    plan: Any = SimpleNamespace(experiments=["debates"], options_of=lambda _: entry)
    assert has_evidence(plan) == is_needed
    assert COLUMNS
