"""Test attribution: a planted turn is detected, and no turn is named without one."""

import json
from math import comb
from pathlib import Path

import pytest
from attribution_runs import World, case_of

from messages import refusal
from moot.analyses.attribution.effects import estimate_effect, turn_effects
from moot.analyses.attribution.protocol import ATTRIBUTED, AttributionParams, chosen_repeats
from moot.core.artifacts import describe, write_rows
from moot.jobs.debates import record_conclusion
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, transcript_row
from scripted_model import WINNER, ScriptedModel, make_debate


def test_a_planted_turn_has_the_largest_effect_and_is_called_moved(tmp_path: Path) -> None:
    planted = list(range(6))
    effects = turn_effects(World(tmp_path, planted, 0.95, 0.05).judge_again())
    assert len(effects) == 6 * 6
    moved = effects[effects["moved"].astype(bool)]
    assert (moved["place"] - 1).tolist() == planted
    assert (moved["low"] > 0).all()


def moved_turns(folder: Path, changed: list[list[float]]) -> list[bool]:
    """Return which turns are called moved, from the answers without each of them.

    The judge gives its verdict in all of 20 answers about the unchanged debate.
    """
    world = World(folder, [None], 0.5, 0.5)
    params = AttributionParams(source_experiment="trial", source_model="scripted")
    debate = world.debate(params, case_of(0))
    note = {"verdict": "plaintiff", "speaker": "", "phase": "", "invalid": 0, "exact": False}
    rows = []
    for turn, values in enumerate([[1.0] * 20, *changed]):
        parsed = {**note, "turn": turn, "place": turn, "values": values}
        utterance = debate.record(
            "nobody", ATTRIBUTED, "", source="computed", private=True, parsed=parsed
        )
        rows.append(transcript_row(debate, utterance))
    return turn_effects(world.read_results(rows, params))["moved"].tolist()


def test_the_turns_of_a_debate_share_one_correction_for_chance(tmp_path: Path) -> None:
    """Fisher's p of 20 of 20 and 6 of 10 is .008, above .05 / 12 but below .05 / 6."""
    one_moved, unmoved = [1.0] * 6 + [0.0] * 4, [1.0] * 10
    p = comb(10, 4) / comb(30, 4)
    assert estimate_effect([1.0] * 20, one_moved, exact=False).p == pytest.approx(p)
    assert moved_turns(tmp_path / "six", [one_moved, *[unmoved] * 5]) == [True, *[False] * 5]
    assert moved_turns(tmp_path / "twelve", [one_moved, *[unmoved] * 11]) == [False] * 12


def test_log_probabilities_give_the_exact_effect_from_one_answer_each(tmp_path: Path) -> None:
    world = World(tmp_path, [2, 3, None], 0.9, 0.2, answer="likelihood")
    effects = turn_effects(world.judge_again())
    assert len(world.asked) == 3 * (2 + 6)
    assert effects["exact"].all()
    planted = effects[effects["moved"].astype(bool)]
    assert planted[["case_id", "place"]].values.tolist() == [["c0", 3], ["c1", 4]]
    assert planted["effect"].tolist() == pytest.approx([0.7] * 2)
    assert planted[["low", "high", "p"]].isna().all(axis=None)
    assert (effects["floor"] == 0).all()


@pytest.mark.parametrize("strategy", ["none", "inline"])
def test_only_the_judge_is_asked_and_it_reads_all_unchanged_turns(
    tmp_path: Path, strategy: str
) -> None:
    world = World(tmp_path, [None, None], 0.9, 0.2, answer="likelihood", strategy=strategy)
    world.judge_again(debates=1)
    [case] = {prompt.split("File ")[1][0] for prompt in world.asked}
    point_counts = [prompt.count(f"file {case}, point ") for prompt in world.asked]
    assert sorted(point_counts) == [5] * 6 + [6] * 2


def test_a_general_prompt_needs_no_protocol_of_the_judge(tmp_path: Path) -> None:
    world = World(tmp_path, [1, 4], 0.9, 0.2)
    effects = turn_effects(world.judge_again(judge_protocol="", answer="likelihood"))
    moved = effects[effects["moved"].astype(bool)]
    assert moved[["case_id", "place"]].values.tolist() == [["c0", 2], ["c1", 5]]


def test_failed_calls_affect_only_their_own_change(tmp_path: Path) -> None:
    world = World(tmp_path, [2], 0.9, 0.2, answer="likelihood")
    world.fails = "point 4."
    results = world.judge_again()
    assert turn_effects(results)["place"].tolist() == [1, 2, 3, 4, 6]
    transcripts = results.transcripts
    assert (transcripts["parse_status"] == "failed").sum() == 1
    assert (
        json.loads(transcripts[transcripts["kind"] == "conclusion"]["parsed"].iloc[0])["status"]
        == "valid"
    )


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
    with refusal():
        chosen_repeats(world.debate(params, case_of(0)).setup, case_of(0))
    assert set(PROTOCOLS["attribution"].needs(params)) == {"debates"}
