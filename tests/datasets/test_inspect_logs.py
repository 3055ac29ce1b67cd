"""Test logs of inspect_ai, made by its own evaluation with a mock model, as recorded debates."""

import sys
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from moot.core.cases import WITHOUT_TEXT
from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.debate_records import RecordedDebate, check_records

PROJECT = Path(__file__).resolve().parents[2]
REPLIES = ["ANSWER: A", "ANSWER: B", "no idea", "ANSWER: A", "ANSWER: A", "ANSWER: B"]
OPTIONS = {"source": "local", "labels": {"A": "no", "B": "yes"}, "positive": "yes"}
MISSING = "inspect_ai is not installed (the extra `inspect`)"


def read_logs(*logs: Path, **options: Any) -> tuple[Loaded, list[RecordedDebate]]:
    entry, context = LOADERS["inspect"], LoadContext("logs", Path(), PROJECT, 1)
    validated = entry.options.model_validate(
        {**OPTIONS, "logs": [str(path) for path in logs], **options}
    )
    loaded = entry.load(validated, context)
    assert entry.records is not None
    debates = list(entry.records(validated, context))
    check_records("logs", debates, loaded.cases, loaded.task)
    return loaded, debates


@pytest.fixture(scope="module", params=["eval", "json"])
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log of three multiple-choice questions with two answers each."""
    inspect_ai = pytest.importorskip("inspect_ai", reason=MISSING)
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import choice
    from inspect_ai.solver import multiple_choice

    outputs = [ModelOutput.from_content("mockllm/model", text) for text in REPLIES]
    for output in outputs:
        output.usage = ModelUsage(input_tokens=5, output_tokens=2, total_tokens=7)
    samples = []
    for i in range(3):
        question, target = f"Invented question {i}?", "AB"[i % 2]
        choices = ["no", "yes"]
        sample = Sample(question, choices, target, id=f"q{i}", metadata={"n": i})
        samples.append(sample)
    task = inspect_ai.Task(
        MemoryDataset(samples), solver=multiple_choice(), scorer=choice(), name="invented"
    )
    model = get_model("mockllm/model", custom_outputs=outputs)
    folder = str(tmp_path_factory.mktemp("logs"))
    eval_logs = inspect_ai.eval(
        task, model=model, epochs=2, log_dir=folder, log_format=request.param, display="none"
    )
    assert eval_logs[0].status == "success"
    return Path(eval_logs[0].location.removeprefix("file://"))


@pytest.fixture
def edited_log(log: Path, tmp_path: Path) -> Callable[[Callable[[Any], object]], Path]:
    """Return a function that edits the log with the types of inspect_ai."""
    from inspect_ai.log import read_eval_log, write_eval_log

    def change(edit: Callable[[Any], object]) -> Path:
        eval_log = read_eval_log(str(log))
        edit(eval_log)
        path = tmp_path / f"changed{log.suffix}"
        write_eval_log(eval_log, str(path))
        return path

    return change


def test_samples_and_scores_are_read(log: Path) -> None:
    loaded, debates = read_logs(log, attributes=["n"])
    assert {case.case_id: case.target for case in loaded.cases} == {
        "q0": "no",
        "q1": "yes",
        "q2": "no",
    }
    assert (
        loaded.cases[1].attributes == {"n": "1"} and "Invented question 1?" in loaded.cases[1].text
    )
    assert loaded.cleaning["samples read"] == 6
    assert {(debate.method, debate.model) for debate in debates} == {("invented", "mockllm/model")}
    keys = {(debate.case_id, debate.repeat) for debate in debates}
    assert len(debates) == 6 and keys == set(product(("q0", "q1", "q2"), (0, 1)))
    predictions = [debate.prediction for debate in debates]
    assert Counter(predictions) == {"no": 3, "yes": 2, None: 1}
    assert debates[predictions.index(None)].problem == "the record says nothing"
    last_utterance = debates[0].utterances[-1]
    assert (last_utterance.speaker, last_utterance.text) == ("assistant", "ANSWER: A")
    loaded_without_text, answers = read_logs(log, with_text=False)
    assert loaded_without_text.cases[0].text == WITHOUT_TEXT and not answers[0].utterances


def test_a_sample_without_an_answer_is_invalid(log: Path, edited_log: Callable[..., Path]) -> None:
    from inspect_ai.log import EvalError

    def spoil(eval_log: Any) -> None:
        eval_log.samples[0].error = EvalError(message="it broke", traceback="", traceback_ansi="")
        eval_log.samples[1].scores = None
        eval_log.samples[3].scores["choice"].metadata = {"confidence": 80}

    _, debates = read_logs(edited_log(spoil), confidence="confidence")
    assert debates[0].problem == "the sample ended with an error"
    assert debates[1].problem == "the sample was not scored"
    assert debates[0].prediction is None and debates[1].prediction is None
    assert [debate.confidence for debate in debates if debate.confidence] == [80.0]


def set_invalid_confidence(eval_log: Any) -> None:
    eval_log.samples[0].scores["choice"].metadata = {"confidence": "very"}


def add_second_score(eval_log: Any) -> None:
    eval_log.samples[0].scores["other"] = eval_log.samples[0].scores["choice"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda log: setattr(log.samples[0], "target", "D"),
            "'q0', epoch 1, field 'target': found 'D'",
        ),
        (lambda log: setattr(log.samples[0], "target", ["A", "B"]), "expected one target"),
        (
            lambda log: setattr(log.samples[3], "target", "B"),
            "field 'target': found 'yes' for case",
        ),
        (
            set_invalid_confidence,
            "field 'confidence of its score's metadata': found 'very'; expected a number from 0"
            " to 100",
        ),
        (
            add_second_score,
            "found scores of choice, other; expected scores of one scorer. Choose it with `scorer`",
        ),
        (lambda log: setattr(log, "samples", []), "the log has no samples"),
    ],
)
def test_a_sample_that_cannot_be_read_is_named(
    log: Path, edited_log: Callable[..., Path], edit: Callable[[Any], object], message: str
) -> None:
    path = edited_log(edit)
    with pytest.raises(UserError) as raised:
        read_logs(path, confidence="confidence")
    assert message in str(raised.value) and str(path) in str(raised.value)


def test_an_option_without_match_in_the_log_is_named(log: Path) -> None:
    with pytest.raises(UserError, match=r"no 'sex'; found 'n'.*Correct `attributes`"):
        read_logs(log, attributes=["sex"])
    with pytest.raises(
        UserError, match=r"no sample has a score of 'match'; found choice. Correct `scorer`"
    ):
        read_logs(log, scorer="match")


def test_a_log_counts_once_however_often_it_is_named(log: Path, tmp_path: Path) -> None:
    assert len(read_logs(log, log, log.parent / f"*{log.suffix}")[1]) == 6
    copy = tmp_path / f"copy{log.suffix}"
    copy.write_bytes(log.read_bytes())
    with pytest.raises(UserError, match=r"the same log as .*expected every log once"):
        read_logs(log, copy)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.eval", b"no zip"), ("a.json", b"{}"), ("a.json", b"{"), ("a.txt", b"x")],
)
def test_a_file_that_is_not_a_log_is_named(name: str, content: bytes, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason=MISSING)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=rf"{name}: inspect_ai cannot read it as a log \("):
        read_logs(tmp_path / name)
    with pytest.raises(UserError, match="there is no such file"):
        read_logs(tmp_path / "none.eval")


def test_the_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with pytest.raises(UserError, match="make env EXTRAS=inspect"):
        read_logs(Path("any.eval"))


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
@pytest.mark.parametrize("sample_count", [1, 2, 5])
def test_a_log_of_a_run_that_did_not_finish_is_read_with_a_note(
    status: str,
    sample_count: int,
    log: Path,
    edited_log: Callable[..., Path],
    caplog: pytest.LogCaptureFixture,
) -> None:
    def interrupt(eval_log: Any) -> None:
        eval_log.status = status
        eval_log.samples = eval_log.samples[:sample_count]

    loaded, debates = read_logs(edited_log(interrupt))
    note = f"the run did not finish (status '{status}'); it has {sample_count} of 6 samples."
    assert len(debates) == sample_count
    assert note in loaded.task.notes[-1] and note in caplog.text
    assert loaded.cleaning["logs of runs that did not finish"] == 1
    complete_log, _ = read_logs(log)
    assert not [text for text in complete_log.task.notes if "did not finish" in text]


@pytest.mark.parametrize("answer", ["C", "I would say that B is right.", "A, B"])
def test_an_answer_that_is_not_a_label_is_invalid_and_counted(
    log: Path, edited_log: Callable[..., Path], answer: str
) -> None:
    path = edited_log(lambda log: setattr(log.samples[0].scores["choice"], "answer", answer))
    loaded, debates = read_logs(path)
    assert loaded.cleaning["answers that are not a label"] == 1
    assert (debates[0].prediction, debates[0].problem) == (None, f"the record says {answer}")
    _, debates = read_logs(path, labels={"A": "no", "B": "yes", "/.*/": "no"})
    assert debates[0].prediction == "no"


def test_a_sample_with_a_fault_is_left_out_within_the_allowed_share(
    log: Path, edited_log: Callable[..., Path]
) -> None:
    path = edited_log(lambda log: setattr(log.samples[0], "target", "D"))
    loaded, debates = read_logs(path, faulty=0.2)
    assert (len(debates), loaded.cleaning["samples left out because of faults"]) == (5, 1)


def test_a_second_run_is_a_repeat_and_other_arguments_are_a_method(
    log: Path, edited_log: Callable[..., Path]
) -> None:
    second_log = edited_log(lambda log: setattr(log.eval, "eval_id", "again"))
    _, debates = read_logs(log, second_log)
    assert {debate.method for debate in debates} == {"invented"}
    assert {debate.repeat for debate in debates} == {0, 1, 2, 3}

    def change(log: Any) -> None:
        log.eval.eval_id, log.eval.task_args = "again", {"rounds": 3}

    _, debates = read_logs(log, edited_log(change))
    assert {debate.method for debate in debates} == {
        "invented, rounds=default",
        "invented, rounds=3",
    }
    assert {debate.repeat for debate in debates} == {0, 1}


def _set_generation(name: str, value: object) -> Callable[[Any], None]:
    return lambda log: setattr(log.plan.config, name, value)


def _set_solver_parameter(log: Any) -> None:
    log.plan.steps[0].params = {**log.plan.steps[0].params, "template": "Think first. " * 30}


def _set_solver(log: Any) -> None:
    log.plan.steps[0].solver = "debate"


@pytest.mark.parametrize(
    ("edit", "methods"),
    [
        (_set_generation("temperature", 0.9), 2),
        (_set_generation("max_tokens", 5), 2),
        (_set_solver_parameter, 2),
        (_set_solver, 2),
        (_set_generation("max_connections", 7), 1),
        (_set_generation("timeout", 9), 1),
        (_set_generation("seed", 3), 1),
    ],
)
def test_runs_with_settings_that_change_answers_are_methods_and_others_are_repeats(
    log: Path, edited_log: Callable[..., Path], edit: Callable[[Any], None], methods: int
) -> None:
    def change(log: Any) -> None:
        log.eval.eval_id = "again"
        edit(log)

    _, debates = read_logs(log, edited_log(change))
    names = {debate.method for debate in debates}
    assert len(names) == methods and max(map(len, names)) < 150
    assert {debate.repeat for debate in debates} == set(range(4 if methods == 1 else 2))


def test_a_folder_and_a_pattern_name_all_logs_below_them(
    log: Path, edited_log: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "runs" / "first"
    folder.mkdir(parents=True)
    edited_log(lambda log: setattr(log.eval, "eval_id", "again")).rename(folder / f"a{log.suffix}")
    (folder / f"b{log.suffix}").write_bytes(log.read_bytes())
    for name in ("logs.json", "eval-set.json", "notes.txt", ".hidden.json"):
        (folder / name).write_text("{}")
    for path in (tmp_path / "runs", folder, folder / f"[ab]{log.suffix}"):
        loaded, debates = read_logs(path)
        assert loaded.cleaning["logs read"] == 2 and len(debates) == 12
        assert [source.stem for source in loaded.sources] == ["a", "b"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=r"empty: a folder without logs; expected files ending in"):
        read_logs(tmp_path / "empty")


def test_several_scorers_need_a_choice_in_one_message(
    log: Path, edited_log: Callable[..., Path]
) -> None:
    def add_scorer(log: Any) -> None:
        for sample in log.samples:
            sample.scores["judge"] = sample.scores["choice"]

    path = edited_log(add_scorer)
    with pytest.raises(UserError, match=r"found scores of choice, judge; .*`scorer`") as error:
        read_logs(path)
    assert "\n" not in str(error.value)
    assert len(read_logs(path, scorer="judge")[1]) == 6


def test_a_log_of_selected_samples_is_a_finished_run(
    log: Path, edited_log: Callable[..., Path]
) -> None:
    def select(log: Any) -> None:
        log.samples = [sample for sample in log.samples if sample.id == "q1"]
        log.eval.dataset.sample_ids = ["q1"]
        log.eval.config.sample_id = ["q1"]

    loaded, debates = read_logs(edited_log(select))
    assert len(debates) == 2 and loaded.cleaning["logs of runs that did not finish"] == 0


@pytest.mark.parametrize("status", ["error", "cancelled"])
@pytest.mark.parametrize("sample_count", [1, 4])
def test_a_run_that_a_later_log_retries_counts_once(
    log: Path, edited_log: Callable[..., Path], status: str, sample_count: int
) -> None:
    def interrupt(log: Any) -> None:
        log.eval.eval_id, log.eval.created = "first", "2020-01-01T00:00:00+00:00"
        log.status, log.samples = status, log.samples[:sample_count]

    loaded, debates = read_logs(edited_log(interrupt), log)
    assert len(debates) == 6 and {debate.repeat for debate in debates} == {0, 1}
    assert loaded.cleaning["logs left out because a later log retries their run"] == 1
    assert loaded.cleaning["logs of runs that did not finish"] == 0


def test_a_log_without_samples_or_with_damage_does_not_stop_the_others(
    log: Path, edited_log: Callable[..., Path], tmp_path: Path
) -> None:
    def abort(log: Any) -> None:
        log.eval.eval_id, log.eval.task_id, log.status, log.samples = "n", "n", "error", []

    empty_log, damaged_log = edited_log(abort), tmp_path / f"damaged{log.suffix}"
    damaged_log.write_bytes(log.read_bytes()[:200])
    loaded, debates = read_logs(log, empty_log)
    assert len(debates) == 6 and loaded.cleaning["logs without samples"] == 1
    assert "(status 'error'); it has 0 of 6 samples" in loaded.task.notes[-1]
    loaded, debates = read_logs(log, damaged_log, faulty=0.2)
    assert len(debates) == 6 and loaded.cleaning["logs that cannot be read"] == 1
    with pytest.raises(UserError, match=r"inspect_ai cannot read it.*\n1 of 7 samples or logs"):
        read_logs(log, damaged_log)
    with pytest.raises(UserError, match="the log has no samples"):
        read_logs(empty_log)
