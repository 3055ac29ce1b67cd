"""Scores of the appellate study, on panels whose course is known."""

from pathlib import Path

import numpy as np
import pytest

from moot.scores.case_metrics import CASE_METRICS
from moot.studies.appellate.data_opinions import TASK
from moot.studies.appellate.panel_steps import (
    build_panel_steps,
    find_opposing_influences,
    pair_positions,
)
from moot.studies.appellate.scores_panel import log_odds_ratio, panel_label_scores, panel_scores
from panel_results import CASES, PARAMS, panel, statement, value
from results_on_disk import experiment_view, write_results


def test_positions_and_changes(tmp_path: Path) -> None:
    results = panel(tmp_path, {"c1#0": "aar aar arr", "c2#0": "ana rna aaa"})
    scores = panel_scores(results)
    assert value(scores, "affirm_share", "round=1;seat=1") == 1
    assert value(scores, "affirm_share", "round=1;seat=2") == 1
    assert value(scores, "affirm_share", "round=1;seat=2", "n_invalid") == 1
    # c1: judge 2 changes once; c2: judge 1 changes twice, judge 2 has no position in rounds 1 and 2
    assert value(scores, "changes") == 3
    assert value(scores, "volatility", column="n") == 10
    assert value(scores, "volatility", column="n_invalid") == 2
    assert value(scores, "volatility") == pytest.approx(0.3)
    assert value(scores, "volatility", "rounds=1-2;seat=1") == 0.5
    # As the paper counts, all 12 pairs are opportunities, and no position is a third code.
    assert value(scores, "volatility_of_all_pairs", column="n") == 12
    assert value(scores, "changes_of_all_pairs") == 4
    assert value(scores, "volatility_of_all_pairs") == pytest.approx(4 / 12)


def test_majorities_against_the_real_outcome(tmp_path: Path) -> None:
    scores = panel_scores(panel(tmp_path, {"c1#0": "aar aar arr", "c2#0": "anr aaa aaa"}))
    assert value(scores, "majority_accuracy", "majority=first") == 1  # c2 is tied
    assert value(scores, "majority_accuracy", "majority=first", "n_invalid") == 1
    assert value(scores, "majority_accuracy", "majority=last") == 0


def test_panels_without_a_usable_round_have_no_scores(tmp_path: Path) -> None:
    late = statement("c1#0", 1, "judge_1", 4, "a", kind="overrun")
    assert panel_scores(panel(tmp_path, {"c1#0": ""}, "synthetic_panel", extra=[late])).empty


def test_which_seats_are_followed(tmp_path: Path) -> None:
    # judge 1 against human alone and moves; judge 2 against nobody, then against human and peer
    results = panel(tmp_path, {"c1#0": "rra aaa aaa", "c2#0": "aar ara arr"}, "human_panel")
    chances = find_opposing_influences(build_panel_steps(results)).set_index(
        ["debate_id", "round", "seat"]
    )
    first = chances.loc[("c1#0", 1, "judge_1")]
    assert (first["opposed"], first["moved"]) == ("human", True)
    assert chances.loc[("c2#0", 1, "judge_1"), "opposed"] == "human"
    assert not chances.loc[("c2#0", 1, "judge_1"), "moved"]
    assert chances.loc[("c2#0", 2, "judge_2"), "opposed"] == "both"


def test_contrasts_of_a_panel_count_moves_over_chances_by_debate(tmp_path: Path) -> None:
    results = panel(tmp_path, {"c1#0": "rra aaa aaa", "c2#0": "aar ara arr"}, "human_panel")
    chances = find_opposing_influences(build_panel_steps(results))
    for metric, opposed in (("moves_to_human", "human"), ("moves_to_peer", "peer")):
        terms, among = CASE_METRICS[metric](results, "tiny"), chances[chances["opposed"] == opposed]
        assert terms.case_ids == ["c1", "c2"]
        assert (terms.tops.sum(), terms.bottoms.sum()) == (among["moved"].sum(), len(among))
    changes = pair_positions(build_panel_steps(results)).query("speaker != 'human'")
    volatility = CASE_METRICS["volatility"](results, "tiny")
    assert volatility.bottoms[:, 0].tolist() == [4, 4]
    assert volatility.tops.sum() == changes["changed"].sum() == 3


def test_moves_are_scored_by_who_is_opposed_and_labels_by_the_humans_stance(
    tmp_path: Path,
) -> None:
    results = panel(tmp_path, {"c1#0": "rra aaa aaa", "c2#0": "aar ara arr"}, "human_panel")
    scores, labels = panel_scores(results), panel_label_scores(results)
    moved = {"human": (3 / 4, 4), "nobody": (0, 2), "peer": (0, 1), "both": (0, 1)}
    for opposed, expected in moved.items():
        group = f"opposed={opposed}"
        assert (value(scores, "moved", group), value(scores, "moved", group, "n")) == expected
    for clusters in ("case", "debate"):
        group = f"clusters={clusters}"
        odds = [value(scores, "human_over_peer_odds", group, name) for name in ("value", "n")]
        assert odds == [pytest.approx((3.5 / 1.5) / (0.5 / 1.5)), 5]
    for stance, share in (("affirm", 7 / 9), ("not affirm", 5 / 9)):
        group = f"label=AFFIRM;condition={stance}"
        assert value(labels, "label_share", group) == pytest.approx(share)


def test_odds_of_human_over_peer() -> None:
    moved = np.array([1, 1, 1, 0, 1, 0, 0, 0.0])
    human = np.array([1, 1, 1, 1, 0, 0, 0, 0.0])
    ratio = np.exp(log_odds_ratio(moved, human, 1 - human)(np.ones((1, 8)))[0])
    assert ratio == pytest.approx((3.5 / 1.5) / (1.5 / 3.5))
    assert np.isnan(log_odds_ratio(moved, human, np.zeros(8))(np.ones((1, 8)))[0])


def test_panels_without_labels_and_other_protocols_have_no_scores(tmp_path: Path) -> None:
    statements = {"tiny": [statement("c1#0", 1, "judge_1", 1, "a")]}
    results = write_results(
        tmp_path,
        CASES,
        transcripts=statements,
        task=TASK,
        experiment="x",
        config=experiment_view("panel", "toy", ("tiny",), "test", PARAMS),
    )
    assert panel_scores(results).empty


def test_changes_list_both_statements(tmp_path: Path) -> None:
    pairs = pair_positions(build_panel_steps(panel(tmp_path, {"c1#0": "aar raa raa"})))
    changed = pairs[pairs["changed"]]
    assert changed[["seat", "turn", "turn_after", "before", "after"]].to_numpy().tolist() == [
        [1, 1, 4, 1, 0],
        [3, 3, 6, 0, 1],
    ]
