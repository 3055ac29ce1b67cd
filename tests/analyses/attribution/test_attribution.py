"""Test attribution: a planted turn is detected, and no turn is named without one."""

import json
from pathlib import Path

import numpy as np
import pytest
from attribution_runs import World, case_of, share_detected_first
from scipy.stats import binom

from moot.analyses.attribution.effects import rests_on_one, turn_effects
from moot.analyses.attribution.estimates import estimate_effect
from moot.analyses.attribution.protocol import ATTRIBUTED, AttributionParams, chosen_repeats
from moot.core.artifacts import describe, write_rows
from moot.core.errors import UserError
from moot.jobs.debates import record_conclusion
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, transcript_row
from scripted_model import WINNER, ScriptedModel, make_debate


def test_a_planted_turn_has_the_largest_effect_and_a_covering_interval(tmp_path: Path) -> None:
    planted = [0, 1, 2, 3, 4, 5] * 10
    effects = turn_effects(World(tmp_path, planted, 0.9, 0.1).judge_again())
    assert len(effects) == 60 * 6
    assert share_detected_first(effects, planted) >= 0.95
    is_planted = effects["place"] - 1 == effects["case_id"].str[1:].astype(int) % 6
    assert effects[is_planted]["moved"].mean() > 0.9
    assert effects[~is_planted].groupby("case_id")["moved"].any().mean() <= 0.05
    covered = (effects["low"] <= 0.8) & (effects["high"] >= 0.8)
    assert covered[is_planted].mean() >= 0.85
    assert rests_on_one(effects).mean() > 0.8


def share_named_without_effect(share: float, repeats: int, turns: int) -> float:
    """The share of debates in which Holm's first step calls a turn moved by chance."""
    is_named = 0.0
    for unchanged in range(2 * repeats + 1):
        first = [1.0] * unchanged + [0.0] * (2 * repeats - unchanged)
        chance = 0.0
        for changed in range(repeats + 1):
            second = [1.0] * changed + [0.0] * (repeats - changed)
            if estimate_effect(first, second, exact=False).p < 0.05 / turns:
                chance += float(binom.pmf(changed, repeats, share))
        # given the answers about the unchanged debate, the turns are independent
        is_named += float(binom.pmf(unchanged, 2 * repeats, share)) * (1 - (1 - chance) ** turns)
    return is_named


@pytest.mark.parametrize("turns", [1, 6, 26])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.9])
def test_a_debate_keeps_the_level_however_many_turns_it_has(share: float, turns: int) -> None:
    assert share_named_without_effect(share, 10, turns) <= 0.05


def test_turns_are_named_as_seldom_as_the_test_promises_if_none_was_planted(
    tmp_path: Path,
) -> None:
    share = 0.6
    effects = turn_effects(World(tmp_path, [None] * 60, 0.9, share).judge_again())
    repeats = AttributionParams(source_experiment="trial", source_model="scripted").repeats
    chance = share_named_without_effect(share, repeats, 6)
    assert effects.groupby("case_id")["moved"].any().sum() <= binom.isf(0.01, 60, chance)
    assert ((effects["low"] <= 0) & (effects["high"] >= 0)).mean() >= 0.92
    assert rests_on_one(effects).sum() <= binom.isf(0.01, 60, chance)


def share_named_by_chance(folder: Path, share: float, debates: int) -> float:
    """Return the share of debates with a turn called moved, where no turn has an effect."""
    world, random, repeats = World(folder, [None], share, share), np.random.default_rng(11), 10
    world.planted = [None] * debates
    params = AttributionParams(source_experiment="trial", source_model="scripted")
    debate = world.debate(params, case_of(0))
    note = {
        "verdict": "plaintiff",
        "speaker": "",
        "phase": "",
        "invalid": 0,
        "exact": False,
    }
    answers = [(0, 2 * repeats)] + [(turn, repeats) for turn in range(1, 13)]
    utterance = debate.record("nobody", ATTRIBUTED, "", source="computed", private=True, parsed={})
    row, rows = transcript_row(debate, utterance), []
    for number in range(debates):
        for place, (turn, times) in enumerate(answers, start=1):
            values = random.binomial(1, share, times).astype(float).tolist()
            parsed = {**note, "turn": turn, "place": turn, "values": values}
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


def test_the_turns_of_a_debate_share_one_correction_for_chance(tmp_path: Path) -> None:
    debates, chance = 400, share_named_without_effect(0.5, 10, 12)
    named_count = round(share_named_by_chance(tmp_path, 0.5, debates) * debates)
    low, high = binom.interval(0.98, debates, chance)
    assert low <= named_count <= high


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


def test_only_the_judge_is_asked_and_it_reads_all_unchanged_turns(tmp_path: Path) -> None:
    world = World(tmp_path, [None, None], 0.9, 0.2, answer="likelihood")
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
    with pytest.raises(UserError, match="hold no words that could be taken out"):
        chosen_repeats(world.debate(params, case_of(0)).setup, case_of(0))
