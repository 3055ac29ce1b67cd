"""Logs of inspect_ai, written by its own evaluation with a mock model, read as recorded debates."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.records import WITHOUT_TEXT, RecordedDebate, check_records

PROJECT = Path(__file__).resolve().parents[2]
REPLIES = ["ANSWER: A", "ANSWER: B", "no idea", "ANSWER: A", "ANSWER: A", "ANSWER: B"]
OPTIONS = {"source": "local", "labels": {"A": "no", "B": "yes"}, "positive": "yes"}
MISSING = "inspect_ai is not installed (the extra `inspect`)"


def read(*logs: Path, **options: Any) -> tuple[Loaded, list[RecordedDebate]]:
    entry, context = LOADERS["inspect"], LoadContext("logs", Path(), PROJECT, 1)
    checked = entry.options.model_validate(
        {**OPTIONS, "logs": [str(path) for path in logs], **options}
    )
    loaded = entry.load(checked, context)
    assert entry.records is not None
    debates = list(entry.records(checked, context))
    check_records("logs", debates, loaded.cases, loaded.task)
    return loaded, debates


@pytest.fixture(scope="module", params=["eval", "json"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of three multiple-choice questions, asked twice each."""
    inspect_ai = pytest.importorskip("inspect_ai", reason=MISSING)
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in REPLIES]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    samples = [
        Sample(
            id=f"q{i}",
            input=f"Invented question {i}?",
            choices=["no", "yes"],
            target="AB"[i % 2],
            metadata={"n": i},
        )
        for i in range(3)
    ]
    task = inspect_ai.Task(
        MemoryDataset(samples), solver=multiple_choice(), scorer=choice(), name="invented"
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    folder = str(tmp_path_factory.mktemp("logs"))
    done = inspect_ai.eval(
        task, model=model, epochs=2, log_dir=folder, log_format=request.param, display="none"
    )
    assert done[0].status == "success"
    return Path(done[0].location.removeprefix("file://"))


@pytest.fixture
def changed(log: Path, tmp_path: Path) -> Callable[[Callable[[Any], object]], Path]:
    """The same log with a change to it, made with the library's own types."""
    from inspect_ai.log import read_eval_log, write_eval_log

    def change(edit: Callable[[Any], object]) -> Path:
        found = read_eval_log(str(log))
        edit(found)
        path = tmp_path / f"changed{log.suffix}"
        write_eval_log(found, str(path))
        return path

    return change


def test_samples_and_scores_are_read(log: Path) -> None:
    loaded, debates = read(log, attributes=["n"])
    assert {case.case_id: case.target for case in loaded.cases} == {
        "q0": "no",
        "q1": "yes",
        "q2": "no",
    }
    assert (
        loaded.cases[1].attributes == {"n": "1"} and "Invented question 1?" in loaded.cases[1].text
    )
    assert loaded.cleaning["samples read"] == 6
    assert {(one.method, one.model) for one in debates} == {("invented", "mockllm/model")}
    given = {(one.case_id, one.repeat): one for one in debates}
    assert len(given) == 6 and {repeat for _, repeat in given} == {0, 1}
    [wordless] = [one for one in debates if one.prediction is None]
    assert wordless.problem == "the record says nothing"
    assert sorted(one.prediction for one in debates if one.prediction) == [
        "no",
        "no",
        "no",
        "yes",
        "yes",
    ]
    assert [(said.speaker, said.text) for said in debates[0].utterances][-1] == (
        "assistant",
        "ANSWER: A",
    )
    without, answers = read(log, with_text=False)
    assert without.cases[0].text == WITHOUT_TEXT and not answers[0].utterances


def test_a_sample_without_an_answer_is_invalid(log: Path, changed: Callable[..., Path]) -> None:
    from inspect_ai.log import EvalError

    def spoil(found: Any) -> None:
        found.samples[0].error = EvalError(message="it broke", traceback="", traceback_ansi="")
        found.samples[1].scores = None
        found.samples[3].scores["choice"].metadata = {"confidence": 80}

    _, debates = read(changed(spoil), confidence="confidence")
    assert debates[0].problem == "the sample ended with an error"
    assert debates[1].problem == "the sample was not scored"
    assert [one.prediction for one in debates[:2]] == [None, None]
    assert [one.confidence for one in debates if one.confidence] == [80.0]


def _confident(found: Any) -> None:
    found.samples[0].scores["choice"].metadata = {"confidence": "very"}


def _twice(found: Any) -> None:
    found.samples[0].scores["other"] = found.samples[0].scores["choice"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda found: setattr(found.samples[0].scores["choice"], "answer", "C"), "'q0', epoch 1, field 'answer of its score': found 'C'; expected one of A, B, blank"),
        (lambda found: setattr(found.samples[0], "target", "D"), "'q0', epoch 1, field 'target':"
            " found 'D'"),
        (lambda found: setattr(found.samples[0], "target", ["A", "B"]), "expected one target"),
        (lambda found: setattr(found.samples[3], "target", "B"), "field 'target': found 'yes' for"
            " case"),
        (_confident, "field 'confidence of its score's metadata': found 'very'; expected a number"
            " from 0 to 100"),
        (_twice, "field 'scores': found choice, other; expected a single score. Choose one with"
            " `scorer`"),
        (lambda found: setattr(found, "samples", []), "the log has no samples"),
    ],
)  # fmt: skip
def test_a_sample_that_cannot_be_read_is_named(
    log: Path, changed: Callable[..., Path], edit: Callable[[Any], object], message: str
) -> None:
    path = changed(edit)
    with pytest.raises(UserError) as raised:
        read(path, confidence="confidence")
    assert message in str(raised.value) and str(path) in str(raised.value)


def test_an_option_that_the_log_does_not_know_is_named(log: Path) -> None:
    with pytest.raises(UserError, match=r"no 'sex'; found 'n'.*Correct `attributes`"):
        read(log, attributes=["sex"])
    with pytest.raises(UserError, match="found choice; expected a score of 'match'"):
        read(log, scorer="match")
    with pytest.raises(UserError, match="repeat 0 occurs twice"):
        read(log, log)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.eval", b"no zip"), ("a.json", b"{}"), ("a.json", b"{"), ("a.txt", b"x")],
)
def test_a_file_that_is_no_log_is_named(name: str, content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason=MISSING)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=rf"{name}: inspect_ai cannot read it as a log \("):
        read(tmp_path / name)
    with pytest.raises(UserError, match="there is no such file"):
        read(tmp_path / "none.eval")


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UserError, match="make env EXTRAS=inspect"):
        read(Path("any.eval"))
