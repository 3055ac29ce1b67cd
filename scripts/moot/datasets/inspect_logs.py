"""Answers in logs of inspect_ai (`.eval`, `.json`), read with its own library (the extra
`inspect`).

A sample is a case, an epoch a repeat, the task's name the method, and the answer that a scorer
extracted a prediction.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from moot.core.cases import Case
from moot.core.errors import UserError
from moot.core.input_files import quoted
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.records import WITHOUT_TEXT, RecordedDebate, RecordedUtterance, read_confidence
from moot.datasets.turn_columns import AnswersOptions

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

MESSAGE = "message"
_NOT_READ = {"events", "store", "timelines", "events_data"}


class InspectOptions(AnswersOptions):
    """What an entry of the configuration may say about logs of inspect_ai."""

    logs: tuple[Path, ...] = Field(min_length=1, description="the logs, from the working directory")
    no_answer: tuple[str, ...] = Field(
        ("",), description="what a scorer writes where there is no usable answer"
    )
    scorer: str = Field(
        "", description="whose answer counts, where a task has several; none: the only one"
    )
    confidence: str = Field(
        "",
        description=(
            "field of the score's metadata with the stated confidence, 0 to 100; none: there is"
            " none"
        ),
    )
    attributes: tuple[str, ...] = Field(
        (), description="fields of the samples' metadata to group scores by"
    )
    with_text: bool = Field(
        True, description="whether the samples' inputs and messages are read, or the answers alone"
    )

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """The logs."""
        return self.logs


def read_answers(options: InspectOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The answers of each log in the order of its samples; raises `UserError` for one that cannot
    be read.
    """
    del context
    for path, log, sample in _samples(options):
        found, confidence, problem = _answer(options, path, sample)
        place = _place(path, sample, "answer of its score")
        answer = None if problem else _label(options, place, found, answer=True)
        if answer is None:
            problem, confidence = problem or f"the record says {found.strip() or 'nothing'}", None
        messages = sample.messages if options.with_text else ()
        said = [RecordedUtterance(message.role, MESSAGE, message.text) for message in messages]
        identity = (log.eval.task, log.eval.model, str(sample.id), sample.epoch - 1)
        yield RecordedDebate(*identity, answer, confidence, problem=problem, utterances=said)


@dataset("inspect", InspectOptions, records=read_answers)
def load(options: InspectOptions, context: LoadContext) -> Loaded:
    """The samples that the logs hold, each of them one test case for all epochs and models."""
    task = options.task(
        tuple(dict.fromkeys(options.labels.values())), ", ".join(path.name for path in options.logs)
    )
    cases: dict[str, Case] = {}
    cleaning = Counter[str]({"logs read": len(options.logs)})
    for number, (path, _, sample) in enumerate(_samples(options), start=1):
        case = Case(
            case_id=str(sample.id),
            dataset=context.name,
            split="test",
            text=_text(sample) if options.with_text else WITHOUT_TEXT,
            target=_target(options, path, sample),
            labels=task.labels,
            attributes={name: _attribute(path, sample, name) for name in options.attributes},
            source_row=number,
        )
        first = cases.setdefault(case.case_id, case)
        told = {"target": (case.target, first.target)}
        told |= {name: (value, first.attributes[name]) for name, value in case.attributes.items()}
        for name, (value, before) in told.items():
            if value != before:
                raise UserError(
                    f"{_place(path, sample, name)}: found {quoted(value)} for case"
                    f" {quoted(case.case_id)}, which another sample gives {quoted(before)};"
                    " expected the same in all of a case. Correct one of them."
                )
        cleaning["samples read"] += 1
        cleaning["samples that ended with an error"] += sample.error is not None
    return Loaded(list(cases.values()), task, cleaning=dict(cleaning), sources=options.logs)


def _samples(options: InspectOptions) -> Iterator[tuple[Path, "EvalLog", "EvalSample"]]:
    for path in options.logs:
        log = _read(path)
        for sample in log.samples or ():
            yield path, log, sample


def _read(path: Path) -> "EvalLog":
    try:
        from inspect_ai.log import read_eval_log  # an extra, and takes seconds
    except ImportError:
        raise UserError(
            f"{path}: reading it needs the package inspect_ai. Run `make env EXTRAS=inspect`."
        ) from None
    if not path.is_file():
        raise UserError(f"{path}: there is no such file. Name the logs under `logs`.")
    try:
        log = read_eval_log(path, resolve_attachments="core", exclude_fields=_NOT_READ)
    except Exception as error:  # any error of the library on a file that it did not write
        raise UserError(
            f"{path}: inspect_ai cannot read it as a log ({type(error).__name__}:"
            f" {quoted(str(error))}). Expected a .eval or .json file that it wrote."
        ) from None
    if not log.samples:
        raise UserError(
            f"{path}: a log without samples (its status is '{log.status}'). Leave it out of `logs`."
        )
    return log


def _answer(
    options: InspectOptions, path: Path, sample: "EvalSample"
) -> tuple[str, float | None, str]:
    """The answer as the scorer extracted it, the stated confidence, and why there is no answer."""
    if sample.error is not None:
        return "", None, "the sample ended with an error"
    if not sample.scores:
        return "", None, "the sample was not scored"
    score = _score(options, path, sample)
    confidence = None
    if options.confidence:
        stated = (score.metadata or {}).get(options.confidence)
        place = _place(path, sample, f"{options.confidence} of its score's metadata")
        confidence = read_confidence(place, "" if stated is None else str(stated))
    return score.answer or "", confidence, ""


def _score(options: InspectOptions, path: Path, sample: "EvalSample") -> "Score":
    scores = sample.scores or {}
    if options.scorer in scores:
        return scores[options.scorer]
    if options.scorer or len(scores) > 1:
        found = f"found {', '.join(scores)}"
        expected = f"expected one of '{options.scorer}'" if options.scorer else "expected one alone"
        raise UserError(
            f"{_place(path, sample, 'scores')}: {found}; {expected}. Choose one with `scorer`."
        )
    return next(iter(scores.values()))


def _target(options: InspectOptions, path: Path, sample: "EvalSample") -> str:
    targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    place = _place(path, sample, "target")
    if len(targets) != 1:
        raise UserError(
            f"{place}: found {quoted(str(targets))}; expected one target. Leave the log out of"
            " `logs`."
        )
    return str(_label(options, place, targets[0], answer=False))


def _label(options: InspectOptions, place: str, found: str, *, answer: bool) -> str | None:
    """The label that the word at a place means;
    None for an answer that is none; `UserError` for others.
    """
    label = options.labels.get(found.strip())
    if label is None and not (answer and found.strip() in options.no_answer):
        known = [*options.labels, *(options.no_answer if answer else ())]
        raise UserError(
            f"{place}: found {quoted(found)}; expected one of"
            f" {', '.join(name or 'blank' for name in known)}. Add it to `labels` or `no_answer`,"
            " or correct the file."
        )
    return label


def _attribute(path: Path, sample: "EvalSample", name: str) -> str:
    if name not in sample.metadata:
        known = quoted(", ".join(sample.metadata))
        raise UserError(
            f"{_place(path, sample, 'metadata')}: no '{name}'; found {known}. Correct `attributes`."
        )
    return str(sample.metadata[name])


def _text(sample: "EvalSample") -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n\n".join(message.text for message in sample.input)


def _place(path: Path, sample: "EvalSample", field: str) -> str:
    return f"{path}: sample {quoted(sample.id)}, epoch {sample.epoch}, field '{field}'"
