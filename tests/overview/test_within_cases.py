"""Few cases that were debated often: what debates within cases can answer, and how many cases a
test by case needs.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.core.artifacts import describe, write_rows
from moot.core.cases import Case
from moot.core.rubric import RUBRICS
from moot.overview.tables_contrasts import contrasts
from moot.overview.tables_questions import questions
from moot.report.claims import read_claims
from moot.report.content import StudyResults
from moot.scores import no_scores
from moot.scores.answers import evaluate_contrast
from moot.scores.contrasts import FIRST_HIGHER, Contrast, Side
from moot.scores.results import ExperimentResults
from moot.stats.bootstrap import DIFFERENCE
from moot.stats.within_cases import interval_p, interval_within
from moot.studies.appellate.data_opinions import TASK
from moot.studies.appellate.legal.rubric import CODES
from results_on_disk import experiment_view, make_paper_matches, prediction, write_results

PROJECT = Path(__file__).resolve().parents[2]
CASES = [
    Case(f"c{number}", "opinions", "test", "Facts.", "affirm", TASK.labels, {})
    for number in range(5)
]
LABELS = {1: "AFFIRM", 0: "REVERSE"}
AS_PUBLISHED = make_paper_matches({("panel", "tiny"): "paper-multiagent-panel"})
JUDGES, ROUNDS, REPEATS = 3, 3, 20


def panels(folder: Path, protocol: str, changes: float, seed: int = 0) -> ExperimentResults:
    """The paper's scale: five cases, twenty debates each; a judge changes its position with a
    probability a round.
    """
    random = np.random.default_rng(seed)
    said, labels, rows = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for case in CASES:
        for repeat in range(REPEATS):
            debate = f"{case.case_id}#{repeat}"
            rows.append(prediction(case.case_id, "affirm", "affirm", repeat=repeat))
            held = random.integers(0, 2, JUDGES)
            for turn in range(JUDGES * ROUNDS):
                number, seat = divmod(turn, JUDGES)
                human = protocol == "human_panel" and seat == JUDGES - 1
                if number and not human:
                    held[seat] ^= int(random.random() < changes)
                parsed = json.dumps({"condition": "affirm"}) if human else None
                said.append(
                    {
                        "debate_id": debate,
                        "case_id": case.case_id,
                        "repeat": repeat,
                        "turn": turn + 1,
                        "round": number + 1,
                        "speaker": "human" if human else f"judge_{seat + 1}",
                        "visibility": "public",
                        "kind": "statement",
                        "text": "Said.",
                        "parsed": parsed,
                        "parse_status": "",
                        "source": "human" if human else "model",
                    }
                )
                label = LABELS[int(held[seat])]
                labels.append(
                    {
                        "experiment": protocol,
                        "model": "tiny",
                        "debate_id": debate,
                        "turn": turn + 1,
                        "label": label,
                        "code": CODES[label],
                        "labeler": "rules",
                        "evidence": "",
                        "predicted": label,
                    }
                )
    params = {"judges": JUDGES, "rounds": ROUNDS, "votes": "none"}
    view = replace(
        experiment_view(protocol, "opinions", params=params), rubric=RUBRICS["appellate"]
    )
    found = write_results(folder, CASES, {"tiny": rows}, {"tiny": said}, TASK, protocol, view)
    write_rows(folder / "labels" / protocol / "tiny.parquet", "labels", labels, describe(protocol))
    return found


def planned(metric: str = "volatility") -> Contrast:
    sides = [Side(name, ("tiny",), metric) for name in ("human_panel", "panel")]
    return Contrast("moves", "", sides[0], sides[1], FIRST_HIGHER, True, "appellate")


def study(*experiments: ExperimentResults, **more: Any) -> StudyResults:
    return StudyResults(
        "comparison", {one.experiment: one for one in experiments}, no_scores(), {}, None, **more
    )


def test_the_appellate_claims_can_be_answered_at_the_papers_own_scale(tmp_path: Path) -> None:
    runs = panels(tmp_path, "human_panel", 0.12), panels(tmp_path, "panel", 0.04, seed=1)
    claims = [
        one
        for one in read_claims(PROJECT / "data/published/claims.csv")
        if one.study == "appellate"
    ]
    frame = questions(study(*runs, claims=claims, paper_matches=AS_PUBLISHED)).frame.set_index(
        "measured"
    )
    seldom = frame.loc["volatility: panel"]
    assert (seldom["answer"], seldom["speaks of"]) == ("supported", "these 5 cases")
    more = frame.loc["difference in volatility: human panel less panel"]
    assert (more["answer"], more["speaks of"], more["cases"]) == ("supported", "these 5 cases", 5)
    assert more["supported where"] == "above 0", "the run's own panels, not a published value"
    assert more["this run"] == pytest.approx(0.08, abs=0.04) and more["95 % low"] > 0
    assert (more["data"], more["p (Holm)"] < 0.05) == ("opinions", True)


def test_a_contrast_of_five_cases_says_how_many_cases_a_test_by_case_needs(tmp_path: Path) -> None:
    runs = panels(tmp_path, "human_panel", 0.12), panels(tmp_path, "panel", 0.04, seed=1)
    row = contrasts(study(*runs, contrasts=[planned()])).frame.iloc[0]
    assert (row["expectation met"], row["speaks of"], row["cases"]) == ("yes", "these 5 cases", 5)
    assert 6 <= row["cases needed"] < 100, (
        "of five cases a test by case has 2 of 32 patterns of signs"
    )
    assert row["difference low"] > 0 and row["p"] < 0.05


def test_five_cases_debated_once_cannot_tell(tmp_path: Path) -> None:
    folder = tmp_path
    rows = [prediction(case.case_id, "affirm", "affirm") for case in CASES]
    wrong = [prediction(case.case_id, "affirm", "reverse") for case in CASES]
    for name, answers in (("human_panel", rows), ("panel", wrong)):
        view = experiment_view("zero_shot", "opinions")
        write_results(folder, CASES, {"tiny": answers}, task=TASK, experiment=name, config=view)
    view = experiment_view("zero_shot", "opinions")
    found = {name: ExperimentResults(folder, name, view) for name in ("human_panel", "panel")}
    given = evaluate_contrast(planned("accuracy"), found)
    assert given and given.population == "cases like these" and given.difference.p > 0.05


def test_debates_within_cases_keep_their_level_and_cover(tmp_path: Path) -> None:
    """Cases differ much, phases do not: 5 cases of 20 debates, each debate some of 6 chances."""
    random = np.random.default_rng(3)
    strata = [(side, case) for side in range(2) for case in range(5) for _ in range(20)]
    rates = np.repeat(np.tile([0.02, 0.05, 0.1, 0.2, 0.4], 2), 20)
    is_first = np.arange(200) < 100
    held = rejected = 0
    for draw in range(400):
        values = random.binomial(6, rates) / 6

        def apart(weights: np.ndarray, values: np.ndarray = values) -> np.ndarray:
            return (
                weights[:, is_first] @ values[is_first] - weights[:, ~is_first] @ values[~is_first]
            ) / 100

        found = interval_within(apart, strata, draw, DIFFERENCE)
        held += found[1] <= 0 <= found[2]
        rejected += interval_p(found.value, found.low, found.high, 0.0, found.freedom) < 0.05
    assert 0.93 <= held / 400 <= 0.99 and rejected == 400 - held


def test_data_that_a_claim_does_not_name_judge_nothing(tmp_path: Path) -> None:
    runs = panels(tmp_path, "human_panel", 0.12), panels(tmp_path, "panel", 0.04, seed=1)
    path = tmp_path / "claims.csv"
    shipped = pd.read_csv(PROJECT / "data/published/claims.csv", dtype=str, keep_default_na=False)
    for data in ("other", "opinions (synthetic)"):
        shipped[shipped["study"] == "appellate"].assign(data=data).to_csv(path, index=False)
        frame = questions(study(*runs, claims=read_claims(path))).frame
        assert set(frame["answer"]) == {"cannot tell"} and frame["this run"].isna().all()
        assert frame["measured"].str.startswith("needed: ").all()
