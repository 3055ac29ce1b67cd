"""Debates in records with lists of turns."""

import json
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from debate_tables import read_transcripts
from messages import refusal
from moot.core.errors import UserError
from moot.datasets.debate_records import RecordedDebate
from saved_tables import save_table

PROJECT = Path(__file__).resolve().parents[2]
RECIPES = PROJECT / "scripts/moot/studies/recorded/README.md"
YES_NO = {"labels": {"no": "no", "yes": "yes"}}


def utterances_of(debate: RecordedDebate) -> list[tuple[str, int, str, str | None]]:
    return [
        (utterance.speaker, utterance.round, utterance.text, utterance.prediction)
        for utterance in debate.utterances
    ]


RELAY = [
    {"name": "Lawyer", "says": "The rent was paid.", "nr": 1},
    {"name": "Neighbour", "says": "I agree.", "nr": 2},
]
RELAY_COLUMNS = {
    "debate": "id", "speaker": "log.name", "text": "log.says", "turn": "log.nr", "truth": "gold",
}  # fmt: skip


@pytest.mark.parametrize("ending", [".json", ".jsonl", ".parquet"])
def test_a_verdict_of_a_record_follows_its_turns(tmp_path: Path, ending: str) -> None:
    rows = [
        {"id": f"e{number}", "log": RELAY, "final": word, "arbiter": "gpt", "gold": "yes"}
        for number, word in enumerate(["yes", "no"])
    ]
    save_table(tmp_path / f"a{ending}", rows)
    columns = {**RELAY_COLUMNS, "answer": "final", "judge": "arbiter"}
    loaded, debates = read_transcripts(
        tmp_path / f"a{ending}", turns="log", columns=columns, **YES_NO
    )
    assert [(case.case_id, case.target) for case in loaded.cases] == [("e0", "yes"), ("e1", "yes")]
    assert [(debate.prediction, debate.judge) for debate in debates] == [
        ("yes", "gpt"), ("no", "gpt"),
    ]  # fmt: skip
    assert utterances_of(debates[0]) == [
        ("Lawyer", 0, "The rent was paid.", None),
        ("Neighbour", 0, "I agree.", None),
        ("gpt", 0, "", "yes"),
    ]


def test_one_wrong_turn_of_a_record_is_named_alone(tmp_path: Path) -> None:
    turns = [{"name": "Ann", "vote": word} for word in ("yes", "maybe", "no")]
    save_table(tmp_path / "a.jsonl", [{"id": "e1", "log": turns}])
    columns = {"debate": "id", "speaker": "log.name", "text": "", "answer": "log.vote"}
    with pytest.raises(UserError, match=r"'log.vote': found 'maybe'.*\(1 of 3 rows") as error:
        read_transcripts(tmp_path / "a.jsonl", turns="log", columns=columns, **YES_NO)
    assert str(error.value).count("found") == 1


@pytest.mark.parametrize("meaning", ["answer", "belief", "confidence"])
def test_a_statement_of_a_record_needs_its_author(tmp_path: Path, meaning: str) -> None:
    """The belief of one person was shown as the belief of whoever spoke last."""
    columns = {**RELAY_COLUMNS, meaning: "person_final_belief"}
    with pytest.raises(ValidationError, match=r"its\s+author is unknown; name the column"):
        read_transcripts(tmp_path / "a.jsonl", turns="log", columns=columns, **YES_NO)


def test_a_debate_that_agreed_at_once_has_a_verdict_without_turns(tmp_path: Path) -> None:
    rows = [
        {"id": "e1", "log": RELAY, "final": "yes", "arbiter": "gpt", "gold": "yes"},
        {"id": "e2", "log": [], "final": "no", "arbiter": "gpt", "gold": "yes"},
    ]
    save_table(tmp_path / "a.json", rows)
    columns = {**RELAY_COLUMNS, "turn": "", "answer": "final", "judge": "arbiter"}
    _, debates = read_transcripts(tmp_path / "a.json", turns="log", columns=columns, **YES_NO)
    assert [(debate.prediction, len(debate.utterances)) for debate in debates] == [
        ("yes", 3), ("no", 1),
    ]  # fmt: skip


def test_a_list_of_samples_is_as_many_answers(tmp_path: Path) -> None:
    """Only the last one was read."""
    rows = [
        {"id": "q1", "gold": "yes", "samples": [{"answer": word} for word in ("yes", "yes", "no")]},
        {"id": "q2", "gold": "no", "samples": [{"answer": word} for word in ("no", "no", "yes")]},
    ]
    save_table(tmp_path / "a.jsonl", rows)
    columns = {"debate": "", "case": "id", "answer": "samples.answer", "truth": "gold"}
    with refusal():
        read_transcripts(tmp_path / "a.jsonl", columns=columns, **YES_NO)
    _, debates = read_transcripts(tmp_path / "a.jsonl", turns="samples", columns=columns, **YES_NO)
    assert [(debate.case_id, debate.repeat, debate.prediction) for debate in debates] == [
        ("q1", 0, "yes"), ("q1", 1, "yes"), ("q1", 2, "no"),
        ("q2", 0, "no"), ("q2", 1, "no"), ("q2", 2, "yes"),
    ]  # fmt: skip


def test_one_file_a_debate_has_its_name_as_a_column(tmp_path: Path) -> None:
    for number in range(2):
        record = {"messages": [{"source": "a", "content": "One."}], "won": "yes"}
        (tmp_path / f"case_{number}_run_1.json").write_text(json.dumps(record))
    columns = {"debate": "(file)", "speaker": "messages.source", "truth": "won"}
    loaded, _ = read_transcripts(
        tmp_path,
        turns="messages",
        columns={**columns, "text": "messages.content"},
        **YES_NO,
    )
    assert [case.case_id for case in loaded.cases] == ["case_0_run_1", "case_1_run_1"]


def test_beliefs_of_a_judge_after_each_turn_have_no_text(tmp_path: Path) -> None:
    rows = [
        {"debate": "d", "speaker": speaker, "text": f"{speaker} speaks.", "judge": "J", "p": belief}
        for speaker, belief in (("Ann", 0.5), ("Bob", 0.7), ("J", 0.9))
    ]
    save_table(tmp_path / "a.csv", rows)
    columns = {"judge": "judge", "belief": "p", "round": ""}
    _, debates = read_transcripts(
        tmp_path / "a.csv", columns=columns | {"turn": ""}, positive="yes", **YES_NO
    )
    utterances = [
        (utterance.speaker.partition(" · ")[0], utterance.text, utterance.private)
        for utterance in debates[0].utterances
    ]
    assert utterances == [
        ("Ann", "Ann speaks.", False),
        ("J", "", True),
        ("Bob", "Bob speaks.", False),
        ("J", "", True),
        ("J", "J speaks.", True),
    ]


def run_recipe(word: str, **names: object) -> None:
    """Run the Python block of the page that contains a word, as a reader would."""
    blocks = re.findall(r"```python\n(.*?)```", RECIPES.read_text(encoding="utf-8"), re.DOTALL)
    [recipe] = [block for block in blocks if word in block]
    exec(recipe, dict(names))


def test_logs_of_inspect_become_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inspect_ai = pytest.importorskip(
        "inspect_ai", reason="inspect_ai is not installed (the extra `inspect`)"
    )
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    monkeypatch.chdir(tmp_path)
    replies = ["ANSWER: A", "ANSWER: B", "no idea", "ANSWER: A"]
    outputs = [ModelOutput.from_content("mockllm/model", text) for text in replies]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    samples = [Sample(f"Is it {word}?", ["no", "yes"], word, id=word) for word in "AB"]
    task = inspect_ai.Task(
        MemoryDataset(samples), solver=multiple_choice(), scorer=choice(), name="invented"
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    inspect_ai.eval(task, model=model, epochs=2, log_dir="logs", display="none")
    run_recipe("samples_df")
    labels = {"A": "no", "B": "yes"}
    columns = {"debate": "", "case": "id", "repeat": "epoch", "model": "model"}
    loaded, answers = read_transcripts(
        Path("samples.parquet"),
        columns={**columns, "answer": "answer", "truth": "target"},
        labels=labels,
    )
    assert {case.case_id: case.target for case in loaded.cases} == {"A": "no", "B": "yes"}
    assert sorted((answer.case_id, answer.repeat, answer.prediction) for answer in answers[:2]) == [
        ("A", 1, "no"), ("B", 1, "yes"),
    ]  # fmt: skip
    assert [answer.prediction for answer in answers[2:]] == [None, "no"]
    columns = {"debate": "sample_id", "case": "id", "turn": "order", "speaker": "role"}
    _, debates = read_transcripts(
        Path("turns.parquet"),
        columns={**columns, "text": "content", "truth": "target"},
        labels=labels,
    )
    assert len(debates) == 4 and [turn[0] for turn in utterances_of(debates[0])] == [
        "user", "assistant",
    ]  # fmt: skip


def test_samples_of_lm_evaluation_harness_become_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    samples = [
        {"doc_id": 0, "doc": {"q": "Is it so?"}, "target": "1", "filter": "none",
         "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]]},
        {"doc_id": 1, "doc": {"q": "And this?"}, "target": "no", "filter": "none",
         "filtered_resps": ["yes"]},
        {"doc_id": 2, "doc": {"q": "And that?"}, "target": "no", "filter": "none",
         "filtered_resps": "no"},
        {"doc_id": 2, "doc": {"q": "And that?"}, "target": "no", "filter": "strict",
         "filtered_resps": ["[invalid]"]},
    ]  # fmt: skip
    save_table(Path("samples_task.jsonl"), samples)
    run_recipe("filtered_resps")
    columns = {"debate": "", "case": "doc_id", "model": "model", "answer": "answer"}
    _, answers = read_transcripts(
        Path("answers.csv"),
        columns={**columns, "truth": "target", "facts": "doc.q"},
        labels={"0": "no", "1": "yes", "no": "no", "yes": "yes"},
    )
    assert [answer.prediction for answer in answers] == ["yes", "yes", "no"]

    for sample in samples:
        del sample["filter"]
    save_table(Path("samples_task.jsonl"), samples)
    with pytest.raises(AssertionError, match="lines of several filters"):
        run_recipe("filtered_resps")
