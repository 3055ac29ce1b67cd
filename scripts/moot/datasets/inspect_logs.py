"""Answers in logs of inspect_ai (`.eval`, `.json`), read with its library (the extra `inspect`).

A sample becomes a case, an epoch a repeat, the name of the task the method, and the answer that a
scorer extracted becomes the prediction.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from moot.core.cases import Case
from moot.core.errors import UserError
from moot.core.input_files import quote_value
from moot.core.log import LOG
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.records import WITHOUT_TEXT, RecordedDebate, RecordedUtterance, read_confidence
from moot.datasets.turn_columns import AnswersOptions

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

MESSAGE = "message"
_IGNORED_FIELDS = {"events", "store", "timelines", "events_data"}


class InspectOptions(AnswersOptions):
    """The options of a data set that consists of logs of inspect_ai."""

    logs: tuple[Path, ...] = Field(
        min_length=1, description="Logs, relative to the working directory."
    )
    no_answer: tuple[str, ...] = Field(
        ("",), description="Answers of a scorer that mean: no usable answer."
    )
    scorer: str = Field(
        "",
        description="Scorer whose answer counts. Default: the only scorer; required for several.",
    )
    confidence: str = Field(
        "",
        description=(
            "Field of the score's metadata with the stated confidence, 0 to 100. Default: no"
            " confidence."
        ),
    )
    attributes: tuple[str, ...] = Field(
        (), description="Fields of the samples' metadata to group scores by. Default: none."
    )
    with_text: bool = Field(
        True,
        description=(
            "Whether to read the inputs and messages of the samples too. Default: true; false reads"
            " the answers alone."
        ),
    )

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """The logs."""
        return self.logs


def read_answers(options: InspectOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """The answers of each log, in the order of its samples.

    Raises:
        UserError: a log or an answer cannot be read.
    """
    del context
    for path, log, sample in _samples(options):
        word, confidence, problem = _answer(options, path, sample)
        place = _place(path, sample, "answer of its score")
        answer = None if problem else _label(options, place, word, answer=True)
        if answer is None:
            problem, confidence = problem or f"the record says {word.strip() or 'nothing'}", None
        messages = sample.messages if options.with_text else ()
        utterances = [
            RecordedUtterance(message.role, MESSAGE, message.text) for message in messages
        ]
        identity = (log.eval.task, log.eval.model, str(sample.id), sample.epoch - 1)
        yield RecordedDebate(*identity, answer, confidence, problem=problem, utterances=utterances)


@dataset("inspect", InspectOptions, records=read_answers)
def load(options: InspectOptions, context: LoadContext) -> Loaded:
    """The samples of the logs; each is one test case for all epochs and models."""
    task = options.task(
        tuple(dict.fromkeys(options.labels.values())), ", ".join(path.name for path in options.logs)
    )
    cases: dict[str, Case] = {}
    cleaning = Counter[str]({"logs read": len(options.logs)})
    notes: dict[Path, str] = {}
    for number, (path, log, sample) in enumerate(_samples(options), start=1):
        if path not in notes:
            notes[path] = _incomplete_note(path, log)
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
        _require_same_facts(case, cases.setdefault(case.case_id, case), path, sample)
        cleaning["samples read"] += 1
        cleaning["samples that ended with an error"] += sample.error is not None
    incomplete = [note for note in notes.values() if note]
    for note in incomplete:
        LOG.warning(note)
    cleaning["logs of runs that did not finish"] = len(incomplete)
    task = replace(task, notes=(*task.notes, *incomplete))
    return Loaded(list(cases.values()), task, cleaning=dict(cleaning), sources=options.logs)


def _incomplete_note(path: Path, log: "EvalLog") -> str:
    """Return a note for readers on a log of a run that did not finish; "" if it finished."""
    count = len(log.samples or ())
    dataset_size = log.eval.dataset.samples or len(log.eval.dataset.sample_ids or ())
    expected = dataset_size * (log.eval.config.epochs or 1)
    if log.eval.config.limit is None and expected > count:
        counts = f"it has {count} of {expected} samples"
    else:
        counts = f"it has {count} samples"
    if log.status == "success" and (expected <= count or log.eval.config.limit is not None):
        return ""
    return f"{path.name}: the run did not finish (status '{log.status}'); {counts}."


def _require_same_facts(case: Case, first_case: Case, path: Path, sample: "EvalSample") -> None:
    """Require the target and attributes that the first sample of the case has."""
    facts = {"target": case.target, **case.attributes}
    first_facts = {"target": first_case.target, **first_case.attributes}
    for name, value in facts.items():
        if value != first_facts[name]:
            raise UserError(
                f"{_place(path, sample, name)}: found {quote_value(value)} for case"
                f" {quote_value(case.case_id)}, but another sample has"
                f" {quote_value(first_facts[name])};"
                " expected the same value in all samples of a case. Correct one of them."
            )


def _samples(options: InspectOptions) -> Iterator[tuple[Path, "EvalLog", "EvalSample"]]:
    for path in options.logs:
        log = _read_log(path)
        for sample in log.samples or ():
            yield path, log, sample


def _read_log(path: Path) -> "EvalLog":
    try:
        from inspect_ai.log import read_eval_log  # an extra, and takes seconds
    except ImportError:
        raise UserError(
            f"{path}: reading it needs the package inspect_ai. Run `make env EXTRAS=inspect`."
        ) from None
    if not path.is_file():
        raise UserError(f"{path}: there is no such file. Name the logs under `logs`.")
    try:
        log = read_eval_log(path, resolve_attachments="core", exclude_fields=_IGNORED_FIELDS)
    except Exception as error:  # any error of the library on a file that it did not write
        raise UserError(
            f"{path}: inspect_ai cannot read it as a log ({type(error).__name__}:"
            f" {quote_value(str(error))}). Expected a .eval or .json file that it wrote."
        ) from None
    if not log.samples:
        raise UserError(
            f"{path}: the log has no samples (its status is '{log.status}'). Leave it out of"
            " `logs`."
        )
    return log


def _answer(
    options: InspectOptions, path: Path, sample: "EvalSample"
) -> tuple[str, float | None, str]:
    """The answer that the scorer extracted, the stated confidence, and the reason for no answer."""
    if sample.error is not None:
        return "", None, "the sample ended with an error"
    if not sample.scores:
        return "", None, "the sample was not scored"
    score = _score(options, path, sample)
    confidence = None
    if options.confidence:
        confidence_field = (score.metadata or {}).get(options.confidence)
        place = _place(path, sample, f"{options.confidence} of its score's metadata")
        confidence = read_confidence(
            place, "" if confidence_field is None else str(confidence_field)
        )
    return score.answer or "", confidence, ""


def _score(options: InspectOptions, path: Path, sample: "EvalSample") -> "Score":
    scores = sample.scores or {}
    if options.scorer in scores:
        return scores[options.scorer]
    if options.scorer or len(scores) > 1:
        expected = f"a score of '{options.scorer}'" if options.scorer else "a single score"
        raise UserError(
            f"{_place(path, sample, 'scores')}: found {', '.join(scores)}; expected {expected}."
            " Choose one with `scorer`."
        )
    return next(iter(scores.values()))


def _target(options: InspectOptions, path: Path, sample: "EvalSample") -> str:
    targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    place = _place(path, sample, "target")
    if len(targets) != 1:
        raise UserError(
            f"{place}: found {quote_value(str(targets))}; expected one target. Leave the log out of"
            " `logs`."
        )
    return str(_label(options, place, targets[0], answer=False))


def _label(options: InspectOptions, place: str, word: str, *, answer: bool) -> str | None:
    """The label that a word means; None for an answer in `no_answer`.

    Raises:
        UserError: the word means no label.
    """
    label = options.labels.get(word.strip())
    if label is None and not (answer and word.strip() in options.no_answer):
        expected_words = [*options.labels, *(options.no_answer if answer else ())]
        raise UserError(
            f"{place}: found {quote_value(word)}; expected one of"
            f" {', '.join(name or 'blank' for name in expected_words)}. Add it to `labels` or"
            " `no_answer`,"
            " or correct the file."
        )
    return label


def _attribute(path: Path, sample: "EvalSample", name: str) -> str:
    if name not in sample.metadata:
        field_names = quote_value(", ".join(sample.metadata))
        raise UserError(
            f"{_place(path, sample, 'metadata')}: no '{name}'; found {field_names}. Correct"
            " `attributes`."
        )
    return str(sample.metadata[name])


def _text(sample: "EvalSample") -> str:
    if isinstance(sample.input, str):
        return sample.input
    return "\n\n".join(message.text for message in sample.input)


def _place(path: Path, sample: "EvalSample", field: str) -> str:
    return f"{path}: sample {quote_value(sample.id)}, epoch {sample.epoch}, field '{field}'"
