"""Scores of a panel whose labels are corrected by a sample that people labelled."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from moot.report import TABLES
from moot.studies.appellate.phases import STUDY
from moot.studies.appellate.scores_panel import panel_scores
from panel_results import label_scores, panel, study, value

RULES = {"c1#0": "aar aar arr", "c1#1": "nnr aar arr", "c2#0": "ana rna aaa", "c2#1": "rrr rar nnn"}


PEOPLE = {
    "c1#0": "arr aar arr",
    "c1#1": "rar arr anr",
    "c2#0": "aaa rna ara",
    "c2#1": "nrr rrr arr",
}


@pytest.mark.parametrize("protocol", ["panel", "human_panel"])
def test_correction_with_all_labels_equals_peoples_labels(protocol: str, tmp_path: Path) -> None:
    """Every corrected share and change, in every group, is the raw one of the same debates labelled
    by people alone.
    """
    by_rules, by_people = (
        panel(tmp_path / name, courses, protocol, people=people)
        for name, courses, people in (("rules", RULES, PEOPLE), ("people", PEOPLE, None))
    )
    truth = pd.concat([panel_scores(by_people), label_scores(by_people)]).set_index(
        ["metric", "group"]
    )["value"]
    corrected = label_scores(by_rules).query("metric.str.startswith('corrected_')")
    assert set(corrected["metric"]) == {
        "corrected_label_share", "corrected_group_share",
            "corrected_label_changes", "corrected_label_transition",
                "corrected_affirm_share", "corrected_affirm_share_of_statements",
        "corrected_position_share", "corrected_volatility",
    }  # fmt: skip
    keys = zip(corrected["metric"].str.removeprefix("corrected_"), corrected["group"], strict=True)
    assert corrected["value"].to_numpy() == pytest.approx(
        [truth.get(key, np.nan) for key in keys], nan_ok=True
    )
    assert not label_scores(by_people)["metric"].str.startswith("corrected_").any()


def test_a_sample_corrects_by_the_differences_of_peoples_labels(tmp_path: Path) -> None:
    """Of one judge's first statements rules affirm two of four; people see no position in one of
    the two drawn.
    """
    drawn_courses = {"c1#0": "nar aar arr", "c2#1": "rrr rar nnn"}
    results = panel(tmp_path, {**RULES, "c2#0": "ana rna aaa"}, people=drawn_courses)
    scores = label_scores(results)
    group = "round=1;seat=1"
    assert value(scores, "corrected_affirm_share_of_statements", group, "n") == 2
    # the labeler's slope on people is 0 in the sample, so people alone are believed
    assert value(scores, "corrected_affirm_share_of_statements", group) == 0
    tables = {name: TABLES[f"{STUDY}/{name}"].build(study([results])) for name in ("label_shares",)}
    assert all(
        {"corrected", "corrected low", "labelled"} <= set(content.frame)
        for content in tables.values()
    )
    assert all(
        "`corrected` does (prediction-powered" in content.notes[0] for content in tables.values()
    )
    raw = TABLES[f"{STUDY}/label_shares"].build(study([panel(tmp_path / "raw", RULES)]))
    assert "corrected" not in raw.frame and raw.notes[0].startswith("Raw only")
