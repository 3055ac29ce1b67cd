"""Tables of beliefs by round, of aggregated beliefs, and of the verdicts of councils."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from moot.datasets.transcripts import TranscriptsOptions
from moot.report import TABLES
from moot.report.needs import StudyPlan
from moot.report.study_results import StudyResults
from moot.studies.recorded.runs import recorded_runs
from moot.studies.recorded.tables_beliefs import (
    ALL_SPEAKERS,
    BOTH_SIDES,
    belief_aggregates,
    beliefs_by_round,
    extremise,
    gather_panels,
)
from moot.studies.recorded.tables_councils import NO_MAJORITY, council_rules, council_verdicts
from recorded_runs import recorded_study

Row = Mapping[str, object]
INTERVALS = {"belief": "95 %", "difference": "difference", "both above 0.75": "both"}


def study_of(
    folder: Path, rows: Sequence[Row], columns: Mapping[str, Any], **options: Any
) -> StudyResults:
    folder.mkdir(exist_ok=True)
    pd.DataFrame(rows, dtype=object).fillna("").to_csv(folder / "turns.csv", index=False)
    dataset = {
        "loader": "transcripts",
        "path": str(folder / "turns.csv"),
        "columns": dict(columns),
        "labels": {"con": "con", "pro": "pro"},
        "positive": "pro",
        **options,
    }
    return recorded_study(folder, dataset, {"talk": "debate"}, {"all": "recorded"})


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
    {("pro", 1): 0.75, ("con", 1): 0.75, ("pro", 2): 0.76, ("con", 2): 0.99},
    {("pro", 1): 0.5, ("con", 1): 0.9, ("pro", 3): 1.0, ("con", 3): 1.0},
]


@pytest.mark.parametrize("column", ["belief", "confidence"])
@pytest.mark.parametrize("beliefs", GRID_OF_BELIEFS)
def test_both_sides_may_be_sure_of_themselves(
    tmp_path: Path, beliefs: dict[tuple[str, int], float], column: str
) -> None:
    """Beliefs in the positive label and confidences in one's own side give the same table."""
    names = {"belief": {"belief": "belief"}, "confidence": {"confidence": "sure"}}[column]
    study = study_of(tmp_path, sure_rows(beliefs), SIDED | names)
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
    frame = beliefs_by_round(study_of(tmp_path, rows, columns)).frame
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
    frame = beliefs_by_round(study_of(tmp_path, rows, columns)).frame
    assert frame["round"].tolist() == ["1", "1", "1", "2"]
    assert frame["belief"].tolist() == pytest.approx([0.7, 0.6, 0.8, 0.9])


def panel_rows(seed: int, judges: Sequence[int], truth: bool = True) -> list[Row]:
    """Debates before panels of some judges, who lean towards the truth."""
    random = np.random.default_rng(seed)
    rows: list[Row] = []
    for number, judge_count in enumerate(judges):
        outcome = "pro" if random.random() < 0.5 else "con"
        for judge in range(judge_count):
            target = random.beta(3, 2)
            belief = round(float(target if outcome == "pro" else 1 - target), 3)
            turn = {"debate": f"d{number}", "judge": f"J{judge}", "text": "A verdict."}
            rows.append({**turn, "belief": belief, "truth": outcome if truth else ""})
    return rows


PANEL = {name: name for name in ("debate", "judge", "text", "belief", "truth")} | {"speaker": ""}


@pytest.mark.parametrize("judges", [[3] * 12, [2, 3, 4, 5] * 4, [7] * 9, [10] * 8])
def test_aggregates_are_means_over_all_panels_of_some_members(
    tmp_path: Path, judges: list[int]
) -> None:
    rows = panel_rows(len(judges), judges)
    study = study_of(tmp_path, rows, PANEL)
    frame = belief_aggregates(study).frame.set_index(["aggregate", "members"])
    table = pd.DataFrame(rows)
    panels = [
        (group["belief"].to_numpy(), float(group["truth"].iloc[0] == "pro"))
        for _, group in table.groupby("debate")
    ]
    single = np.mean([np.mean((beliefs - truth) ** 2) for beliefs, truth in panels])
    assert frame.loc[("mean", "1"), "Brier score"] == pytest.approx(single)
    assert frame.loc[("mean", "1"), "difference from one member"] == pytest.approx(0)
    pair_scores = []
    for beliefs, truth in panels:
        pair_means = np.mean(list(combinations(beliefs, 2)), axis=1)
        pair_scores.append(np.mean((pair_means - truth) ** 2))
    assert frame.loc[("mean", "2"), "Brier score"] == pytest.approx(np.mean(pair_scores))
    everyone = frame.loc[("mean", "all")]
    assert everyone["Brier score"] == pytest.approx(
        np.mean([(beliefs.mean() - truth) ** 2 for beliefs, truth in panels])
    )
    assert everyone["difference from one member"] < 0, "a mean is never worse than its members"
    medians = np.mean([(np.median(beliefs) - truth) ** 2 for beliefs, truth in panels])
    assert frame.loc[("median", "all"), "Brier score"] == pytest.approx(medians)
    assert frame.loc[("mean", "3"), "panels"] == sum(count >= 3 for count in judges)


def test_an_extremised_mean_moves_away_from_one_half() -> None:
    beliefs = np.array([0.0, 0.2, 0.5, 0.8, 1.0])
    extremised = extremise(beliefs)
    assert extremised[[0, 2, 4]].tolist() == [0, 0.5, 1]
    assert extremised[1] < 0.2 and extremised[3] == pytest.approx(1 - extremised[1])
    odds = (0.8 / 0.2) ** 2.5
    assert extremised[3] == pytest.approx(odds / (1 + odds))


def test_panels_of_repeats_and_panels_without_truth(tmp_path: Path) -> None:
    rows = [
        {"debate": f"d{number}", "case": f"c{number // 3}", "speaker": "judge", "text": "So."}
        | {"belief": (number % 5) / 4, "truth": "pro" if number < 12 else "con"}
        for number in range(24)
    ]
    columns = {name: name for name in ("debate", "case", "speaker", "text", "belief", "truth")}
    [run] = recorded_runs(study_of(tmp_path, rows, columns))
    panels = gather_panels(run)
    assert panels["beliefs"].map(len).tolist() == [3] * 8, "repeats of one case, 0.5 among them"
    without_truth = study_of(tmp_path / "unknown", panel_rows(1, [3] * 9), {**PANEL, "truth": ""})
    assert belief_aggregates(without_truth).frame.empty


def votes_of_councils(members: int, cases: int = 6) -> list[Row]:
    """Two debates a case, before members who are asked twice; the last member changes its vote."""
    rows: list[Row] = []
    for number, run, nth, member in product(range(cases), range(2), range(2), range(members)):
        answer = "pro" if member < members // 2 + 1 else "con"
        if member == 0 and nth and number < 3:
            answer = "con"
        names = {"debate": f"c{number}r{run}", "case": f"c{number}", "judge": f"J{member}"}
        rows.append({**names, "nth": nth, "text": "So.", "answer": answer, "truth": "pro"})
    return rows


COUNCIL = {name: name for name in ("debate", "case", "judge", "text", "answer", "truth")} | {
    "speaker": "",
    "judge_repeat": "nth",
}


@pytest.mark.parametrize("members", [2, 3, 4, 5, 8])
def test_flips_of_a_council_are_counted_pair_by_pair(tmp_path: Path, members: int) -> None:
    """In half of the cases the bare majority loses a vote when it is asked again."""
    frame = council_verdicts(study_of(tmp_path, votes_of_councils(members), COUNCIL)).frame
    frame = frame.set_index("rule")
    majority = frame.loc["majority"]
    assert (majority["councils"], majority["cases"]) == (24, 6)
    assert majority["members"] == members
    assert majority["flips if asked again"] == 0.5
    assert majority["flips in another debate"] == 0
    is_split = members % 2 == 0
    assert majority[NO_MAJORITY] == (0.25 if is_split else 0)
    assert majority["positive"] == majority["right"] == 0.75
    assert majority["one judge flips"] == pytest.approx(0.5 / members)
    unanimous = frame.loc["all for pro"]
    has_all = members == 2
    assert unanimous["positive"] == (0.75 if has_all else 0)
    assert unanimous["flips if asked again"] == (0.5 if has_all else 0)


@pytest.mark.parametrize(
    ("counts", "verdicts"),
    [
        ({"pro": 3, "con": 3}, (NO_MAJORITY, "con", "con")),
        ({"pro": 4, "con": 2}, ("pro", "pro", "con")),
        ({"pro": 2, "con": 1}, ("pro", "pro", "con")),
        ({"pro": 6}, ("pro", "pro", "pro")),
        ({"con": 6}, ("con", "con", "con")),
        ({"pro": 3, "con": 2}, ("pro", "con", "con")),
        ({"pro": 1, "con": 1, "other": 1}, (NO_MAJORITY, "con", "con")),
    ],
)
def test_rules_of_councils(counts: dict[str, int], verdicts: tuple[str, ...]) -> None:
    rules = council_rules("pro", "con")
    assert tuple(decide(counts) for decide in rules.values()) == verdicts
    assert list(council_rules("", "con")) == ["majority"]


def test_single_judges_are_not_a_council(tmp_path: Path) -> None:
    assert council_verdicts(study_of(tmp_path, panel_rows(3, [1] * 9), PANEL)).frame.empty


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ({"belief": "p", "truth": "gold"}, {"beliefs_by_round", "belief_aggregates", "council"}),
        ({"belief": "p"}, {"beliefs_by_round", "council"}),
        ({"confidence": "sure", "side": "side"}, {"beliefs_by_round"}),
        ({"confidence": "sure", "answer": "vote"}, {"council"}),
        ({"answer": "vote", "truth": "gold"}, {"council"}),
        ({}, set()),
    ],
)
def test_tables_are_built_where_the_data_can_have_them(
    columns: dict[str, str], names: set[str]
) -> None:
    options = TranscriptsOptions.model_validate(
        {"path": "t.csv", "columns": columns, "labels": {"a": "a", "b": "b"}}
    )
    plan = SimpleNamespace(experiments=["one"], options_of=lambda _: options)
    built = set()
    for name in ("beliefs_by_round", "belief_aggregates", "council_verdicts"):
        needs = TABLES[f"recorded/{name}"].needs
        if any(need(cast("StudyPlan", plan)) for need in needs):
            built.add(name)
    assert built == {"council_verdicts" if name == "council" else name for name in names}
