"""The control arm `labels_swapped`: the options in reversed order and under other names.

A debate uses the other names from its first prompt to its answer. Its labels are then translated
back, so that scores compare it with any other run. Texts are not changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig
from moot.core.types import Json
from moot.protocols import PROTOCOLS
from moot.protocols.controls import Rewording
from moot.protocols.debate import Debate

LETTERS = "pqrstuvw"
"""Made-up names, unlikely to occur in any case."""


def relabel(config: ExperimentConfig, cases: Sequence[Case], task: Task) -> Rewording:
    """Return cases and task with the options in reversed order and named P, Q, ... in that order.

    If a protocol has its own words for the options, only their order is reversed. If its prompts do
    not explain labels, the explanation precedes the task's background, which they quote once, next
    to the question.

    Raises:
        UserError: The protocol knows the task's options by name.
    """
    options = PROTOCOLS[config.protocol].options
    has_new_names = options.words == "task"
    if has_new_names and set(task.labels) == options.fixed_labels:
        raise UserError(
            f"experiment '{config.control_of}': protocol '{config.protocol}' knows the options of"
            " this"
            " data"
            f" by name. Remove '{config.control}' from `arms`."
        )
    labels = tuple(reversed(task.labels))
    names = _new_names(len(labels)) if has_new_names else labels
    name_of = dict(zip(labels, names, strict=True))
    new_task = replace(task, labels=names, positive=name_of.get(task.positive, ""))
    if has_new_names:
        meaning = {}
        for label in labels:
            meaning[name_of[label]] = task.meaning.get(label) or _default_meaning(label, task)
        background = task.background
        if not options.explains_labels:
            background = f"{_legend(meaning, task)} {background}".rstrip()
        new_task = replace(new_task, meaning=meaning, background=background)
    new_cases = []
    for case in cases:
        target = ";".join(sorted(name_of[label] for label in case.target.split(";")))
        new_cases.append(replace(case, target=target, labels=names))
    label_of = {name: label for label, name in name_of.items()}
    return Rewording(new_cases, new_task, partial(_restore_labels, label_of=label_of))


def _new_names(count: int) -> tuple[str, ...]:
    if count <= len(LETTERS):
        return tuple(LETTERS[:count])
    return tuple(f"l{number}" for number in range(1, count + 1))


def _default_meaning(label: str, task: Task) -> str:
    return f"答案是{label}" if task.language == "zh" else f"the answer is {label}"


def _legend(meaning: Mapping[str, str], task: Task) -> str:
    if task.language == "zh":
        return "；".join(f"{name.upper()}：{text}" for name, text in meaning.items()) + "。"
    return "; ".join(f"{name.upper()} means that {text}" for name, text in meaning.items()) + "."


def _restore_labels(debate: Debate, label_of: Mapping[str, str]) -> Debate:
    """Translate predictions, and all that is worked out by label, into the task's own labels."""
    for utterance in debate.utterances:
        if utterance.prediction is not None:
            names = utterance.prediction.split(";")
            utterance.prediction = ";".join(sorted(label_of.get(name, name) for name in names))
        utterance.parsed = _restore_parsed(utterance.parsed, label_of)
    return debate


def _restore_parsed(value: Json, label_of: Mapping[str, str]) -> Json:
    if not isinstance(value, Mapping):
        return value
    is_by_label = bool(value) and set(value) <= set(label_of)
    restored = {}
    for key, content in value.items():
        restore = _restore_prediction if key == "prediction" else _restore_parsed
        restored[label_of[key] if is_by_label else key] = restore(content, label_of)
    return restored


def _restore_prediction(value: Json, label_of: Mapping[str, str]) -> Json:
    """Translate a reply's prediction, one label or several, as prompts spell them."""
    if isinstance(value, list):
        return [_restore_prediction(name, label_of) for name in value]
    if isinstance(value, str) and value.casefold() in label_of:
        return label_of[value.casefold()].upper()
    return value
