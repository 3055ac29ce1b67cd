"""Test that protocols run under arms or refuse them with a reason, and what each arm changes.

An arm changes who argues, what is said, how the judge decides, or which labels it reads.
"""

import json
import re
from itertools import product

import pyarrow.parquet as pq
import pytest
from arm_runs import (
    MEANINGLESS,
    Runs,
    entry,
    full_and,
    messages_of,
    note_of,
    prompts_of,
    public,
)

from courtroom_runs import PROJECT, configuration
from moot.analyses.arms.controls import ARMS
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS

VALID = [pair for pair in product(PROTOCOLS, ARMS) if pair not in MEANINGLESS]
PAIRS = [*VALID[::5], *{reason: pair for pair, reason in MEANINGLESS.items()}.values()]
"""Every fifth pair that makes sense, so that each protocol and arm has some, and one pair for each
reason.
"""


@pytest.mark.parametrize(("protocol", "arm"), PAIRS, ids=lambda part: part)
def test_a_protocol_runs_under_an_arm_or_is_refused_with_a_reason(
    protocol: str, arm: str, runs: Runs
) -> None:
    if reason := MEANINGLESS.get((protocol, arm)):
        arms = ("matched_calls", arm) if arm == "matched_tokens" else (arm,)
        with pytest.raises(UserError, match=reason) as caught:
            runs.plan(**{protocol: entry(protocol, arms)})
        assert f"experiments.{protocol}.arms: {arms[0]}: " in str(caught.value)
        assert "\n" not in str(caught.value)
        return
    rows = runs.hold(runs.plan_of_all_arms, f"{protocol}-arm={arm}")
    ends = rows[rows["kind"] == "conclusion"]
    assert len(ends) == 4
    statuses = {json.loads(parsed)["status"] for parsed in ends["parsed"]}
    assert "valid" in statuses and statuses <= {"valid", "invalid"}, ends["parsed"].tolist()


def test_samples_match_the_calls_and_tokens_of_the_debate(runs: Runs) -> None:
    plan = runs.plan_of_all_arms
    samples = {}
    for arm in ("matched_calls", "matched_tokens"):
        rows = runs.hold(plan, f"courtroom-arm={arm}")
        samples[arm] = set(rows[rows["kind"] == "sample"].groupby("case_id").size())
    runs.hold(plan, "courtroom")
    calls = pq.read_table(runs.folder / "predictions" / "courtroom" / "test.parquet")[
        "calls"
    ].to_pylist()
    assert samples["matched_calls"] == {calls[0]} == {16}
    folder = runs.folder / "predictions"
    debate = pq.read_table(folder / "courtroom" / "test.parquet").to_pandas()
    sample = pq.read_table(folder / "courtroom-arm=matched_calls" / "test.parquet").to_pandas()
    column = "cost_usd" if debate["cost_usd"].any() else "completion_tokens"
    debated, sampled = debate[column].mean(), sample[column].mean()
    assert samples["matched_tokens"] == {max(1, round(debated / (sampled / 16)))}


def test_noise_is_speech_about_another_case_without_calls_of_debaters(runs: Runs) -> None:
    baseline, noise = full_and(runs, "noise")
    utterances = public(noise)[public(noise)["speaker"] != "judge"]
    assert set(utterances["source"]) == {"borrowed"}
    assert set(noise.loc[noise["source"] == "model", "speaker"]) == {"judge"}
    donors: dict[str, str] = {}
    for case, mine in utterances[utterances["source"] == "borrowed"].groupby("case_id"):
        donor = note_of(noise[noise["case_id"] == case])["case"]
        theirs = public(baseline)[
            (public(baseline)["case_id"] == donor) & (public(baseline)["speaker"] != "judge")
        ]
        assert (
            mine[["speaker", "kind", "text"]].to_numpy().tolist()
            == theirs[["speaker", "kind", "text"]].to_numpy().tolist()
        )
        assert case != donor
        donors[str(case)] = donor
    assert set(donors) == set(donors.values())


def test_noise_on_a_panel_replaces_the_opinions_of_the_other_judges(runs: Runs) -> None:
    _, noise = full_and(runs, "noise", "panel")
    requests = prompts_of(runs, "panel-arm=noise")
    first = noise[(noise["kind"] == "statement") & (noise["round"] == 1) & (noise["repeat"] == 0)]
    second = noise[(noise["kind"] == "statement") & (noise["round"] == 2)]
    for row in second.to_dict("records"):
        mine = first[first["case_id"] == row["case_id"]].set_index("speaker")["text"]
        request = requests[row["call_id"]]
        assert mine[row["speaker"]] in request
        for speaker, text in mine.drop(row["speaker"]).items():
            assert text not in request, speaker


def test_the_arm_alone_has_as_many_turns_as_the_debaters(runs: Runs) -> None:
    baseline, solo = full_and(runs, "alone")
    turns = public(baseline)[public(baseline)["speaker"] != "judge"].groupby("case_id").size()
    assert (
        solo[solo["kind"] == "thought"].groupby("case_id").size().to_dict()
        == turns.to_dict()
        == dict.fromkeys(turns.index, 6)
    )
    assert set(solo["speaker"]) == {"judge", "moot"}
    last = solo[solo["kind"] == "verdict"].iloc[0]
    thoughts = solo[(solo["debate_id"] == last["debate_id"]) & (solo["kind"] == "thought")]["text"]
    request = prompts_of(runs, "courtroom-arm=alone")[last["call_id"]]
    assert all(text in request for text in thoughts)


def test_a_consultancy_hears_each_side_in_half_of_the_cases(
    runs: Runs,
) -> None:
    plan = runs.plan(twice=entry("courtroom", ("consultancy",), repeats=2))
    rows = runs.hold(plan, "twice-arm=consultancy")
    sides = {"yes": "prosecutor", "no": "defense"}
    for (case, repeat), mine in rows.groupby(["case_id", "repeat"]):
        side = note_of(mine)["side"]
        assert set(mine["speaker"]) == {sides[side], "judge", "moot"}, (case, repeat)
    notes = rows[rows["kind"] == "arm"]
    assert notes.groupby("case_id")["parsed"].nunique().eq(2).all(), (
        "the other side in the other repeat"
    )
    baseline = runs.hold(plan, "twice")
    assert set(rows["call_id"]) & set(baseline["call_id"]) - {""}, "equal calls are made once"


def test_swapped_debaters_exchange_order_and_models(runs: Runs) -> None:
    baseline, swapped = full_and(runs, "swap")
    order = [
        public(rows[rows["case_id"] == rows["case_id"].iloc[0]])["speaker"].tolist()
        for rows in (baseline, swapped)
    ]
    assert order[0] == ["prosecutor", "defense"] * 3 + ["judge"]
    assert order[1] == ["defense", "prosecutor"] * 3 + ["judge"]
    raw = configuration("http://nowhere.invalid", runs.folder)
    raw["models"]["other"] = raw["models"]["test"]
    raw["experiments"]["trial"] |= {
        "arms": ["swap"],
        "params": {"seats": {"defense": "other", "judge": "other"}},
    }
    plan = Plan.from_yaml(raw, PROJECT)
    assert plan.experiments["trial-arm=swap"].params.seats == {
        "prosecutor": "other",
        "judge": "other",
    }


def test_a_committed_judge_decides_first_and_reads_its_own_decision(
    runs: Runs,
) -> None:
    _, rows = full_and(runs, "commit_first")
    requests = prompts_of(runs, "courtroom-arm=commit_first")
    for _, debate in rows.groupby("debate_id"):
        first, *later_rows = debate[debate["call_id"] != ""].to_dict("records")
        assert (first["kind"], first["speaker"], first["visibility"]) == (
            "commitment",
            "judge",
            "judge",
        )
        assert note_of(debate)["side"] == first["prediction"]
        for row in later_rows:
            assistant = [
                text for role, text in messages_of(requests[row["call_id"]]) if role == "assistant"
            ]
            assert assistant == ([first["text"]] if row["speaker"] == "judge" else [])
            assert requests[row["call_id"]].count("commitment, round") == 0, (
                "the notes do not repeat the commitment"
            )


@pytest.mark.parametrize("protocol", ["courtroom", "feedback", "panel", "four_step_cot", "stance"])
def test_every_prompt_explains_the_swapped_labels_once(protocol: str, runs: Runs) -> None:
    full_and(runs, "labels_swapped", protocol)
    requests = prompts_of(runs, f"{protocol}-arm=labels_swapped").values()
    explanation = re.compile("P(?: means that|:) the person will be arrested again")
    assert {len(explanation.findall(text)) for text in requests} == {1}


def test_the_judge_of_agreement_reads_its_options_in_reversed_order(runs: Runs) -> None:
    full_and(runs, "labels_swapped", "agreement")
    for name, words in (
        ("agreement", "MORE DEBATE or AGREEMENT"),
        ("agreement-arm=labels_swapped", "AGREEMENT or MORE DEBATE"),
    ):
        for request in prompts_of(runs, name).values():
            assert f"Answer with {words} and nothing else" in request
