"""The control arm `labels_swapped`: the same cases with their options in reversed order and under
other names.

A debate is held in the other names from its first prompt to its answer; what it came to is then put
into the task's own words again, so that scores compare it with any other run. The texts stay as
they were said.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from moot.core.cases import Case, Task
from moot.core.types import Json
from moot.protocols.debate import Debate

LETTERS = "pqrstuvw"
"""Made-up names, unlikely to occur in any case."""


@dataclass(frozen=True, slots=True)
class Relabelled:
    """Cases and task in other names, and each name to the label that it replaces (`original`)."""

    cases: Sequence[Case]
    task: Task
    original: Mapping[str, str]


def relabelled(cases: Iterable[Case], task: Task, rename: bool, explained: bool) -> Relabelled:
    """The options in reversed order and, with `rename`, under the names P, Q, ... in that order.

    Where prompts do not say what labels mean (not `explained`), it comes before the task's
    background, which they tell once, next to the question.
    """
    order = tuple(reversed(task.labels))
    few = len(order) <= len(LETTERS)
    names = (
        [LETTERS[place] if few else f"l{place + 1}" for place in range(len(order))]
        if rename
        else order
    )
    new = dict(zip(order, names, strict=True))
    meaning = {new[label]: task.meaning.get(label) or _named(label, task) for label in order}
    changed = replace(task, labels=tuple(names), positive=new.get(task.positive, ""))
    if rename:
        background = (
            task.background if explained else f"{_legend(meaning, task)} {task.background}".rstrip()
        )
        changed = replace(changed, meaning=meaning, background=background)
    renamed = [
        replace(
            case,
            target=";".join(sorted(new[label] for label in case.target.split(";"))),
            labels=tuple(names),
        )
        for case in cases
    ]
    return Relabelled(renamed, changed, {name: label for label, name in new.items()})


def _named(label: str, task: Task) -> str:
    return f"答案是{label}" if task.language == "zh" else f"the answer is {label}"


def _legend(meaning: Mapping[str, str], task: Task) -> str:
    if task.language == "zh":
        return "；".join(f"{name.upper()}：{what}" for name, what in meaning.items()) + "。"
    return "; ".join(f"{name.upper()} means that {what}" for name, what in meaning.items()) + "."


def restore(debate: Debate, original: Mapping[str, str]) -> Debate:
    """Put what a debate came to into the task's own words: predictions, and all that is worked out
    by label.
    """
    for said in debate.utterances:
        if said.prediction is not None:
            said.prediction = ";".join(
                sorted(original.get(name, name) for name in said.prediction.split(";"))
            )
        said.parsed = _restored(said.parsed, original)
    return debate


def _restored(value: Json, original: Mapping[str, str]) -> Json:
    if not isinstance(value, Mapping):
        return value
    by_label = bool(value) and set(value) <= set(original)
    return {
        original[key] if by_label else key: (
            _answer(inner, original) if key == "prediction" else _restored(inner, original)
        )
        for key, inner in value.items()
    }


def _answer(value: Json, original: Mapping[str, str]) -> Json:
    """A reply's prediction, one label or several, as prompts spell them."""
    if isinstance(value, list):
        return [_answer(one, original) for one in value]
    return (
        original[value.casefold()].upper()
        if isinstance(value, str) and value.casefold() in original
        else value
    )
