"""Habits of recorded judges: a planted preference is found at its size, beside judges who have
none.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moot.report.content import StudyResults
from moot.studies.recorded.tables_habits import ALL, recorded_habits
from recorded_runs import recorded_study

LONG, SHORT = "this side says clearly that much more can be said", "this may be so"
DEBATES = 150


def study(folder: Path, truth: bool, swayed: float) -> StudyResults:
    """Two judges of the same debates: Fair is right in 80 of 100, Swayed takes the longer side
    instead so often.
    """
    rng = np.random.default_rng(11)
    rows = ["debate,who,judge,says,side,vote,truth"]
    for number in range(DEBATES):
        right, longer = (("pro", "con")[int(rng.random() < 0.5)] for _ in range(2))
        sides = rng.permutation(["pro", "con"])
        rows += [
            f"d{number},{side},,{LONG if side == longer else SHORT},{side},,{right}"
            for side in sides
        ]
        for judge, pull in (("Fair", 0.0), ("Swayed", swayed)):
            wrong = "con" if right == "pro" else "pro"
            vote = longer if rng.random() < pull else right if rng.random() < 0.8 else wrong
            rows.append(f"d{number},,{judge},,,{vote},{right}")
    folder.mkdir(exist_ok=True)
    (folder / "debates.csv").write_text("\n".join(rows) + "\n")
    columns = {
        "debate": "debate",
        "speaker": "who",
        "judge": "judge",
        "text": "says",
        "side": "side",
        "answer": "vote",
    }
    dataset: dict[str, Any] = {
        "loader": "transcripts",
        "path": str(folder / "debates.csv"),
        "positive": "pro",
    }
    columns |= {"truth": "truth"} if truth else {}
    return recorded_study(
        folder, {**dataset, "columns": columns}, {"debate": "debate"}, {"all": "recorded"}
    )


@pytest.mark.parametrize("truth", [True, False])
def test_a_judge_who_prefers_the_longer_side_is_told_from_one_who_does_not(
    tmp_path: Path, truth: bool
) -> None:
    frame = recorded_habits(study(tmp_path, truth, 0.6)).frame
    rows = frame[frame["habit"] == "length"].set_index("judge")
    swayed, fair = rows.loc["Swayed"], rows.loc["Fair"]
    assert swayed["difference low"] < 0.3 < swayed["difference high"], (
        "0.6 of verdicts, half of them the longer side's"
    )
    assert swayed["p (Holm)"] < 0.001
    if truth:
        assert fair["difference low"] < 0 < fair["difference high"]
        assert set(rows["known by"]) == {"the truth"}
    else:
        assert fair["difference"] == pytest.approx(-swayed["difference"]), (
            "each is set against the other"
        )
        assert rows.loc[ALL, "known by"] == "one half"
    tone = frame[frame["habit"] == "confidence of tone"].set_index("judge")
    assert tone.loc["Swayed", "difference"] == pytest.approx(swayed["difference"]), (
        "the longer side is the surer one"
    )
    last = frame[frame["habit"] == "the last word"].set_index("judge")
    assert last.loc["Swayed", "difference low"] < 0 < last.loc["Swayed", "difference high"]


def test_judges_without_a_habit_are_called_swayed_no_more_often_than_by_chance(
    tmp_path: Path,
) -> None:
    frame = recorded_habits(study(tmp_path, True, 0.0)).frame
    assert (frame["p (Holm)"] > 0.05).all() and len(frame) >= 12
