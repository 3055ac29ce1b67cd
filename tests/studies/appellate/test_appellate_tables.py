"""Tables and figures of the appellate study, on panels whose course is known."""

from pathlib import Path

import numpy as np
import pytest

from moot.report import FIGURES, TABLES
from moot.studies.appellate.phases import STUDY
from of_study import of_study
from panel_results import panel, study


def test_table_one_splits_human_debates_by_stance(tmp_path: Path) -> None:
    courses = {"c1#0": "aaa aaa aaa", "c1#1": "aar aar aar", "c2#0": "rra rra rra"}
    content = TABLES[f"{STUDY}/table1_steps"].build(
        study([panel(tmp_path, courses, "human_panel", "h")])
    )
    ours = content.frame[content.frame["experiment"] == "h"].set_index("count")["ours"]
    assert ours["debates, human affirms"] == 2
    assert ours["debates a case, human affirms, fewest"] == 1
    assert ours["debates, human does not affirm"] == 1
    assert ours["debates a case, human does not affirm, fewest"] == 0
    theirs = content.frame[content.frame["experiment"] == ""].set_index("count")["published"]
    assert theirs["debates, human affirms"] == theirs["debates, human does not affirm"] == 50
    assert theirs["debates a case, human affirms, fewest"] == 10


def test_figure_seven_has_affirming_decisions_left_and_others_right(tmp_path: Path) -> None:
    courses = {"c1#0": "ara aaa nna", "c2#0": "rrr rnr arr"}
    drawing = FIGURES[f"{STUDY}/figure7_human_ai"].build(
        study([panel(tmp_path, courses, "human_panel", "h")])
    )
    counts = []
    for axes, verb in zip(drawing.axes[:2], ("affirm", "do not affirm"), strict=True):
        total = next(line for line in axes.lines if line.get_label() == "all")
        counts.append(list(total.get_ydata()))
        assert axes.get_ylabel().startswith(f"debates that {verb}\n")
    assert counts[0] == [1, 0, 1, 1, 1, 1, 1, 0, 1]
    assert counts[1] == [1, 2, 1, 1, 0, 1, 0, 1, 1]
    # The human's steps have the same count on both sides: half of the debates each.
    assert [counts[0][step] for step in (2, 5, 8)] == [counts[1][step] for step in (2, 5, 8)]


def test_every_table_and_figure_is_built_for_three_phases_and_for_none(tmp_path: Path) -> None:
    hostile = {"c1#0": "aar arr arr", "c2#0": "rra rra raa"}
    three = [
        panel(tmp_path, hostile, protocol, name)
        for protocol, name in (("synthetic_panel", "s"), ("panel", "p"), ("human_panel", "h"))
    ]
    for results in (study(three), study([])):
        for entry in of_study(TABLES, STUDY):
            content = TABLES[f"{STUDY}/{entry.name}"].build(results)
            assert len(content.frame.columns) > 3
        for drawn_courses in of_study(FIGURES, STUDY):
            assert FIGURES[f"{STUDY}/{drawn_courses.name}"].build(results).axes


def test_a_step_without_any_position_is_a_gap_in_the_figure(tmp_path: Path) -> None:
    drawing = FIGURES[f"{STUDY}/figure6_multiagent"].build(
        study([panel(tmp_path, {"c1#0": "anr nnn rra"})])
    )
    total = next(line for line in drawing.axes[0].lines if line.get_label() == "all")
    assert list(total.get_ydata()) == pytest.approx(
        [1, np.nan, 0, np.nan, np.nan, np.nan, 0, 0, 1], nan_ok=True
    )


def test_table_two_counts_each_step_by_case(tmp_path: Path) -> None:
    content = TABLES[f"{STUDY}/table2_counts"].build(
        study([panel(tmp_path, {"c1#0": "aar aar aar", "c2#0": "rra rra rra"}, "synthetic_panel")])
    )
    first = content.frame[content.frame["step"] == 1].set_index("code")
    theirs, ours = first[first["experiment"] == ""], first[first["experiment"] != ""]
    assert ours.loc["1 affirm", ["total", "case 1", "case 2"]].tolist() == [1, 1, 0]
    assert ours.loc["0 not affirm", ["total", "case 1", "case 2"]].tolist() == [1, 0, 1]
    assert (
        theirs.loc["1 affirm", "published total"] == 85
        and theirs.loc["1 affirm", "published case 3"] == 20
    )
    assert content.frame["difference"].isna().all(), "two debates compare with no hundred"
    assert len(content.frame) == 27 + 3


def test_the_reading_table_shows_before_between_and_after(tmp_path: Path) -> None:
    content = TABLES[f"{STUDY}/changes_of_opinion"].build(
        study([panel(tmp_path, {"c1#0": "aar rar rar"})])
    )
    row = content.frame.iloc[0]
    assert (row["from"], row["to"], row["rounds"]) == ("affirm", "not affirm", "1 to 2")
    assert row["before"] == "judge_1 in round 1 says a."
    assert (
        row["said between"]
        == "judge_2: judge_2 in round 1 says a. / judge_3: judge_3 in round 1 says r."
    )
    assert row["after"] == "judge_1 in round 2 says r."
