"""Answers in logs of inspect_ai (`.eval`, `.json`), read with its library (the extra `inspect`).

A sample becomes a case, an epoch a repeat, the task and its arguments the method, and the answer
that a scorer extracted becomes the prediction. An answer that is not a label is an invalid answer.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import Field

from moot.core.cases import WITHOUT_TEXT, Case
from moot.core.cell_text import cell_text
from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.log import LOG
from moot.core.text_files import quote_value
from moot.core.types import Json, JsonObject
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.debate_records import (
    FaultyShare,
    RecordedDebate,
    RecordedUtterance,
    leave_out,
    read_confidence,
)
from moot.datasets.file_lists import list_files
from moot.datasets.label_words import find_label
from moot.datasets.turn_columns import AnswersOptions

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

MESSAGE = "message"
_IGNORED_FIELDS = {"events", "store", "timelines", "events_data"}
_ENDINGS = (".eval", ".json")
_FILES_ABOUT_LOGS = ("logs.json", "eval-set.json", "listing.json")
"""Files without samples that inspect_ai writes into folders of logs."""
_OPERATIONAL_SETTINGS = {
    "adaptive_connections",
    "attempt_timeout",
    "batch",
    "cache",
    "max_connections",
    "max_retries",
    "seed",
    "timeout",
}
"""Settings of the generation that make no other method: how calls are made, and the seed."""
_MAX_ARGUMENT_CHARS = 40


class InspectOptions(AnswersOptions):
    """The options of a data set that consists of logs of inspect_ai."""

    logs: tuple[Path, ...] = Field(
        min_length=1,
        description=(
            "Logs (.eval or .json), folders of logs, or patterns (logs/*.eval), relative to the"
            " working directory."
        ),
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

    faulty: FaultyShare = 0.01

    @property
    def files(self) -> list[Path]:
        """The logs, each once, in the order of the options and of their names."""
        files: list[Path] = []
        for path in self.logs:
            listed_files = list_files(path, _ENDINGS, includes_subfolders=True)
            files += [file for file in listed_files if file.name not in _FILES_ABOUT_LOGS]
        return list(dict.fromkeys(files))

    def own_files(self, _data_root: Path) -> tuple[Path, ...]:  # they may be anywhere
        """Return the logs."""
        return tuple(self.files)


@dataclass(frozen=True, slots=True)
class _ReadSample:
    """A sample without a fault, as a case and as a recorded debate."""

    case: Case
    debate: RecordedDebate


@dataclass(frozen=True, slots=True)
class _ReadLogs:
    """The samples without a fault, counts, and a note on each log of an unfinished run."""

    samples: Sequence[_ReadSample]
    cleaning: Mapping[str, int]
    incomplete: Sequence[str]


def read_answers(options: InspectOptions, context: LoadContext) -> Iterator[RecordedDebate]:
    """Return the answers of each log, in the order of its samples.

    Logs of one task with different arguments are different methods; further logs with the same
    task, arguments and model are further repeats.

    Raises:
        UserError: a log cannot be read, or more samples have a fault than `faulty` allows.
    """
    return (read_sample.debate for read_sample in _read_logs(options, context).samples)


@dataset("inspect", InspectOptions, records=read_answers)
def load(options: InspectOptions, context: LoadContext) -> Loaded:
    """Load the samples of the logs; each is one test case for all epochs and models."""
    logs = _read_logs(options, context)
    cases: dict[str, Case] = {}
    for read_sample in logs.samples:
        cases.setdefault(read_sample.case.case_id, read_sample.case)
    file_names = ", ".join(path.name for path in options.files)
    task = options.task(tuple(dict.fromkeys(options.labels.values())), file_names)
    cleaning = dict(logs.cleaning)
    for note in logs.incomplete:
        LOG.warning(note)
    cleaning["logs of runs that did not finish"] = len(logs.incomplete)
    task = replace(task, notes=(*task.notes, *logs.incomplete))
    return Loaded(list(cases.values()), task, cleaning=cleaning, sources=options.files)


def _read_logs(options: InspectOptions, context: LoadContext) -> _ReadLogs:
    """Read the samples of all logs; those with a fault are left out, listed and counted."""
    faults, cleaning = Faults(), Counter[str]()
    all_logs = _read_files(options, faults)
    unreadable = len(options.files) - len(all_logs)
    _refuse_repeated_logs(all_logs)
    current_logs = _without_retried_logs(all_logs)
    logs = {path: log for path, log in current_logs.items() if log.samples}
    cleaning["logs read"] = len(logs)
    cleaning["logs left out because a later log retries their run"] = len(all_logs) - len(
        current_logs
    )
    cleaning["logs without samples"] = len(current_logs) - len(logs)
    for path, log in logs.items():
        _check_scorers(options, path, log)
    methods = _methods(logs)
    first_repeats = _first_repeats(logs, methods)
    read_samples, cases = list[_ReadSample](), dict[str, Case]()
    for path, log in logs.items():
        for sample in log.samples or ():
            cleaning["samples read"] += 1
            cleaning["samples that ended with an error"] += sample.error is not None
            with faults.noting():
                case = _case(options, context, path, sample, cleaning["samples read"])
                repeat = first_repeats[path] + sample.epoch - 1
                identity = (methods[path], log.eval.model, case.case_id, repeat)
                debate = _debate(options, path, sample, identity)
                _require_same_facts(case, cases.setdefault(case.case_id, case), path, sample)
                read_samples.append(_ReadSample(case, debate))
                cleaning["answers that are not a label"] += _is_unknown(options, sample, debate)
    left_out = cleaning["samples read"] - len(read_samples)
    cleaning["samples left out because of faults"] = left_out
    cleaning["logs that cannot be read"] = unreadable
    leave_out(
        faults.messages,
        left_out + unreadable,
        cleaning["samples read"] + unreadable,
        options.faulty,
        "Correct the logs, or allow more.",
        "samples or logs" if unreadable else "samples",
    )
    always = ("logs read", "samples read", "samples that ended with an error")
    counts = {name: count for name, count in cleaning.items() if count or name in always}
    notes = [_incomplete_note(path, log) for path, log in current_logs.items()]
    return _ReadLogs(read_samples, counts, [note for note in notes if note])


def _read_files(options: InspectOptions, faults: Faults) -> Mapping[Path, "EvalLog"]:
    """Read the logs; notes those that cannot be read.

    Raises:
        UserError: no log can be read, or no log has samples.
    """
    logs: dict[Path, EvalLog] = {}
    for path in options.files:
        with faults.noting():
            logs[path] = _read_log(path)
    if not logs:
        raise UserError("\n".join(faults.messages))
    if not any(log.samples for log in logs.values()):
        path, log = next(iter(logs.items()))
        raise UserError(
            f"{path}: the log has no samples (its status is '{log.status}'). Leave it out of"
            " `logs`."
        )
    return logs


def _refuse_repeated_logs(logs: Mapping[Path, "EvalLog"]) -> None:
    """Require each log once, also under two names."""
    path_of_run: dict[str, Path] = {}
    for path, log in logs.items():
        run = log.eval.eval_id or str(path.resolve())
        if run in path_of_run:
            raise UserError(
                f"{path}: the same log as {path_of_run[run]}, so that each repeat occurs twice;"
                " expected every log once. Remove one of the two from `logs`."
            )
        path_of_run[run] = path


def _without_retried_logs(logs: Mapping[Path, "EvalLog"]) -> Mapping[Path, "EvalLog"]:
    """Return the logs without those of unfinished runs that a later log finishes (`inspect
    eval-retry`).

    The later log repeats the samples that the earlier one finished.
    """
    last_start: dict[str, str] = {}
    for log in logs.values():
        start = last_start.get(log.eval.task_id, "")
        last_start[log.eval.task_id] = max(start, str(log.eval.created))
    kept_logs = {}
    for path, log in logs.items():
        is_last = str(log.eval.created) == last_start[log.eval.task_id]
        if log.status == "success" or is_last:
            kept_logs[path] = log
    return kept_logs


def _methods(logs: Mapping[Path, "EvalLog"]) -> Mapping[Path, str]:
    """Return the method of each log: its task, and the arguments in which logs of this task
    differ.
    """
    logs_by_task: dict[str, list[EvalLog]] = {}
    for log in logs.values():
        logs_by_task.setdefault(log.eval.task, []).append(log)
    methods = {}
    for path, log in logs.items():
        task_logs = logs_by_task[log.eval.task]
        has_one_solver = len({_solver(task_log) for task_log in task_logs}) == 1
        list_arguments = _all_arguments if has_one_solver else _arguments
        all_arguments, arguments = list(map(list_arguments, task_logs)), list_arguments(log)
        parts = [log.eval.task]
        for name in sorted(set().union(*all_arguments)):
            values = {json.dumps(mapping.get(name)) for mapping in all_arguments}
            if len(values) > 1:
                parts.append(f"{name}={_argument_text(arguments.get(name))}")
        methods[path] = ", ".join(parts)
    return methods


def _arguments(log: "EvalLog") -> Mapping[str, Json]:
    """Return the arguments of the task, the solver and the generation."""
    arguments: dict[str, Json] = {"solver": _solver(log)} if _solver(log) else {}
    for settings in (log.eval.model_generate_config, log.plan.config):
        values = settings.model_dump(mode="json", exclude_none=True)
        arguments |= {name: values[name] for name in values.keys() - _OPERATIONAL_SETTINGS}
    return {
        **arguments,
        **_plain_arguments(log.eval.solver_args),
        **_plain_arguments(log.eval.task_args),
    }


def _solver(log: "EvalLog") -> str:
    return log.eval.solver or ", ".join(step.solver for step in log.plan.steps)


def _solver_parameters(log: "EvalLog") -> Mapping[str, Json]:
    """Return the parameters of the steps of the solver, by step and name."""
    parameters: dict[str, Json] = {}
    counts = Counter(step.solver for step in log.plan.steps)
    for number, step in enumerate(log.plan.steps, 1):
        is_only_step = counts[step.solver] == 1
        prefix = step.solver if is_only_step else f"step {number} {step.solver}"
        for name, value in _plain_arguments(step.params).items():
            parameters[f"{prefix} {name}"] = value
    return parameters


def _all_arguments(log: "EvalLog") -> Mapping[str, Json]:
    return {**_solver_parameters(log), **_arguments(log)}


def _plain_arguments(arguments: Mapping[str, object] | None) -> JsonObject:
    plain_arguments: JsonObject = json.loads(json.dumps(arguments or {}, default=str))
    return plain_arguments


def _argument_text(value: Json) -> str:
    """Return an argument in the name of a method: a long one in short, with a digest that
    identifies it.
    """
    text = " ".join(cell_text(value).split()) or "default"
    if len(text) <= _MAX_ARGUMENT_CHARS:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()
    return f"{text[:_MAX_ARGUMENT_CHARS]}... ({digest[:6]})"


def _first_repeats(
    logs: Mapping[Path, "EvalLog"], methods: Mapping[Path, str]
) -> Mapping[Path, int]:
    """Return the number of the first repeat of each log, after those of earlier logs of the same
    run.
    """
    counts = Counter[tuple[str, str]]()
    first_repeats = {}
    for path, log in logs.items():
        identity = (methods[path], log.eval.model)
        first_repeats[path] = counts[identity]
        counts[identity] += max(sample.epoch for sample in log.samples or ())
    return first_repeats


def _case(
    options: InspectOptions, context: LoadContext, path: Path, sample: "EvalSample", number: int
) -> Case:
    return Case(
        case_id=str(sample.id),
        dataset=context.name,
        split="test",
        text=_text(sample) if options.with_text else WITHOUT_TEXT,
        target=_target(options, path, sample),
        labels=tuple(dict.fromkeys(options.labels.values())),
        attributes={name: _attribute(path, sample, name) for name in options.attributes},
        source_row=number,
    )


def _debate(
    options: InspectOptions, path: Path, sample: "EvalSample", identity: tuple[str, str, str, int]
) -> RecordedDebate:
    word, confidence, problem = _answer(options, path, sample)
    answer = None if problem else find_label(word, options.labels)
    if answer is None:
        problem = problem or f"the record says {word.strip() or 'nothing'}"
        confidence = None
    messages = sample.messages if options.with_text else ()
    utterances = [RecordedUtterance(message.role, MESSAGE, message.text) for message in messages]
    return RecordedDebate(*identity, answer, confidence, problem=problem, utterances=utterances)


def _is_unknown(options: InspectOptions, sample: "EvalSample", debate: RecordedDebate) -> bool:
    """Return whether a score has an answer that means neither a label nor a missing answer."""
    if debate.prediction is not None or sample.error is not None or not sample.scores:
        return False
    word = (_score(options, Path(), sample).answer or "").strip()
    return word not in options.no_answer


def _incomplete_note(path: Path, log: "EvalLog") -> str:
    """Return a note for readers on a log of a run that did not finish; "" if it finished."""
    count, status, config = len(log.samples or ()), log.status, log.eval.config
    selected_ids = log.eval.dataset.sample_ids
    is_limited = selected_ids is None and (config.limit or config.sample_id) is not None
    dataset_size = len(selected_ids or ()) or log.eval.dataset.samples or 0
    expected = dataset_size * (config.epochs or 1)
    is_short = not is_limited and expected > count
    if status == "success" and not is_short:
        return ""
    counts = f"{count} of {expected} samples" if is_short else f"{count} samples"
    return f"{path.name}: the run did not finish (status '{status}'); it has {counts}."


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


def _check_scorers(options: InspectOptions, path: Path, log: "EvalLog") -> None:
    """Require the scorer of the options in a log, or a single scorer."""
    scorers: dict[str, None] = {}
    for sample in log.samples or ():
        scorers |= dict.fromkeys(sample.scores or ())
    if options.scorer and scorers and options.scorer not in scorers:
        raise UserError(
            f"{path}: no sample has a score of {quote_value(options.scorer)}; found"
            f" {', '.join(scorers)}. Correct `scorer`."
        )
    if not options.scorer and len(scorers) > 1:
        raise UserError(
            f"{path}: found scores of {', '.join(scorers)}; expected those of one scorer. Choose"
            " it with `scorer`."
        )


def _read_log(path: Path) -> "EvalLog":
    try:
        from inspect_ai.log import read_eval_log  # an extra, and takes seconds
    except ImportError:
        raise UserError(
            f"{path}: reading it needs the package inspect_ai. Run `make env EXTRAS=inspect`."
        ) from None
    if path.is_dir():
        raise UserError(
            f"{path}: a folder without logs; expected files ending in {' or '.join(_ENDINGS)}."
            " Correct `logs`."
        )
    if not path.is_file():
        raise UserError(f"{path}: there is no such file. Name the logs under `logs`.")
    try:
        log = read_eval_log(path, resolve_attachments="core", exclude_fields=_IGNORED_FIELDS)
    except Exception as error:  # any error of the library on a file that it did not write
        raise UserError(
            f"{path}: inspect_ai cannot read it as a log ({type(error).__name__}:"
            f" {quote_value(str(error))}). Expected a .eval or .json file that it wrote."
        ) from None
    return log


def _answer(
    options: InspectOptions, path: Path, sample: "EvalSample"
) -> tuple[str, float | None, str]:
    """Return the answer that the scorer extracted, the stated confidence, and the reason for no
    answer.
    """
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
    if options.scorer and options.scorer not in scores:
        raise UserError(
            f"{_place(path, sample, 'scores')}: found {', '.join(scores)}; expected a score of"
            f" {quote_value(options.scorer)}. Correct the log."
        )
    return scores[options.scorer] if options.scorer else next(iter(scores.values()))


def _target(options: InspectOptions, path: Path, sample: "EvalSample") -> str:
    targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    place = _place(path, sample, "target")
    if len(targets) != 1:
        raise UserError(
            f"{place}: found {quote_value(str(targets))}; expected one target. Leave the log out of"
            " `logs`."
        )
    label = find_label(targets[0], options.labels)
    if label is None:
        raise UserError(
            f"{place}: found {quote_value(targets[0])}; expected one of"
            f" {', '.join(options.labels)}. Add it to `labels`, or correct the file."
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
