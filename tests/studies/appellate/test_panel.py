"""The three kinds of panel, with a model of fixed answers in every seat."""

import json
import math
import re
from itertools import product
from pathlib import Path

import pytest

from messages import refusal
from moot.core.cases import Case
from moot.core.errors import DebatePausedError
from moot.llm.request import Request
from moot.protocols.inbox import read_answer_file
from moot.protocols.people import person_form
from moot.studies.appellate.data_opinions import TASK, load_human_statements
from moot.studies.appellate.panel_statements import read_confidence, split_round
from moot.studies.appellate.protocol_panel import OpinionOnAppeal
from moot.studies.appellate.protocol_panel_params import (
    HumanPanelParams,
    PanelParams,
    find_human_misfit,
    find_misfit,
)
from results_on_disk import REARREST
from scripted_model import hold, request_text

CASE = Case(
    "seized-charts",
    "opinions",
    "test",
    "Charts were taken.",
    "affirm",
    TASK.labels,
    {"outcome": "SECRETOUTCOME"},
    5,
)


def judge_in(request: Request) -> str:
    match = re.search(r"You are ((?:AI )?Judge \d)", request_text(request))
    return match[1] if match else ""


def by_judge(request: Request) -> str:
    vote = "affirm" if judge_in(request).endswith(("1", "2")) else "reverse"
    return f"{judge_in(request)} speaks. I vote to {vote}. Confidence: 70"


async def test_judges_hear_only_earlier_rounds() -> None:
    answer, debate, chat = await hold("panel", CASE, TASK, by_judge)
    assert [utterance.round for utterance in debate.utterances] == [1] * 3 + [2] * 3 + [3] * 3
    speakers = [utterance.speaker for utterance in debate.utterances]
    assert speakers == ["judge_1", "judge_2", "judge_3"] * 3
    for position, request in enumerate(chat.requests):
        number = position // 3
        assert request_text(request).count("speaks.") == 3 * number
        assert "SECRETOUTCOME" not in request_text(request)
    assert answer is not None
    assert (answer.prediction, answer.score) == ("affirm", pytest.approx(2 / 3))
    assert {utterance.confidence for utterance in debate.utterances} == {70.0}


async def test_a_panel_without_positions_and_a_tied_one_come_to_nothing() -> None:
    assert (await hold("panel", CASE, TASK, lambda _: "It is a hard question."))[0] is None
    assert (await hold("panel", CASE, TASK, by_judge, judges=2))[0] is not None
    tied = await hold(
        "panel",
        CASE,
        TASK,
        lambda r: f"I vote to {'affirm' if '1' in judge_in(r) else 'reverse'}.",
        judges=2,
    )
    assert tied[0] is None


async def test_votes_by_likelihood_are_private_and_free_of_the_content_free_prior() -> None:
    def script(request: Request) -> str | dict[str, float]:
        if not request.choices:
            return "It is a hard question."
        return (
            {"Yes": -0.1, "No": -3.0}
            if "Not given." in request_text(request)
            else {"Yes": -0.5, "No": -1.0}
        )

    answer, debate, _ = await hold("panel", CASE, TASK, script, votes="likelihood")
    assert (
        answer is not None and answer.prediction == "not affirm"
    )  # "No" gained, though "Yes" is still ahead
    votes = [utterance for utterance in debate.utterances if utterance.kind == "vote"]
    assert len(votes) == 9
    assert all(vote.visibility == vote.speaker for vote in votes)
    assert votes[0].confidence == pytest.approx(100 / (1 + math.exp(-2.4)))


async def test_seats_may_be_other_models_and_a_failed_call_says_nothing() -> None:
    answer, debate, _ = await hold(
        "panel", CASE, TASK, lambda r: None if judge_in(r) == "Judge 1" else by_judge(r), rounds=2
    )
    failed = [utterance for utterance in debate.utterances if utterance.has_failed]
    assert {utterance.speaker for utterance in failed} == {"judge_1"}
    assert answer is None  # one affirms, one does not


# The synthetic panel


def round_of(*statements: str) -> str:
    return "\n\n".join(
        f"**Judge {number}:** {text}" for number, text in enumerate(statements, start=1)
    )


async def test_a_synthetic_round_is_split_into_its_judges() -> None:
    text = round_of("I vote to affirm. Confidence: 80", "I would reverse.", "I vote to affirm.")
    answer, debate, chat = await hold("synthetic_panel", CASE, TASK, lambda _: text)
    assert len(chat.requests) == 3
    statements = [utterance for utterance in debate.utterances if utterance.kind == "statement"]
    assert [utterance.speaker for utterance in statements[:3]] == ["judge_1", "judge_2", "judge_3"]
    assert statements[0].confidence == 80
    assert request_text(chat.requests[2]).count("I would reverse.") == 2
    assert answer is not None and answer.prediction == "affirm"


async def test_overruns_extra_and_missing_judges_are_kept_and_flagged() -> None:
    def script(request: Request) -> str:
        if "round 3" in request_text(request):
            return (
                round_of("I affirm.", "No.", "Yes.", "I sit here too.")
                + "\n\nRound 4\n\nJudge 1: I still vote to affirm."
            )
        return "Judge 1: I vote to affirm.\nJudge 3: I would reverse."

    _, debate, _ = await hold("synthetic_panel", CASE, TASK, script)
    kinds = [
        (utterance.kind, utterance.round, utterance.speaker)
        for utterance in debate.utterances
        if utterance.kind in ("overrun", "extra")
    ]
    assert kinds == [("extra", 3, "judge_4"), ("overrun", 4, "judge_1")]
    missing = [
        utterance
        for utterance in debate.utterances
        if utterance.kind == "statement" and utterance.parse_status == "invalid"
    ]
    assert [(utterance.round, utterance.speaker, utterance.text) for utterance in missing] == [
        (1, "judge_2", ""),
        (2, "judge_2", ""),
    ]


async def test_a_reply_without_judges_is_kept_unchanged() -> None:
    _, debate, _ = await hold(
        "synthetic_panel", CASE, TASK, lambda _: "The panel talks on and on.", rounds=1
    )
    assert debate.utterances[0].text == "The panel talks on and on."
    assert [utterance.parse_status for utterance in debate.utterances[1:]] == ["invalid"] * 3


async def test_a_synthetic_round_may_come_as_json() -> None:
    text = '{"judge_1": "I vote to affirm.", "judge_2": "I vote to affirm.", "judge_3": "No view."}'
    answer, debate, chat = await hold(
        "synthetic_panel", CASE, TASK, lambda _: text, reply="json", rounds=1, chars_per_judge=20
    )
    assert answer is not None and answer.prediction == "affirm"
    schema = chat.requests[0].schema
    assert schema is not None
    assert {schema["properties"][f"judge_{number}"]["maxLength"] for number in (1, 2, 3)} == {20}
    assert [utterance.text for utterance in debate.utterances[1:]] == [
        "I vote to affirm.",
        "I vote to affirm.",
        "No view.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Judge One: A.\nJudge Two: B.", [(1, 1), (2, 1)]),
        ("### Round 2\n**Judge A** – A.\n\n**Judge B** – B.", [(1, 2), (2, 2)]),
        ("Judge 1 (writing first):\nA.\n", [(1, 1)]),
        ("Judge Smith: A.", [(1, 1)]),
        ("**Judge Smith**: A.\n\n**Judge Anne O'Hara (dissenting):** B.", [(1, 1), (2, 1)]),
        (
            "Chief Judge Roberts – A.\nCircuit Judge Lee\nB.\nJustice Kim: C.",
            [(1, 1), (2, 1), (3, 1)],
        ),
        ("Round 2\nJudge Smith: A.\nJudge J. Smith: B.", [(1, 2), (1, 2)]),
        ("Judge 1: A, as Judge 2 says.\nJudge Smith: B.", [(1, 1)]),
        ("Judge Smith thinks that we should affirm: he is right.", []),
        ("As I see it,\nJudge and jury: both erred.", []),
        ("I think Judge 2: is wrong", []),
    ],
)
def test_headings_of_judges(text: str, expected: list[tuple[int, int]]) -> None:
    assert [(part.judge, part.round) for part in split_round(text, 1)] == expected


async def test_named_judges_keep_their_seats_from_round_to_round() -> None:
    replies = iter(
        [
            "Judge Smith: I affirm.\nJudge Jones: I reverse.\nJudge Brown: I affirm.",
            "Judge Jones: I reverse.\nJudge Brown: I affirm.\nJudge Smith: I affirm.",
            "Judge Brown: I affirm.\nJudge Smith: I affirm.\nJudge Green: I reverse.",
        ]
    )
    _, debate, _ = await hold("synthetic_panel", CASE, TASK, lambda _: next(replies))
    said = [
        (utterance.round, utterance.speaker, utterance.text)
        for utterance in debate.utterances
        if utterance.kind == "statement"
    ]
    for number in (1, 2):
        by_judge = {speaker: text for round_, speaker, text in said if round_ == number}
        assert by_judge == {
            "judge_1": "I affirm.",
            "judge_2": "I reverse.",
            "judge_3": "I affirm.",
        }
    extra = [utterance.speaker for utterance in debate.utterances if utterance.kind == "extra"]
    assert extra == ["judge_4"], "a fourth name is no judge of the panel"
    assert (3, "judge_2", "") in said


@pytest.mark.parametrize("protocol", ["panel", "synthetic_panel"])
async def test_judges_vote_for_labels_that_no_statement_names(protocol: str) -> None:
    votes = {"judge_1": "yes", "judge_2": "no", "judge_3": "yes"}

    def script(request: Request) -> str:
        fields = request.schema["properties"] if request.schema else {}
        if "prediction" in fields:
            (number,) = re.findall(r"what was said, Judge (\d) votes", request_text(request))
            return json.dumps({"prediction": votes[f"judge_{number}"], "confidence": 80})
        return json.dumps(votes) if fields else round_of("Hm.", "Hm.", "Hm.")

    case = Case("c", "toy", "test", "Facts.", "yes", REARREST.labels)
    answer, debate, _ = await hold(protocol, case, REARREST, script, rounds=2)
    assert answer is not None
    assert (answer.prediction, answer.score) == ("yes", pytest.approx(2 / 3))
    cast = [
        (utterance.round, utterance.speaker, utterance.prediction, utterance.visibility)
        for utterance in debate.utterances
        if utterance.kind == "vote"
    ]
    assert cast == [(number, seat, votes[seat], seat) for number, seat in product((1, 2), votes)]


VOTES_NEEDED, PERSON_NEEDED = "Leave `votes` out", "Set `seats: {human: person}`"


@pytest.mark.parametrize(
    ("params", "labels", "remedy"),
    [
        (PanelParams(votes="none"), REARREST.labels, VOTES_NEEDED),
        (PanelParams(), REARREST.labels, ""),
        (PanelParams(votes="none"), TASK.labels, ""),
        (HumanPanelParams(), REARREST.labels, PERSON_NEEDED),
        (HumanPanelParams(seats={"human": "person"}), REARREST.labels, ""),
        (HumanPanelParams(seats={"human": "person"}, votes="none"), REARREST.labels, VOTES_NEEDED),
        (HumanPanelParams(votes="none"), TASK.labels, ""),
    ],
)
def test_a_panel_that_cannot_decide_on_the_labels_says_why(
    params: PanelParams, labels: tuple[str, ...], remedy: str
) -> None:
    is_human = isinstance(params, HumanPanelParams)
    reason = (find_human_misfit if is_human else find_misfit)(params, labels, False)
    assert remedy in reason and bool(reason) == bool(remedy)


# The human's seat


async def test_the_scripted_human_is_balanced_and_labelled_in_memory() -> None:
    stances = []
    for repeat in range(4):
        _, debate, chat = await hold("human_panel", CASE, TASK, by_judge, repeat=repeat)
        human = [utterance for utterance in debate.utterances if utterance.speaker == "human"]
        assert [utterance.source for utterance in human] == ["human"] * 3
        stance = human[0].parsed["condition"]
        assert [utterance.text for utterance in human] == load_human_statements(CASE.case_id)[
            stance
        ][:3]
        stances.append(stance)
        assert "Human Judge" not in request_text(chat.requests[0])
        assert f"Human Judge, round 1: {human[0].text}" in request_text(chat.requests[2])
        assert "AI Judge 1, round 1:" in request_text(chat.requests[2])
    assert sorted(stances) == ["affirm", "affirm", "not affirm", "not affirm"]


async def test_a_person_is_asked_and_the_debate_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = Case("../../etc/passwd", "o", "test", "Facts.", "affirm", TASK.labels)
    for number in (1, 2, 3):
        with pytest.raises(DebatePausedError):
            await hold("human_panel", hostile, TASK, by_judge, seats={"human": "person"})
        questions = sorted(tmp_path.rglob("*.question.md"))
        assert len(questions) == number
        assert all(
            question.is_relative_to(tmp_path / "data" / "inbox" / "test" / "scripted")
            for question in questions
        )
        content = questions[-1].read_text()
        assert "Facts." in content and content.count("speaks.") == 2 * (number - 1)
        answer = questions[-1].with_name(f"repeat-0-round-{number}.answer.txt")
        answer.write_text(f"I vote to reverse, number {number}.\n\nConfidence: {10 * number}\n")
    _, debate, _ = await hold("human_panel", hostile, TASK, by_judge, seats={"human": "person"})
    human = [utterance for utterance in debate.utterances if utterance.speaker == "human"]
    assert [(utterance.text, utterance.confidence) for utterance in human] == [
        (f"I vote to reverse, number {number}.", 10.0 * number) for number in (1, 2, 3)
    ]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"I vote to affirm.",
        b"I affirm.\nConfidence: 50\nConfidence: 60",
        b"I affirm.\nConfidence: high",
        b"I affirm.\nConfidence: 120",
        b"Confidence: 50",
        b"x" * 30_000 + b"\nConfidence: 50",
    ],
)
def test_a_malformed_answer_gets_a_clear_message(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "repeat-0-round-1.answer.txt"
    path.write_bytes(content)
    with refusal():
        read_answer_file(path, person_form(OpinionOnAppeal))


@pytest.mark.parametrize(
    ("text", "scale", "confidence"),
    [
        ("I affirm. Confidence: 0.8", 1, 80.0),
        ("I affirm. Confidence: 0.8", 100, None),
        ("I affirm. Confidence: 1", 1, 100.0),
        ("I affirm. Confidence: 1", 100, 1.0),
        ("Confidence: 85", 1, None),
        ("Confidence: 1/100", 1, 1.0),
        ("I affirm.", 1, None),
        ("**Confidence:** 70%", 100, 70.0),
        ("I am 90% confident.", 100, 90.0),
        ("My confidence is 70 out of 100.", 100, 70.0),
        ("Confidence: 40. Later: confidence 60%", 100, 60.0),
        ("Confidence: 70-80", 100, None),
        ("My confidence in the reasoning of Judge 2 fell. Confidence: 60", 100, 60.0),
    ],
)
def test_confidences_in_a_judges_statement(text: str, scale: int, confidence: float | None) -> None:
    assert read_confidence(text, scale) == confidence
