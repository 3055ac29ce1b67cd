"""Ratings of debaters from a file of verdicts: strength told from side, length, and judges'
leanings.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.report.content import StudyResults
from moot.studies.recorded.figures import ratings_figure
from moot.studies.recorded.tables_ratings import rating_terms, ratings
from recorded_runs import recorded_study

STRENGTHS = {"Alpha 1": 1.0, "Beta 1": 0.3, "Beta 2": -0.3, "Gamma 1": -1.0}
LEANING = {"Alpha 9": 1.2, "Delta 1": -0.2}
COLUMNS = ["pro", "con", "words_pro", "words_con", "topic"]


def verdicts(**changed: str) -> pd.DataFrame:
    """Of 150 topics two debates each, sides swapped, before two judges: planted strengths, leanings
    to pro, and ties.
    """
    random, rows = np.random.default_rng(102), []
    for topic in range(150):
        pair = random.choice(list(STRENGTHS), 2, replace=False)
        for debate, (pro, con) in enumerate((pair, pair[::-1])):
            words = random.integers(800, 1200, 2)
            for judge, leaning in LEANING.items():
                own = 1.5 * ((pro[:4] == judge[:4]) - (con[:4] == judge[:4]) * 1.0)
                eta = STRENGTHS[pro] - STRENGTHS[con] + leaning + own
                chances = np.array([np.exp(eta / 2), np.exp(-eta / 2), 0.3])
                said = random.choice(["P", "C", "T"], p=chances / chances.sum())
                rows.append((f"{topic}-{debate}", judge, said, "P", pro, con, *words, f"t{topic}"))
    frame = pd.DataFrame(rows, columns=["case", "judge", "said", "truth", *COLUMNS])
    return frame.assign(**changed)


def tournament(folder: Path, frame: pd.DataFrame) -> StudyResults:
    frame.to_csv(folder / "verdicts.csv", index=False)
    dataset = {
        "loader": "transcripts",
        "path": str(folder / "verdicts.csv"),
        "columns": {
            "debate": "",
            "case": "case",
            "judge": "judge",
            "answer": "said",
            "truth": "truth",
            "attributes": COLUMNS,
        },
        "labels": {"C": "con", "T": "tie", "P": "pro"},
    }
    return recorded_study(folder, dataset, {"tournament": "answer"}, {"judges": "judges"})


def test_planted_strengths_sides_and_families_come_back(tmp_path: Path) -> None:
    results = tournament(tmp_path, verdicts())
    found = ratings(results).frame.set_index("debater")
    assert list(found.index) == list(STRENGTHS), "from the strongest down"
    for name, strength in STRENGTHS.items():
        assert found.loc[name, "rating"] == pytest.approx(strength, abs=0.35)
    assert (found["clusters"] == 150).all() and found["verdicts"].sum() == 2 * 600
    assert found.loc["Alpha 1", "rating by wins alone"] > found.loc["Alpha 1", "rating"], (
        "its own family judged it"
    )
    terms = rating_terms(results).frame.set_index("what favours a side")
    assert terms.loc["side: pro", "log odds"] == pytest.approx(0.5, abs=0.25)
    assert terms.loc["side: pro, before Alpha 9", "log odds"] == pytest.approx(1.2, abs=0.45)
    assert terms.loc["side: pro, before Delta 1", "log odds"] == pytest.approx(-0.2, abs=0.45)
    assert terms.loc["judge of the debater's family", "log odds low"] > 0
    row = terms.loc["a tenth more words"]
    assert row["log odds low"] < 0 < row["log odds high"], "words were not planted"
    labels = [label.get_text() for label in ratings_figure(results).axes[0].get_yticklabels()]
    assert labels[0] == "Alpha 1 (1; by wins alone 1)"


def test_without_words_or_debaters_there_is_no_such_term_or_row(tmp_path: Path) -> None:
    (tmp_path / "alike").mkdir()
    alike = rating_terms(
        tournament(tmp_path / "alike", verdicts(words_pro="1000", words_con="1001"))
    ).frame
    assert "a tenth more words" not in set(alike["what favours a side"]) and len(alike) > 1
    results = tournament(tmp_path, verdicts(words_pro="0"))
    assert ratings(results).frame.empty and rating_terms(results).frame.empty, (
        "no side without words can be compared"
    )
    (tmp_path / "other").mkdir()
    results = tournament(tmp_path / "other", verdicts(pro=""))
    assert ratings(results).frame.empty and ratings_figure(results).axes
