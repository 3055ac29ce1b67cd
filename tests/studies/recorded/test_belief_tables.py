"""The table of beliefs by round."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pandas as pd
import pytest

from moot.datasets.transcripts import TranscriptsOptions
from moot.report import TABLES
from moot.report.content import StudyPlan
from moot.studies.recorded.tables_beliefs import (
    ALL_SPEAKERS,
    BOTH_SIDES,
    beliefs_by_round,
)
from recorded_runs import study_of_turns

Row = Mapping[str, object]
SIDES = ("con", "pro")
INTERVALS = {"belief": "95 %", "difference": "difference", "both above 0.75": "both"}


def sure_rows(beliefs: Mapping[tuple[str, int], float], debates: int = 10) -> list[Row]:
    """Debates in which each side states how sure it is of itself, by side and round."""
    rows: list[Row] = []
    for number, ((side, round_number), belief) in product(range(debates), beliefs.items()):
        speaker = f"{side} speaker"
        turn = {"debate": f"d{number}", "round": round_number, "speaker": speaker, "text": "So."}
        truth = "pro" if number % 2 else "con"
        in_pro = belief if side == "pro" else round(1 - belief, 6)
        sure = {"sure": 100 * belief, "belief": in_pro}
        rows.append({**turn, "side": side, "truth": truth, **sure})
    return rows


SIDED = {name: name for name in ("debate", "round", "speaker", "text", "side", "truth")}
GRID_OF_BELIEFS = [
    {("pro", 1): 0.7, ("con", 1): 0.8, ("pro", 2): 0.9, ("con", 2): 0.8},
    {("pro", 1): 0.5, ("con", 1): 0.9, ("pro", 3): 1.0, ("con", 3): 1.0},
]


@pytest.mark.parametrize(
    ("beliefs", "column"), [(GRID_OF_BELIEFS[0], "belief"), (GRID_OF_BELIEFS[1], "confidence")]
)
def test_both_sides_may_be_sure_of_themselves(
    tmp_path: Path, beliefs: dict[tuple[str, int], float], column: str
) -> None:
    """Beliefs in the positive label and confidences in one's own side give the same table."""
    names = {"belief": {"belief": "belief"}, "confidence": {"confidence": "sure"}}[column]
    study = study_of_turns(tmp_path, sure_rows(beliefs), SIDED | names, SIDES)
    frame = beliefs_by_round(study).frame.set_index(["round", "side"])
    for (side, number), belief in beliefs.items():
        row = frame.loc[str(number), side]
        assert (row["belief"], row["speaker"]) == (pytest.approx(belief), f"{side} speaker")
        assert (row["outcome"], row["belief in"]) == (0.5, "own side")
        assert row["difference"] == pytest.approx(belief - 0.5)
        assert row["above 0.75"] == (belief > 0.75)
        assert (row["beliefs"], row["debates"]) == (10, 10)
    for number in {number for _, number in beliefs}:
        row = frame.loc[str(number), BOTH_SIDES]
        own_beliefs = [belief for (_, at_round), belief in beliefs.items() if at_round == number]
        assert row["belief"] == pytest.approx(np.mean(own_beliefs))
        assert row["both above 0.75"] == (min(own_beliefs) > 0.75)
        assert row["speaker"] == ALL_SPEAKERS
    for value, summary in INTERVALS.items():
        expected = frame.dropna(subset=[value, f"{summary} low"])
        assert (expected[f"{summary} low"] <= expected[value] + 1e-9).all()
        assert (expected[value] <= expected[f"{summary} high"] + 1e-9).all()


def test_without_truth_the_verdict_is_the_outcome_only_for_debaters(tmp_path: Path) -> None:
    rows = sure_rows({("pro", 1): 0.8, ("con", 1): 0.6})
    for number, judge in product(range(10), "AB"):
        turn = {"debate": f"d{number}", "judge": judge, "text": "A verdict."}
        rows.append({**turn, "belief": 0.9 if number < 7 else 0.2})
    columns = SIDED | {"judge": "judge", "belief": "belief", "truth": ""}
    frame = beliefs_by_round(study_of_turns(tmp_path, rows, columns, SIDES)).frame
    frame = frame.set_index(["round", "side", "speaker"])
    row = frame.loc["1", "pro", "pro speaker"]
    assert (row["outcome is"], row["outcome"]) == ("the verdict", pytest.approx(0.7))
    assert row["difference"] == pytest.approx(0.8 - 0.7)
    judges = frame.loc["end", "", ALL_SPEAKERS]
    assert judges["belief"] == pytest.approx(0.9 * 0.7 + 0.2 * 0.3)
    assert pd.isna(judges["difference"]) and judges["belief in"] == "pro"
    assert frame.loc["end", "", "A"]["beliefs"] == 10


def test_beliefs_without_rounds_are_numbered(tmp_path: Path) -> None:
    rows = sure_rows({("pro", 1): 0.8, ("con", 1): 0.6, ("pro", 2): 0.9})
    columns = {**SIDED, "round": "", "belief": "belief"}
    frame = beliefs_by_round(study_of_turns(tmp_path, rows, columns, SIDES)).frame
    assert frame["round"].tolist() == ["1", "1", "1", "2"]
    assert frame["belief"].tolist() == pytest.approx([0.7, 0.6, 0.8, 0.9])


@pytest.mark.parametrize(
    ("columns", "is_built"),
    [
        ({"belief": "p", "truth": "gold"}, True),
        ({"belief": "p"}, True),
        ({"confidence": "sure", "side": "side"}, True),
        ({"confidence": "sure", "answer": "vote"}, False),
        ({"answer": "vote", "truth": "gold"}, False),
        ({}, False),
    ],
)
def test_the_table_is_built_where_the_data_can_have_it(
    columns: dict[str, str], is_built: bool
) -> None:
    options = TranscriptsOptions.model_validate(
        {"path": "t.csv", "columns": columns, "labels": {"a": "a", "b": "b"}}
    )
    plan = SimpleNamespace(experiments=["one"], options_of=lambda _: options)
    [need] = TABLES["recorded/beliefs_by_round"].needs
    assert need(cast("StudyPlan", plan)) == is_built
