"""Test the arms that change how the judge decides, and which labels it reads."""

import json
import re

import pytest
from arm_runs import Runs, entry, full_and, messages_of, note_of, prompts_of


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
