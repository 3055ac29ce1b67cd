"""The courtroom: its seven turns, what each seat may read, and what each ablation changes."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from moot.core.cases import Case, Task
from moot.llm.request import Request
from moot.protocols import PROTOCOLS
from moot.protocols.debate import Answer, Debate
from scripted_model import ScriptedModel, hold, request_text

TASK = Task(
    noun="the defendant",
    question="Will the defendant be rearrested within three years?",
    labels=("no", "yes"),
    positive="yes",
    meaning={
        "yes": "the defendant will be rearrested",
        "no": "the defendant will not be rearrested",
    },
    roles={"prosecutor": "the prosecutor", "defense": "the defence counsel", "judge": "the judge"},
)
CASE = Case("c1", "people", "test", "FACTS-OF-THE-CASE: two prior arrests.", "yes", TASK.labels)


def numbered_speech() -> Any:
    """Return a model whose utterances differ, so that a quotation shows its source."""
    count = 0

    def answer(request: Request) -> str | dict[str, float]:
        nonlocal count
        count += 1
        if request.choices:
            return dict(zip(request.choices, (-3.0, -0.1), strict=True))
        if request.schema is None:
            return f"UTTERANCE{count:03d}"
        properties = request.schema["properties"]
        if "statement" in properties:
            return json.dumps(
                {"strategy": f"SECRET{count:03d}", "statement": f"STATEMENT{count:03d}"}
            )
        return json.dumps(
            {"reasoning": f"BELIEF{count:03d}", "prediction": "YES", "confidence": 70}
        )

    return answer


async def trial(**params: Any) -> tuple[Answer | None, Debate, ScriptedModel]:
    return await hold("courtroom", CASE, TASK, numbered_speech(), **params)


async def test_seven_public_turns_in_the_order_of_the_paper_and_a_belief_a_round() -> None:
    answer, debate, _ = await trial()
    public = [
        (utterance.speaker, utterance.kind)
        for utterance in debate.utterances
        if utterance.visibility == "public"
    ]
    assert public == [
        ("prosecutor", "opening"),
        ("defense", "opening"),
        ("prosecutor", "rebuttal"),
        ("defense", "rebuttal"),
        ("prosecutor", "closing"),
        ("defense", "closing"),
        ("judge", "verdict"),
    ]
    assert answer == Answer("yes", 70.0, 0.85, None, 0.85)
    kinds = [said.kind for said in debate.utterances if said.kind != "strategy"]
    assert kinds[2::3] == ["belief"] * 3, "the judge notes a belief after every round"


async def test_after_turn_the_belief_follows_every_advocate() -> None:
    _, debate, _ = await trial(beliefs="after_turn")
    speakers = [
        utterance.speaker for utterance in debate.utterances if utterance.kind != "strategy"
    ]
    assert speakers == ["prosecutor", "judge", "defense", "judge"] * 3 + ["judge"]


@pytest.mark.parametrize("strategy", ["call", "inline"])
@pytest.mark.parametrize("beliefs", ["after_round", "after_turn"])
async def test_private_text_reaches_no_other_seat(strategy: str, beliefs: str) -> None:
    _, debate, chat = await trial(strategy=strategy, beliefs=beliefs)
    private = [utterance for utterance in debate.utterances if utterance.visibility != "public"]
    speakers = [
        utterance.speaker
        for utterance in debate.utterances
        if utterance.source == "model" and utterance.call_id
    ]
    speaker_by_call = dict(
        zip(
            [utterance.call_id for utterance in debate.utterances if utterance.call_id],
            speakers,
            strict=True,
        )
    )
    assert {utterance.speaker for utterance in private} == {"prosecutor", "defense", "judge"}
    for utterance in private:
        secret = (
            utterance.parsed["strategy"]
            if utterance.parsed and "strategy" in utterance.parsed
            else utterance.text
        )
        readers = {
            speaker_by_call[f"call{number}"]
            for number, request in enumerate(chat.requests, start=1)
            if secret in request_text(request) and f"call{number}" in speaker_by_call
        }
        assert readers <= {utterance.speaker}, (
            f"{utterance.kind} of {utterance.speaker} was read by {readers}"
        )


async def test_without_strategy_nothing_private_is_asked_of_the_advocates() -> None:
    _, debate, _ = await trial(strategy="none")
    assert {
        utterance.speaker for utterance in debate.utterances if utterance.visibility != "public"
    } == {"judge"}


async def test_a_failed_turn_is_recorded_and_skipped() -> None:
    speak = numbered_speech()
    calls = 0

    def answer(request: Request) -> Any:
        nonlocal calls
        calls += 1
        return None if calls == 2 else speak(request)

    verdict, debate, chat = await hold("courtroom", CASE, TASK, answer)
    assert [utterance.kind for utterance in debate.utterances if utterance.has_failed] == [
        "opening"
    ]
    assert verdict is not None
    assert "the prosecutor, opening" not in request_text(chat.requests[-1])


async def test_a_failed_verdict_leaves_no_answer() -> None:
    speak = numbered_speech()
    verdict, debate, _ = await hold(
        "courtroom",
        CASE,
        TASK,
        lambda request: None if request.schema else speak(request),  # only the verdict has a form
        beliefs="none",
    )
    assert verdict is None
    assert debate.utterances[-1].has_failed


@pytest.mark.parametrize(
    ("sees", "facts", "record"),
    [("facts", True, False), ("transcript", False, True), ("both", True, True)],
)
async def test_the_setting_limits_the_judge_but_not_the_advocates(
    sees: str, facts: bool, record: bool
) -> None:
    _, debate, chat = await trial(judge_sees=sees)
    by_speaker = zip(
        (utterance.speaker for utterance in debate.utterances), chat.requests, strict=True
    )
    for speaker, request in list(by_speaker)[6:]:
        expected = (facts, record) if speaker == "judge" else (True, True)
        assert (
            "FACTS-OF-THE-CASE" in request_text(request),
            "<record>\n" in request_text(request),
        ) == expected


async def turns_with_prompts(**params: Any) -> list[tuple[str, str]]:
    """Return a pair for each turn of a trial, in order: its speaker and kind, and its prompt."""
    _, debate, chat = await trial(**params)
    return [
        (f"{utterance.speaker} {utterance.kind}", request_text(request))
        for utterance, request in zip(debate.utterances, chat.requests, strict=True)
    ]


async def test_cooperative_roles_change_only_one_paragraph_of_the_advocates_prompts() -> None:
    for (turn, adversarial), (cooperative_turn, cooperative) in zip(
        await turns_with_prompts(), await turns_with_prompts(roles="cooperative"), strict=True
    ):
        assert turn == cooperative_turn
        changed = set(adversarial.splitlines()) ^ set(cooperative.splitlines())
        assert len(changed) == (0 if turn.startswith("judge") else 2), (turn, changed)


async def test_labels_without_a_meaning_are_argued_by_their_names() -> None:
    _, _, chat = await hold("courtroom", CASE, replace(TASK, meaning={}), numbered_speech())
    lines = "\n".join(map(request_text, chat.requests)).splitlines()
    instructions = [line for line in lines if line.startswith("You argue")]
    sentences = {line.partition(". Stress")[0].rstrip(".") for line in instructions}
    assert sentences == {"You argue that the answer is YES", "You argue that the answer is NO"}


async def test_judge_sees_changes_only_the_judges_prompts() -> None:
    for (turn, both), (_, facts) in zip(
        await turns_with_prompts(), await turns_with_prompts(judge_sees="facts"), strict=True
    ):
        assert (both != facts) == turn.startswith("judge"), turn


async def test_by_likelihood_the_verdict_is_scored_and_all_before_it_stays_the_same() -> None:
    generated, scored = await turns_with_prompts(), await turns_with_prompts(answer="likelihood")
    assert scored[:-1] == generated[:-1]
    answer, _, chat = await trial(answer="likelihood")
    assert chat.requests[-1].choices == ("NO", "YES")
    assert answer is not None
    assert answer.prediction == "yes"
    assert answer.score == pytest.approx(0.948, abs=0.001)


async def test_bounded_reasons_leave_room_for_the_answer_and_longer_ones_are_still_read() -> None:
    answer, _, chat = await trial(max_reason_chars=5)
    schemas = [request.schema for request in chat.requests if request.schema]
    assert [schema["properties"]["reasoning"]["maxLength"] for schema in schemas] == [5] * 4
    assert answer is not None and answer.prediction == "yes"
    _, _, unbounded = await trial()
    assert not any("maxLength" in json.dumps(request.schema) for request in unbounded.requests)


# The design of the authors' program

CODE_DESIGN: dict[str, Any] = {
    "strategy": "fixed",
    "beliefs": "after_turn",
    "silent_judge": True,
    "judge_sees": "ranked",
}
RANKED_CASE = replace(
    CASE, text="MOST-IMPORTANT: age is 18.\n\nEVERYTHING: age is 18; sex is male."
)


async def test_the_authors_design_takes_thirteen_calls() -> None:
    _, debate, chat = await trial(**CODE_DESIGN)
    turns = [(utterance.speaker, utterance.kind) for utterance in debate.utterances]
    belief = ("silent_judge", "belief")
    expected = []
    for phase in ("opening", "rebuttal", "closing"):
        expected += [("prosecutor", phase), belief, ("defense", phase), belief]
    assert turns == [*expected, ("judge", "verdict")]
    assert len(chat.requests) == 13


async def test_the_authors_judges_read_only_the_first_paragraph_and_the_statements() -> None:
    _, debate, chat = await hold("courtroom", RANKED_CASE, TASK, numbered_speech(), **CODE_DESIGN)
    for request, utterance in zip(chat.requests, debate.utterances, strict=True):
        text = request_text(request)
        is_of_judge = utterance.speaker in ("judge", "silent_judge")
        assert "MOST-IMPORTANT" in text
        assert ("EVERYTHING" in text) == (not is_of_judge)
        assert "BELIEF" not in text, "no seat reads the silent judge, not even itself"
        statements = [
            earlier.text
            for earlier in debate.utterances
            if earlier.turn < utterance.turn and earlier.visibility == "public"
        ]
        assert all(statement in text for statement in statements)


async def test_each_side_has_its_own_four_fixed_points() -> None:
    _, debate, chat = await trial(**CODE_DESIGN)
    points: dict[str, set[str]] = {}
    for request, utterance in zip(chat.requests, debate.utterances, strict=True):
        lines = re.findall(r"(?m)^[1-4]\. .+$", request_text(request))
        is_advocate = utterance.speaker in ("prosecutor", "defense")
        assert len(lines) == (4 if is_advocate else 0)
        points.setdefault(utterance.speaker, set()).update(lines)
    assert len(points["prosecutor"]) == len(points["defense"]) == 4
    assert not points["prosecutor"] & points["defense"]


async def test_another_model_can_sit_as_silent_judge() -> None:
    seats = PROTOCOLS["courtroom"].seats
    params = PROTOCOLS["courtroom"].params
    assert "silent_judge" in (seats(params.model_validate(CODE_DESIGN)) or ())
    assert "silent_judge" not in (seats(params()) or ())


def test_fixed_points_for_advocates_without_sides_are_refused() -> None:
    with pytest.raises(ValidationError, match="points for opposite sides; use roles adversarial"):
        PROTOCOLS["courtroom"].params.model_validate({"strategy": "fixed", "roles": "cooperative"})


RISK, PROTECTION = "Stress the risk factors", "Stress the protective factors"


@pytest.mark.parametrize("strategy", ["call", "inline"])
@pytest.mark.parametrize(
    ("params", "is_stressed"),
    [({}, True), ({"stresses_factors": False}, False), ({"roles": "cooperative"}, False)],
)
async def test_strategies_stress_the_factors_of_their_side(
    strategy: str, params: dict[str, Any], is_stressed: bool
) -> None:
    _, debate, chat = await trial(strategy=strategy, **params)
    calls = [utterance for utterance in debate.utterances if utterance.call_id]
    stressed = []
    for request in chat.requests:
        text = request_text(request)
        speaker = "prosecutor" if "You are the prosecutor" in text else "defense"
        for words, side in ((RISK, "prosecutor"), (PROTECTION, "defense")):
            if words in text:
                assert speaker == side
                stressed.append(side)
    assert len(calls) >= len(stressed)
    assert sorted(stressed) == (["defense"] * 3 + ["prosecutor"] * 3 if is_stressed else [])


@pytest.mark.parametrize("strategy", ["call", "inline", "fixed", "none"])
@pytest.mark.parametrize("case_facts_only", [True, False])
async def test_statistics_are_excluded_only_with_the_facts_only_setting(
    strategy: str, case_facts_only: bool
) -> None:
    _, _, chat = await trial(strategy=strategy, case_facts_only=case_facts_only)
    barring = [
        request
        for request in chat.requests
        if "only facts of this case" in request_text(request).lower()
    ]
    assert len(barring) == (6 if case_facts_only else 0)


def test_the_prosecution_argues_for_the_positive_label() -> None:
    debaters = PROTOCOLS["courtroom"].debaters
    assert debaters is not None
    sides = debaters.sides(PROTOCOLS["courtroom"].params(), TASK)
    assert sides == {"prosecutor": "yes", "defense": "no"}
