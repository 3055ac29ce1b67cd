"""Test attribution: a planted turn is detected, and no turn is named without one."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from attribution_runs import PLANTED, World, case_of, removed, share_detected_first, study_results

from moot.analyses.attribution.effects import decisive_turns_by_debate, rests_on_one, turn_effects
from moot.analyses.attribution.protocol import ATTRIBUTED, AttributionParams, chosen_repeats
from moot.analyses.attribution.replays import split_sentences
from moot.analyses.attribution.tables import moving_turns, stated_and_exact, what_moved
from moot.core.artifacts import describe, write_rows
from moot.core.errors import UserError
from moot.jobs.debates import record_conclusion
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, transcript_row
from moot.report.study_results import StudyResults
from moot.scores import no_scores
from scripted_model import WINNER, ScriptedModel, make_debate


def test_a_planted_turn_has_the_largest_effect_and_a_covering_interval(tmp_path: Path) -> None:
    planted = [0, 1, 2, 3, 4, 5] * 10
    effects = turn_effects(
        World(tmp_path, planted, 0.9, 0.1).judge_again(interventions=["removed"])
    )
    assert len(effects) == 60 * 6
    assert share_detected_first(effects, planted) >= 0.95
    is_planted = effects["place"] - 1 == effects["case_id"].str[1:].astype(int) % 6
    assert effects[is_planted]["moved"].mean() > 0.9
    assert effects[~is_planted].groupby("case_id")["moved"].any().mean() <= 0.05
    covered = (effects["low"] <= 0.8) & (effects["high"] >= 0.8)
    assert covered[is_planted].mean() >= 0.85
    assert rests_on_one(effects).mean() > 0.8


def test_no_turn_is_named_if_none_was_planted(tmp_path: Path) -> None:
    effects = turn_effects(
        World(tmp_path, [None] * 60, 0.9, 0.6).judge_again(interventions=["removed"])
    )
    assert effects.groupby("case_id")["moved"].any().mean() <= 0.05
    assert ((effects["low"] <= 0) & (effects["high"] >= 0)).mean() >= 0.92
    assert not rests_on_one(effects).any()


def share_named_by_chance(folder: Path, share: float, debates: int) -> float:
    """Return the share of debates with a turn called moved, where no turn has an effect."""
    world, random, repeats = World(folder, [None], share, share), np.random.default_rng(11), 10
    world.planted = [None] * debates
    params = AttributionParams(source_experiment="trial", source_model="scripted")
    debate = world.debate(params, case_of(0))
    note = {
        "number": 0,
        "verdict": "plaintiff",
        "speaker": "",
        "phase": "",
        "quote": "",
        "invalid": 0,
        "exact": False,
    }
    changes = [("whole", 0, 2 * repeats)]
    for way in ("removed", "replaced"):
        changes += [(way, turn, repeats) for turn in range(1, 7)]
    utterance = debate.record("nobody", ATTRIBUTED, "", source="computed", private=True, parsed={})
    row, rows = transcript_row(debate, utterance), []
    for number in range(debates):
        for place, (way, turn, times) in enumerate(changes, start=1):
            values = random.binomial(1, share, times).astype(float).tolist()
            parsed = {**note, "way": way, "turn": turn, "place": turn, "values": values}
            rows.append(
                {
                    **row,
                    "turn": place,
                    "debate_id": f"c{number}#0",
                    "case_id": f"c{number}",
                    "parsed": json.dumps(parsed),
                }
            )
    effects = turn_effects(world.read_results(rows, params))
    assert len(effects) == debates * 12
    return float(effects.groupby("case_id")["moved"].any().mean())


def test_removed_and_replaced_turns_share_one_correction_for_chance(tmp_path: Path) -> None:
    """Each way alone names a turn in less than 5 % of these debates; both together in more."""
    assert 0.005 < share_named_by_chance(tmp_path, 0.5, 3000) <= 0.05


def test_log_probabilities_give_the_exact_effect_from_one_answer_each(tmp_path: Path) -> None:
    world = World(tmp_path, [2, 3, None], 0.9, 0.2, answer="likelihood")
    effects = turn_effects(world.judge_again())
    assert len(world.asked) == 3 * (2 + 6 + 6 + 1)
    assert set(effects["way"]) == {"removed", "replaced", "reordered"} and effects["exact"].all()
    planted = effects[effects["moved"].astype(bool)]
    assert planted[["case_id", "way", "place"]].values.tolist() == [
        ["c0", "removed", 3], ["c0", "replaced", 3], ["c1", "removed", 4], ["c1", "replaced", 4],
    ]  # fmt: skip
    assert planted["effect"].tolist() == pytest.approx([0.7] * 4)
    assert planted[["low", "high", "p"]].isna().all(axis=None)
    assert (effects["floor"] == 0).all()


def test_only_the_judge_is_asked_and_it_reads_all_unchanged_turns(tmp_path: Path) -> None:
    world = World(tmp_path, [None, None], 0.9, 0.2, answer="likelihood")
    world.judge_again(interventions=["removed", "replaced", "reordered"], debates=1)
    [case] = {prompt.split("File ")[1][0] for prompt in world.asked}
    point_counts = [prompt.count(f"file {case}, point ") for prompt in world.asked]
    assert sorted(point_counts) == [5] * 12 + [6] * 3
    opposite = "1" if case == "0" else "0"
    borrowed = [prompt for prompt in world.asked if f"file {opposite}, point" in prompt]
    assert len(borrowed) == 6
    turned = [
        prompt for prompt in world.asked if -1 < prompt.find("point 1.") < prompt.find("point 0.")
    ]
    assert len(turned) == 1 and turned[0].find("point 0.") < turned[0].find("point 3.") < turned[
        0
    ].find("point 2.")


def test_a_general_prompt_needs_no_protocol_of_the_judge(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 4], 0.9, 0.2)
    effects = turn_effects(
        world.judge_again(
            judge_protocol="",
            answer="likelihood",
            interventions=["removed"],
            ask_decisive_turn=True,
            sentences=2,
        )
    )
    assert removed(effects)[["case_id", "place"]][
        removed(effects)["moved"].astype(bool)
    ].values.tolist() == [
        ["c0", 2],
        ["c1", 5],
    ]
    words = effects[effects["way"] == "sentence"]
    assert words["quote"].tolist() == [
        "Consider file 0, point 1.",
        PLANTED,
        "Consider file 1, point 4.",
        PLANTED,
    ]
    assert words["moved"].tolist() == [False, True, False, True]


def test_the_general_prompt_reverses_speakers_within_each_round(tmp_path: Path) -> None:
    world = World(tmp_path, [None], 0.9, 0.2)
    world.judge_again(judge_protocol="", answer="likelihood", interventions=["reordered"])
    point_orders = [list(map(int, re.findall(r"point (\d)", prompt))) for prompt in world.asked]
    assert point_orders == [[0, 1, 2, 3, 4, 5]] * 3 + [[1, 0, 3, 2, 5, 4]]


@pytest.mark.parametrize(
    ("says", "effect"), [("Nothing more.", 0.7), (f"As is known: {PLANTED}", 0.0)]
)
def test_a_debate_continues_with_and_without_a_turn(
    says: str, effect: float, tmp_path: Path
) -> None:
    """A turn has no effect if another seat would have said the same instead."""
    world = World(tmp_path, [2], 0.9, 0.2, answer="likelihood")
    world.says = says
    results = world.judge_again(interventions=["removed"], rerun_from="turn", repeats=3)
    effects = turn_effects(results).set_index(["way", "place"])
    assert effects.loc["removed", "effect"].tolist() == pytest.approx([0, 0, 0.7, 0, 0, 0])
    assert effects.loc["continued", "effect"].tolist() == pytest.approx([0, 0, effect, 0, 0, 0])
    assert effects.loc["removed", "exact"].all() and not effects.loc["continued", "exact"].any()
    prompts = [prompt for prompt in world.asked if "Speak to the court now" in prompt]
    assert (
        len(prompts) == 2 * 3 * sum(range(6))
        and len(world.asked) == len(prompts) + 2 + 6 + 2 * 3 * 6
    )
    assert not any("point 5." in prompt for prompt in prompts), "prompts contain no later turns"
    transcripts = results.transcripts
    assert set(transcripts.loc[transcripts["kind"] == "asked again", "speaker"]) == {
        "judge",
        "prosecutor",
        "defense",
    }
    with pytest.raises(ValueError, match="Name the protocol in `judge_protocol`"):
        world.judge_again(judge_protocol="", rerun_from="turn")


def test_the_turns_with_the_largest_effects_are_named_for_trial_runs(tmp_path: Path) -> None:
    world = World(tmp_path, [2, 5], 0.9, 0.2, answer="likelihood")
    results = world.judge_again(interventions=["removed", "reordered"], sentences=3)
    trial = StudyResults("courtroom", {}, no_scores(), {}, pd.DataFrame(), trials={"test": results})
    frame = moving_turns(trial).frame
    assert len(frame) == 2 * (6 + 3)
    largest = frame.head(4).sort_values(["case", "what is changed"], ascending=[True, False])
    assert largest[["case", "place", "speaker", "called moved"]].values.tolist() == [
        ["c0", 3, "prosecutor", "yes"], ["c0", 3, "prosecutor", "yes"],
        ["c1", 6, "defense", "yes"], ["c1", 6, "defense", "yes"],
    ]  # fmt: skip
    assert (
        largest["words"].tolist()[0] == f"Consider file 0, point 2. {PLANTED} That is all."
        and largest["words"].tolist()[1] == PLANTED
    )
    assert what_moved(trial).frame.empty, "one debate gives no interval over debates"


@pytest.mark.parametrize(("debates", "irreplaceable"), [(1, [1, 2, 3, 4, 5, 6]), (3, [])])
def test_turns_without_a_replacement_are_named(
    debates: int, irreplaceable: list[int], tmp_path: Path
) -> None:
    results = World(tmp_path, [2] * debates, 0.9, 0.2, answer="likelihood").judge_again(
        interventions=["replaced"]
    )
    rows = moving_turns(study_results(results)).frame
    absent = rows[rows["called moved"].str.startswith("not asked")]
    assert absent["place"].tolist() == irreplaceable and absent["effect"].isna().all()
    assert (rows["what is changed"] == "turn replaced").all() and len(rows) == 6 * debates


def test_failed_calls_affect_only_their_own_change(tmp_path: Path) -> None:
    world = World(tmp_path, [2], 0.9, 0.2, answer="likelihood")
    world.fails = "point 4."
    results = world.judge_again(interventions=["removed"])
    assert turn_effects(results)["place"].tolist() == [1, 2, 3, 4, 6]
    transcripts = results.transcripts
    assert (transcripts["parse_status"] == "failed").sum() == 1
    assert (
        json.loads(transcripts[transcripts["kind"] == "conclusion"]["parsed"].iloc[0])["status"]
        == "valid"
    )


def test_the_decisive_turn_stated_by_the_judge_is_kept(tmp_path: Path) -> None:
    results = World(tmp_path, [2, 2, 4], 0.9, 0.2, answer="likelihood").judge_again(
        interventions=["removed"], ask_decisive_turn=True
    )
    assert decisive_turns_by_debate(results) == {
        ("scripted", f"c{number}#0"): [3] for number in range(3)
    }
    [row] = stated_and_exact(study_results(results)).frame.to_dict("records")
    assert row["names the first"] == pytest.approx(2 / 3) and row["by chance"] == pytest.approx(
        1 / 6
    )
    assert (row["turns named"], row["called moved"], row["of these named"]) == (3, 3, 2)
    assert row["effect of the named"] == pytest.approx(0.7 * 2 / 3)


def test_debates_without_words_are_refused(tmp_path: Path) -> None:
    world = World(tmp_path, [], 0.9, 0.2)
    debate = make_debate(
        ScriptedModel(lambda *_: ""), PROTOCOLS["courtroom"].params(), WINNER, case_of(0)
    )
    record_conclusion(debate, Answer("plaintiff"), "valid")
    write_rows(
        world.path,
        "transcripts",
        [transcript_row(debate, utterance) for utterance in debate.utterances],
        describe("trial"),
    )
    params = AttributionParams(source_experiment="trial", source_model="scripted")
    with pytest.raises(UserError, match="hold no words that could be taken out"):
        chosen_repeats(world.debate(params, case_of(0)).setup, case_of(0))


def test_text_is_split_into_sentences() -> None:
    assert [quote for quote, _ in split_sentences('"No." He left! 他走了。好')] == [
        '"No."',
        "He left!",
        "他走了。",
        "好",
    ]
