"""Scores, tables and figures of the appellate study, on panels whose course is known."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from moot.core.artifacts import SCHEMAS, describe, write_frame, write_rows
from moot.core.cases import Case
from moot.core.rubric import RUBRICS
from moot.report import FIGURES, TABLES
from moot.report.content import StudyResults
from moot.report.published import read_published
from moot.scores import labels
from moot.scores.case_metrics import CASE_METRICS
from moot.scores.results import ExperimentResults
from moot.studies.appellate.data_opinions import TASK
from moot.studies.appellate.legal.citations import count_citations
from moot.studies.appellate.legal.rubric import CODES
from moot.studies.appellate.panel_steps import (
    build_panel_steps,
    find_opposing_influences,
    pair_positions,
)
from moot.studies.appellate.phases import STUDY
from moot.studies.appellate.reasoning_structure import (
    gives_human_as_reason,
    is_reasserted,
    list_reasoned_changes,
    measure_margins,
    measure_structure,
    names_human,
    takes_up_opposing_view,
)
from moot.studies.appellate.scores_panel import log_odds_ratio, panel_label_scores, panel_scores
from of_study import of_study
from results_on_disk import experiment_view, prediction, write_results

PROJECT = Path(__file__).resolve().parents[3]
LABEL_OF = {"a": "AFFIRM", "r": "REVERSE", "n": "NONE"}
PARAMS = {"judges": 3, "rounds": 3, "votes": "none"}
CASES = [
    Case(
        "c1",
        "toy",
        "test",
        "Facts of c1. See Lee v. Hall, 12 F.3d 34.",
        "affirm",
        TASK.labels,
        {"number": "1"},
    ),
    Case("c2", "toy", "test", "Facts of c2.", "not affirm", TASK.labels, {"number": "2"}),
]
TARGETS = {case.case_id: case.target for case in CASES}


def panel(
    folder: Path,
    courses: dict[str, str],
    protocol: str = "panel",
    name: str = "panels",
    extra: list[dict[str, Any]] | None = None,
    people: dict[str, str] | None = None,
) -> ExperimentResults:
    """Results of debates, each written as rounds of positions: "aar arr rrr" (a affirm, r reverse,
    n none).

    `people`: what people say of the debates that were drawn, in the same way.
    """
    statements, labels = [], []
    for debate, course in courses.items():
        turn = 0
        for number, positions in enumerate(course.split(), start=1):
            for seat, position in enumerate(positions, start=1):
                turn += 1
                human = protocol == "human_panel" and seat == 3
                statements.append(
                    statement(
                        debate, turn, "human" if human else f"judge_{seat}", number, position, human
                    )
                )
                labels.append({"debate_id": debate, "turn": turn, "label": LABEL_OF[position]})
    for row in extra or []:
        statements.append(row)
        labels.append({"debate_id": row["debate_id"], "turn": row["turn"], "label": "AFFIRM"})
    results = write_results(
        folder,
        CASES,
        {
            "tiny": [
                prediction(debate.split("#")[0], TARGETS[debate.split("#")[0]], "affirm")
                for debate in courses
            ]
        },
        {"tiny": statements},
        task=TASK,
        experiment=name,
        config=replace(
            experiment_view(protocol, "toy", ("tiny",), "test", PARAMS), rubric=RUBRICS["appellate"]
        ),
    )
    drawn_courses = {}
    for debate, course in (people or {}).items():
        for turn, position in enumerate(course.replace(" ", ""), start=1):
            columns = {"drawn_label": LABEL_OF[position], "inclusion": 1.0}
            drawn_courses[debate, turn] = columns
    rows = [
        {
            "experiment": name,
            "model": "tiny",
            "code": CODES[row["label"]],
            "labeler": "rules",
            "evidence": "",
            "predicted": row["label"],
            **row,
            **drawn_courses.get((row["debate_id"], row["turn"]), {}),
        }
        for row in labels
    ]
    write_rows(folder / "labels" / name / "tiny.parquet", "labels", rows, describe(name))
    everything = pd.DataFrame(rows)[
        ["experiment", "model", "debate_id", "turn", "label", "code", "labeler", "evidence"]
    ]
    everything = everything.assign(
        case_id=[row["debate_id"].split("#")[0] for row in rows], round=1, speaker="x"
    )
    write_frame(
        folder / "annotations" / name / "tiny.parquet", "annotations", everything, describe(name)
    )
    return results


def statement(
    debate: str,
    turn: int,
    speaker: str,
    number: int,
    position: str,
    human: bool = False,
    kind: str = "statement",
) -> dict[str, Any]:
    parsed = (
        json.dumps({"condition": "affirm" if position == "a" else "not affirm"}) if human else None
    )
    return {
        "debate_id": debate, "case_id": debate.split("#", maxsplit=1)[0],
            "repeat": 0, "turn": turn, "round": number, "speaker": speaker,
        "visibility": "public", "kind": kind, "text":
            f"{speaker} in round {number} says {position}.", "parsed": parsed,
        "parse_status": "", "source": "human" if human else "model",
    }  # fmt: skip


def label_scores(results: ExperimentResults) -> pd.DataFrame:
    """The scores of labels that every study has, and the study's own."""
    return pd.concat([labels.label_scores(results), panel_label_scores(results)], ignore_index=True)


def value(
    scores: pd.DataFrame, metric: str, group: str = "overall", column: str = "value"
) -> float:
    rows = scores[(scores["metric"] == metric) & (scores["group"] == group)]
    assert len(rows) == 1, (metric, group)
    return float(rows.iloc[0][column])


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


def test_volatility_has_a_row_as_the_paper_counts(tmp_path: Path) -> None:
    course = {"c1#0": "aar aar arr", "c2#0": "ana rna aaa"}
    phases = [panel(tmp_path, course, protocol, protocol) for protocol in ("panel", "human_panel")]
    frame = TABLES[f"{STUDY}/volatility"].build(study(phases)).frame
    ours = frame[frame["experiment"] != ""].set_index(["experiment", "transition"])
    assert ours.loc[("panel", "all rounds, as the paper counts"), "changes"] == 4
    assert ours.loc[("panel", "all rounds"), "changes"] == 3
    ai_judges = "all rounds, AI judges, as the paper counts"
    assert ours.loc[("human_panel", ai_judges), "n"] == 8, "two for each of two judges"
    theirs = frame[frame["experiment"] == ""].set_index(["phase", "transition"])["published"]
    assert theirs["human-AI", ai_judges] == pytest.approx(43 / 400)
    assert theirs["synthetic", "all rounds, as the paper counts"] == pytest.approx(20 / 600)


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


REASSERTED = (
    "I would affirm the conviction. The statute is clear, and the jury heard the evidence. See"
    " Smith v. Jones. Other courts agree. For these reasons I vote to affirm.\nConfidence: 80"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (REASSERTED, True),
        ("I would affirm. The law is clear. The facts are too. I would reverse.", False),
        ("The law is clear. The facts are too. Nothing speaks against it. I would affirm.", False),
        ("I would affirm the judgment. The law is clear.", False),
        ("I vote to reverse. The record is thin. Nobody saw it. I would reverse the ruling.", True),
        ("", False),
    ],
)
def test_assertion_reasoning_reassertion(text: str, expected: bool) -> None:
    assert is_reasserted(text) == expected


@pytest.mark.parametrize(
    ("text", "names", "reason", "opposing"),
    [
        ("I agree with the Human Judge that the law is vague.", True, True, False),
        ("In light of the human opinion I would now reverse.", True, True, False),
        ("The Human Judge spoke first.", True, False, False),
        ("Human rights and human dignity are at stake.", False, False, False),
        ("On the other hand, privacy matters.", False, False, True),
        ("To play devil's advocate: one might argue that the forms suffice.", False, False, True),
        ("While I understand the concern, I would affirm.", False, False, True),
        ("AI Judge 2 persuaded me.", False, False, False),
        ("", False, False, False),
    ],
)
def test_whom_a_statement_names_and_what_it_takes_up(
    text: str, names: bool, reason: bool, opposing: bool
) -> None:
    assert names_human(text) == names
    assert gives_human_as_reason(text) == reason
    assert takes_up_opposing_view(text) == opposing


def test_changes_beside_a_human_and_margins_by_contention(tmp_path: Path) -> None:
    divided, unanimous = (
        replace(case, attributes={**case.attributes, "votes": votes})
        for case, votes in zip(CASES, ("divided", "unanimous"), strict=True)
    )
    courses = {"c1#0": "ara raa rar", "c1#1": "aaa arr arr", "c2#0": "aaa aaa aaa"}
    results = panel(tmp_path, courses, "human_panel", "h")
    steps = build_panel_steps(results)
    steps["text"] = steps["text"].where(
        ~((steps["debate_id"] == "c1#0") & (steps["round"] == 2)),
        "Given what the Human Judge said, I change my mind.",
    )
    changes = list_reasoned_changes(steps).set_index(["debate_id", "seat"])
    assert changes["reason"].to_dict() == {
        ("c1#0", 1): True,
        ("c1#0", 2): True,
        ("c1#1", 2): False,
    }
    structure = measure_structure(steps)
    assert set(structure["speaker"]) == {"judge_1", "judge_2"}
    assert structure.groupby(["debate_id", "round"])["names_human"].all().sum() == 1
    margins = measure_margins(steps, {"c1": divided, "c2": unanimous}).set_index("case_id")
    # c1 by step of the AI judges: aa, ra, ra, ar, ra, ar
    assert margins["margin"].to_dict() == {"c1": pytest.approx(1 / 6), "c2": 1.0}
    assert margins["votes"].to_dict() == {"c1": "divided", "c2": "unanimous"}
    assert measure_margins(steps, results.case_by_id).empty, "cases without votes are left out"


def test_metrics_of_claims(tmp_path: Path) -> None:
    alternating = panel(tmp_path, {"c1#0": "ara ara ara", "c2#0": "aaa aaa nra"})
    terms = CASE_METRICS["alternation"](alternating, "tiny")
    assert (terms.tops.sum(), terms.bottoms.sum()) == (7, 11)
    followed = panel(tmp_path / "h", {"c1#0": "rra aaa aaa", "c2#0": "aar ara arr"}, "human_panel")
    both = CASE_METRICS["human_over_peer"](followed, "tiny")
    to_human, to_peer = (
        CASE_METRICS[name](followed, "tiny") for name in ("moves_to_human", "moves_to_peer")
    )
    assert both.case_ids == to_human.case_ids
    assert both.tops[:, 0] / 2 == pytest.approx(to_human.tops[:, 0])
    assert both.tops[:, 1] / -2 == pytest.approx(to_peer.tops[:, 0])
    assert (both.bottoms == np.hstack([to_human.bottoms, to_peer.bottoms])).all()


def test_majorities_against_the_real_outcome(tmp_path: Path) -> None:
    scores = panel_scores(panel(tmp_path, {"c1#0": "aar aar arr", "c2#0": "anr aaa aaa"}))
    assert value(scores, "majority_accuracy", "majority=first") == 1  # c2 is tied
    assert value(scores, "majority_accuracy", "majority=first", "n_invalid") == 1
    assert value(scores, "majority_accuracy", "majority=last") == 0


def test_alternation_of_neighbours(tmp_path: Path) -> None:
    scores = panel_scores(panel(tmp_path, {"c1#0": "ara ara ara", "c2#0": "aaa aaa nra"}))
    assert value(scores, "alternation", "seats=1-2") == pytest.approx(3 / 5)
    assert value(scores, "alternation", "seats=1-2", "n_invalid") == 1


def test_overruns_and_missing_statements(tmp_path: Path) -> None:
    late = statement("c1#0", 50, "judge_1", 4, "a", kind="overrun")
    fourth = statement("c2#0", 50, "judge_4", 3, "a", kind="extra")
    results = panel(
        tmp_path,
        {"c1#0": "aar aar arr", "c2#0": "aaa aaa aaa"},
        "synthetic_panel",
        extra=[late, fourth],
    )
    counts = (
        TABLES[f"{STUDY}/table1_steps"].build(study([results])).frame.set_index("count")["ours"]
    )
    assert counts["debates beyond the last round"].max() == 1
    assert counts["statements of an extra judge, or said twice"] == 1
    assert set(build_panel_steps(results)["step"]) >= {1, 9}


def test_who_is_followed(tmp_path: Path) -> None:
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


def test_the_effect_of_the_humans_stance(tmp_path: Path) -> None:
    results = panel(
        tmp_path,
        {
            "c1#0": "ara aaa aaa",
            "c1#1": "arr rrr rrr",
            "c2#0": "ara aaa aaa",
            "c2#1": "arr arr rnr",
        },
        "human_panel",
    )
    scores = panel_scores(results)
    assert value(scores, "stance_effect", "round=1") == 0
    assert value(scores, "stance_effect", "round=2") == pytest.approx(1 - 1 / 4)
    assert value(scores, "stance_effect", "round=3") == 1
    assert value(scores, "stance_effect", "round=3", "n_invalid") == 1


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See Katz v. United States, 389 U.S. 347 (1967).", (1, 1, 0, 1)),
        ("As Smith v. Jones shows.", (1, 0, 0, 1)),
        ("Lee v. Hall, 12 F.3d 34, binds us.", (1, 1, 1, 0)),
        ("18 U.S.C. § 2511 applies.", (1, 1, 0, 1)),
        ("We weigh the facts.", (0, 0, 0, 0)),
        ("", (0, 0, 0, 0)),
    ],
)
def test_citations(text: str, expected: tuple[int, int, int, int]) -> None:
    assert count_citations(text, CASES[0].text) == expected


RULES = {"c1#0": "aar aar arr", "c1#1": "nnr aar arr", "c2#0": "ana rna aaa", "c2#1": "rrr rar nnn"}
PEOPLE = {
    "c1#0": "arr aar arr",
    "c1#1": "rar arr anr",
    "c2#0": "aaa rna ara",
    "c2#1": "nrr rrr arr",
}


@pytest.mark.parametrize("protocol", ["panel", "human_panel"])
def test_corrected_by_labels_of_everything_is_what_people_say(
    protocol: str, tmp_path: Path
) -> None:
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


def test_a_sample_corrects_by_what_people_say_differently(tmp_path: Path) -> None:
    """Of one judge's first statements rules affirm two of four; people see no position in one of
    the two drawn.
    """
    drawn_courses = {"c1#0": "nar aar arr", "c2#1": "rrr rar nnn"}
    results = panel(tmp_path, {**RULES, "c2#0": "ana rna aaa"}, people=drawn_courses)
    scores = label_scores(results)
    group = "round=1;seat=1"
    assert value(scores, "corrected_affirm_share_of_statements", group, "n") == 2
    # the labeller's slope on people is 0 in the sample, so people alone are believed
    assert value(scores, "corrected_affirm_share_of_statements", group) == 0
    tables = {
        name: TABLES[f"{STUDY}/{name}"].build(study([results]))
        for name in ("label_shares", "volatility")
    }
    assert all(
        {"corrected", "corrected low", "labelled"} <= set(content.frame)
        for content in tables.values()
    )
    assert all(
        "`corrected` does (prediction-powered" in content.notes[0] for content in tables.values()
    )
    raw = TABLES[f"{STUDY}/label_shares"].build(study([panel(tmp_path / "raw", RULES)]))
    assert "corrected" not in raw.frame and raw.notes[0].startswith("Raw only")


def study(results: list[ExperimentResults]) -> StudyResults:
    published = read_published(PROJECT / "data" / "published" / "published_results.csv")
    frames = [*map(panel_scores, results), *map(label_scores, results)]
    scores = pd.concat(frames, ignore_index=True) if results else panel_scores_of_none()
    experiments = {experiment.experiment: experiment for experiment in results}
    return StudyResults(STUDY, experiments, scores, {}, published[published["study"] == STUDY])


def panel_scores_of_none() -> pd.DataFrame:
    return pd.DataFrame(columns=SCHEMAS["scores"].names)


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
