"""Answers in logs of inspect_ai (`.eval`, `.json`), read with its library (the extra `inspect`).

A sample becomes a case, an epoch a repeat, the task and its arguments the method, and the answer
that a scorer extracted becomes the prediction. An answer that is not a label is an invalid answer.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from moot.core.cases import Case
from moot.core.config_errors import Faults
from moot.core.log import LOG
from moot.datasets import LoadContext, Loaded, dataset
from moot.datasets.debate_records import RecordedDebate, leave_out
from moot.datasets.inspect_files import (
    incomplete_note,
    leave_out_retried_logs,
    read_logs,
    refuse_repeated_logs,
)
from moot.datasets.inspect_methods import list_first_repeats, list_methods
from moot.datasets.inspect_options import InspectOptions
from moot.datasets.inspect_samples import (
    check_scorers,
    is_unknown_answer,
    make_case,
    make_debate,
    require_same_facts,
)


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
    all_logs = read_logs(options.files, faults)
    unreadable = len(options.files) - len(all_logs)
    refuse_repeated_logs(all_logs)
    current_logs = leave_out_retried_logs(all_logs)
    logs = {path: log for path, log in current_logs.items() if log.samples}
    retried = len(all_logs) - len(current_logs)
    cleaning["logs read"] = len(logs)
    cleaning["logs left out because a later log retries their run"] = retried
    cleaning["logs without samples"] = len(current_logs) - len(logs)
    for path, log in logs.items():
        check_scorers(options, path, log)
    methods = list_methods(logs)
    first_repeats = list_first_repeats(logs, methods)
    read_samples, cases = list[_ReadSample](), dict[str, Case]()
    for path, log in logs.items():
        for sample in log.samples or ():
            cleaning["samples read"] += 1
            cleaning["samples that ended with an error"] += sample.error is not None
            with faults.noting():
                case = make_case(options, context, path, sample, cleaning["samples read"])
                repeat = first_repeats[path] + sample.epoch - 1
                identity = (methods[path], log.eval.model, case.case_id, repeat)
                debate = make_debate(options, path, sample, identity)
                require_same_facts(case, cases.setdefault(case.case_id, case), path, sample)
                read_samples.append(_ReadSample(case, debate))
                is_unknown = is_unknown_answer(options, sample, debate)
                cleaning["answers that are not a label"] += is_unknown
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
    notes = [incomplete_note(path, log) for path, log in current_logs.items()]
    return _ReadLogs(read_samples, counts, [note for note in notes if note])
