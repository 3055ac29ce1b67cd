"""Test that every protocol runs under every arm, or that the arm is refused with its reason, and
what each arm changes: who argues, what is said, how the judge decides, and which labels it reads.
"""

import json
import re
from itertools import product
from pathlib import Path

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

from courtroom_runs import PROJECT, configuration, people
from fault_server import FaultServer
from moot.analyses.arms.controls import ARMS
from moot.analyses.arms.interventions import separator
from moot.core.errors import UserError
from moot.plan.plan import Plan
from moot.protocols import PROTOCOLS

PAIRS = list(product(PROTOCOLS, ARMS))


@pytest.mark.parametrize(("protocol", "arm"), PAIRS, ids=lambda part: part)
def test_every_protocol_runs_under_every_arm_or_is_refused_with_a_reason(
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


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("plant_citation", "13th Cir."),
        ("plant_authority", "leading experts"),
        ("plant_certainty", "beyond any doubt"),
    ],
)
def test_planted_words_occur_once_in_the_first_statement_of_one_debater(
    arm: str, words: str, runs: Runs
) -> None:
    _, planted = full_and(runs, arm)
    for _, mine in planted.groupby("debate_id"):
        utterances = public(mine)
        [position] = utterances.index[utterances["text"].str.contains(words, regex=False)]
        note = json.loads(mine.loc[mine["kind"] == "arm", "parsed"].iloc[0])
        assert (utterances.loc[position, "speaker"], utterances.loc[position, "kind"]) == (
            note["speaker"],
            "opening",
        )
        assert note["side"] == {"prosecutor": "yes", "defense": "no"}[note["speaker"]]
    assert planted.loc[planted["kind"] == "arm", "parsed"].nunique() > 1, "not always the same side"


def test_each_debater_signs_its_first_statement_with_a_random_name(runs: Runs) -> None:
    _, signed = full_and(runs, "plant_names")
    names = []
    for _, mine in signed.groupby("debate_id"):
        utterances = public(mine)
        speakers = []
        for name in ("Emily Walsh", "Lakisha Washington"):
            is_signed = utterances["text"].str.endswith(f"So submits {name}.")
            [[speaker, kind]] = utterances.loc[is_signed, ["speaker", "kind"]].to_numpy().tolist()
            assert kind == "opening"
            speakers.append(speaker)
        assert set(speakers) == {"prosecutor", "defense"}
        first_side = {"prosecutor": "yes", "defense": "no"}[speakers[0]]
        notes = mine.loc[mine["kind"] == "arm", "parsed"]
        sides = {json.loads(note)["side"] for note in notes}
        assert sides == {first_side}, "each note names the side with the first name"
        names.append(speakers[0])
    assert len(set(names)) == 2, "not always the same side"


def test_planted_words_after_a_truncated_statement_start_a_paragraph() -> None:
    separators = {
        "It is so.": " ",
        "It is “so.”": " ",
        "“本案如此。”": " ",
        "It is so because of": "\n\n",
        "cites Doe v. Roe,": "\n\n",
    }
    assert {text: separator(text) for text in separators} == separators


def test_padding_doubles_the_length_of_all_statements_of_one_debater(runs: Runs) -> None:
    baseline, padded = full_and(runs, "plant_padding")
    for debate_id, mine in padded.groupby("debate_id"):
        speaker = json.loads(mine.loc[mine["kind"] == "arm", "parsed"].iloc[0])["speaker"]
        utterances = public(mine)[public(mine)["speaker"] == speaker]
        added = mine.loc[mine["kind"] == "arm", "text"].str.len().to_numpy()
        lengths = utterances["text"].str.len().to_numpy() - added - 1
        assert ((added >= lengths - 1) & (added <= lengths + 80)).all()
        assert len(utterances) == 3
        openings = public(baseline)[
            (public(baseline)["debate_id"] == debate_id) & (public(baseline)["speaker"] == speaker)
        ]
        if speaker == "prosecutor":
            assert utterances["text"].iloc[0].startswith(openings["text"].iloc[0]), (
                "equal prompts have equal replies"
            )


@pytest.mark.parametrize(
    ("arm", "original", "altered"),
    [
        ("plant_misquote", "was seen near the river", "was not seen near the river"),
        ("plant_wrong_figure", "12 May 1998", "12 May 199"),
    ],
)
def test_one_passage_of_the_case_is_altered_in_one_statement(
    arm: str, original: str, altered: str, tmp_path: Path
) -> None:
    statement = "There are 77 doubts. He “was seen near the river” on 12 May 1998, says “a b c d”."
    with FaultServer(speech=statement) as server:
        runs = Runs(tmp_path, server)
        people(tmp_path / "cases" / "people.parquet", 8, "He was seen near the river, 12 May 1998.")
        baseline, planted = full_and(runs, arm)
    assert len(public(baseline)) == len(public(planted))
    for _, mine in planted.groupby("debate_id"):
        [note] = [json.loads(parsed) for parsed in mine.loc[mine["kind"] == "arm", "parsed"]]
        assert note["original"] == original
        texts = public(mine).set_index("turn")["text"]
        texts = texts[~texts.str.startswith("{")]
        [turn] = texts.index[texts.str.contains(altered) & (texts != statement)]
        assert turn == note["turn"]
        assert (texts.drop(turn) == statement).all()
        assert texts[turn].startswith("There are 77 doubts. He ")


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


def test_a_judge_is_challenged_until_it_changes_its_answer(runs: Runs) -> None:
    baseline, rows = full_and(runs, "challenge")
    requests = prompts_of(runs, "courtroom-arm=challenge")
    verdicts = baseline[baseline["kind"] == "verdict"].set_index("debate_id")
    conclusions = rows[rows["kind"] == "conclusion"].set_index("debate_id")
    gave_way = 0
    for name, debate in rows.groupby("debate_id"):
        verdict, steps = verdicts.loc[name], debate[debate["kind"] == "challenge"]
        verdict_messages = messages_of(requests[verdict["call_id"]])
        for number, step in enumerate(steps.to_dict("records"), 1):
            step_messages = messages_of(requests[step["call_id"]])
            assert step_messages[: len(verdict_messages)] == verdict_messages, (
                "the prompt begins with the prompt of the verdict, unchanged"
            )
            assert len(step_messages) == len(verdict_messages) + 2 * number and step_messages[
                len(verdict_messages)
            ] == (
                "assistant",
                verdict["text"],
            )
        is_steadfast = steps["prediction"] == verdict["prediction"]
        assert len(steps) == 6 or not is_steadfast.iloc[-1]
        assert (
            is_steadfast.iloc[:-1].all()
            and conclusions.loc[name, "prediction"] == steps["prediction"].iloc[-1]
        )
        gave_way += not is_steadfast.iloc[-1]
    assert set(rows.loc[rows["kind"] != "challenge", "call_id"]) >= set(baseline["call_id"]), (
        "the arm reuses the calls of the debate"
    )
    assert 0 < len(rows[rows["kind"] == "challenge"]) <= 6 * len(conclusions), gave_way


def test_a_judge_scored_by_words_is_challenged_in_words(runs: Runs) -> None:
    plan = runs.plan(
        scored=entry(
            "courtroom", ("challenge",), params={"answer": "likelihood", "beliefs": "none"}
        )
    )
    rows = runs.hold(plan, "scored-arm=challenge")
    steps = rows[rows["kind"] == "challenge"]
    assert len(steps) and all("logprobs" in json.loads(parsed) for parsed in steps["parsed"])
    request = prompts_of(runs, "scored-arm=challenge")[steps["call_id"].iloc[0]]
    assert messages_of(request)[-2] in (("assistant", "YES"), ("assistant", "NO"))


def test_swapped_labels_are_used_in_prompts_and_translated_back_for_scores(
    runs: Runs,
) -> None:
    baseline, swapped = full_and(runs, "labels_swapped")
    requests = prompts_of(runs, "courtroom-arm=labels_swapped")
    verdict = swapped[swapped["kind"] == "verdict"].iloc[0]
    request = requests[verdict["call_id"]]
    legend = (
        "P means that the person will be arrested again; Q means that the person will not be"
        " arrested again."
    )
    assert {text.count(legend) for text in requests.values()} == {1}
    assert '"YES"' not in request and '"enum":["P","Q"]' in request
    prediction = json.loads(verdict["text"])["prediction"]
    assert verdict["prediction"] == {"P": "yes", "Q": "no"}[prediction]
    assert json.loads(verdict["parsed"])["prediction"] == {"P": "YES", "Q": "NO"}[prediction]
    answers = swapped[swapped["kind"] == "conclusion"]
    assert set(answers["prediction"]) <= {"yes", "no"}
    assert sorted(answers["case_id"]) == sorted(
        baseline[baseline["kind"] == "conclusion"]["case_id"]
    )


@pytest.mark.parametrize(
    "protocol", ["zero_shot", "feedback", "panel", "four_step_cot", "alone", "stance"]
)
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
