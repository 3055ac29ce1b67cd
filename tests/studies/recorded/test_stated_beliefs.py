"""Beliefs of debaters, judges and members: who counts, one half, and juries without a majority."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from moot.studies.recorded.tables_discussions import discussions
from recorded_runs import study_of_turns

Row = Mapping[str, object]


def rows_with_debaters_beliefs(judge_count: int, debates: int = 9) -> list[dict[str, object]]:
    """Debates in which two debaters and all judges state beliefs after each of two rounds."""
    random = np.random.default_rng(judge_count)
    rows: list[dict[str, object]] = []
    for number, round_number in product(range(debates), (1, 2)):
        turn = {"debate": f"d{number}", "round": round_number}
        for side, belief in (("yes", 0.9), ("no", 0.2)):
            debater = {"speaker": f"pro {side}", "role": "debater", "side": side}
            rows.append({**turn, **debater, "text": "I am right.", "belief": belief})
        for judge in range(judge_count):
            name = f"Judge {judge}"
            belief = round(float(random.uniform(0.01, 0.99)), 2)
            rows.append({**turn, "speaker": name, "judge": name, "role": "judge", "belief": belief})
    return rows


TURN_COLUMNS = {"debate": "debate", "round": "round", "text": "text", "belief": "belief"}


@pytest.mark.parametrize("judge_count", [1, 3])
def test_debaters_who_state_beliefs_are_not_judges(tmp_path: Path, judge_count: int) -> None:
    rows = rows_with_debaters_beliefs(judge_count)
    for row in rows:
        row["text"] = row.get("text", "A verdict.")
    columns = TURN_COLUMNS | {"judge": "judge", "speaker": "speaker"}
    last_round = [row for row in rows if row["round"] == 2 and row["role"] == "judge"]
    study = study_of_turns(tmp_path, rows, columns)
    predictions = study.experiments["talk"].predictions
    assert len(predictions) == len(last_round)
    assert sorted(predictions["score"]) == sorted(row["belief"] for row in last_round)


def test_all_answers_count_if_judges_and_debaters_cannot_be_distinguished(tmp_path: Path) -> None:
    rows = [
        {"debate": f"d{number}", "speaker": speaker, "text": "So.", "belief": belief}
        for number, (speaker, belief) in product(range(3), [("Ann", 0.9), ("Bob", 0.1)])
    ]
    columns = {name: name for name in ("debate", "speaker", "text", "belief")}
    assert len(study_of_turns(tmp_path, rows, columns).experiments["talk"].predictions) == 6


def belief_rows(beliefs: Sequence[Sequence[float]]) -> list[Row]:
    """Two members of each group state these beliefs, round by round."""
    rows: list[Row] = []
    for number, group in enumerate(beliefs):
        for round_number, belief in enumerate(group, 1):
            for member in ("a", "b"):
                turn = {"debate": f"d{number}", "round": round_number, "speaker": member}
                rows.append({**turn, "text": "Words.", "belief": belief, "truth": "yes"})
    return rows


GROUP_COLUMNS = {name: name for name in ("debate", "round", "speaker", "text", "belief", "truth")}


def test_an_undecided_first_answer_is_not_right_before_the_talk(tmp_path: Path) -> None:
    """Six groups are undecided and end right, two start right, four end undecided."""
    rows = belief_rows([[0.5, 0.9]] * 6 + [[0.9, 0.9]] * 2 + [[0.1, 0.5]] * 4)
    row = discussions(study_of_turns(tmp_path, rows, GROUP_COLUMNS)).frame.iloc[0]
    assert (row["members"], row["groups"]) == (24, 12)
    assert row["right before"] == pytest.approx(2 / 12)
    assert row["right after"] == pytest.approx(8 / 12)
    assert row["difference"] == pytest.approx(6 / 12)
    assert row["groups with one right"] == 2


def test_judges_who_change_their_mind_are_not_a_talking_group(tmp_path: Path) -> None:
    rows = [{**row, "truth": "yes"} for row in rows_with_debaters_beliefs(3)]
    columns = TURN_COLUMNS | {"judge": "judge", "truth": "truth"}
    study = study_of_turns(tmp_path, rows, columns)
    assert discussions(study).frame.empty
