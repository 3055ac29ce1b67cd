"""Ratings of debaters from a file of verdicts."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.report.study_results import StudyResults
from moot.studies.recorded.figures import ratings_figure
from moot.studies.recorded.tables_ratings import rating_terms, ratings
from recorded_runs import recorded_study

STRENGTHS = {"Alpha 1": 1.0, "Beta 1": 0.3, "Beta 2": -0.3, "Gamma 1": -1.0}
LEANING = {"Alpha 9": 1.2, "Delta 1": -0.2}
COLUMNS = ["pro", "con", "words_pro", "words_con", "topic"]


def verdicts(**changed: str) -> pd.DataFrame:
    """Verdicts with planted strengths, leanings to pro, and ties.

    Each of 150 topics has two debates with sides exchanged, before two judges.
    """
    random, rows = np.random.default_rng(102), []
    for topic in range(150):
        pair = random.choice(list(STRENGTHS), 2, replace=False)
        for debate, (pro, con) in enumerate((pair, pair[::-1])):
            words = random.integers(800, 1200, 2)
            for judge, leaning in LEANING.items():
                family_bonus = 1.5 * ((pro[:4] == judge[:4]) - (con[:4] == judge[:4]) * 1.0)
                eta = STRENGTHS[pro] - STRENGTHS[con] + leaning + family_bonus
                chances = np.array([np.exp(eta / 2), np.exp(-eta / 2), 0.3])
                verdict = random.choice(["P", "C", "T"], p=chances / chances.sum())
                rows.append(
                    (f"{topic}-{debate}", judge, verdict, "P", pro, con, *words, f"t{topic}")
                )
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
    frame = ratings(results).frame.set_index("debater")
    assert list(frame.index) == list(STRENGTHS), "the strongest comes first"
    for name, strength in STRENGTHS.items():
        assert frame.loc[name, "rating"] == pytest.approx(strength, abs=0.35)
    assert (frame["clusters"] == 150).all() and frame["verdicts"].sum() == 2 * 600
    # A judge of its own family favours Alpha 1.
    assert frame.loc["Alpha 1", "rating by wins alone"] > frame.loc["Alpha 1", "rating"]
    terms = rating_terms(results).frame.set_index("what favours a side")
    assert terms.loc["side: pro", "log odds"] == pytest.approx(0.5, abs=0.25)
    assert terms.loc["side: pro, before Alpha 9", "log odds"] == pytest.approx(1.2, abs=0.45)
    assert terms.loc["side: pro, before Delta 1", "log odds"] == pytest.approx(-0.2, abs=0.45)
    assert terms.loc["judge of the debater's family", "log odds low"] > 0
    row = terms.loc["a tenth more words"]
    assert row["log odds low"] < 0 < row["log odds high"], "no effect of words was planted"
    labels = [label.get_text() for label in ratings_figure(results).axes[0].get_yticklabels()]
    assert labels[0] == "Alpha 1 (1; by wins alone 1)"


def test_terms_and_rows_need_words_and_debaters(tmp_path: Path) -> None:
    (tmp_path / "alike").mkdir()
    terms = rating_terms(
        tournament(tmp_path / "alike", verdicts(words_pro="1000", words_con="1001"))
    ).frame
    assert "a tenth more words" not in set(terms["what favours a side"]) and len(terms) > 1
    results = tournament(tmp_path, verdicts(words_pro="0"))
    # A side without words cannot be compared.
    assert ratings(results).frame.empty and rating_terms(results).frame.empty
    (tmp_path / "other").mkdir()
    results = tournament(tmp_path / "other", verdicts(pro=""))
    assert ratings(results).frame.empty and ratings_figure(results).axes
