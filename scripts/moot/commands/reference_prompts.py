"""The variables that prompt templates see, found in the templates themselves."""

import re
from dataclasses import fields
from pathlib import Path

import jinja2
from jinja2 import meta, nodes

from moot.core.cases import Case, Task
from moot.core.shipped_files import prompt_folders
from moot.protocols.utterances import Utterance

_MACRO = re.compile(r"{% macro (\w+)")
EVERYWHERE = {
    "role": 'a function that begins a message: `{{ role("system") }}`, `{{ role("user") }}`',
    "case": (
        f"the case: `{'`, `'.join(field.name for field in fields(Case))}` (`target` is the answer:"
        " never show it)"
    ),
    "task": f"the data set's description: `{'`, `'.join(field.name for field in fields(Task))}`",
    "seat": "the seat that speaks",
    "params": "the protocol's parameters, by name",
    "heard": (
        "the utterances that the seat may read, each with the attributes "
        f"`{'`, `'.join(field.name for field in fields(Utterance))}`, `has_failed`, `usable`"
    ),
    "reply_format": (
        'the required form of the reply in words; "" for free text and for answers by likelihood'
    ),
}
"""The variables of every template of a debate."""
SOMETIMES = {
    "agenda": "the conference: its topics, members and roles",
    "agreed": "whether each topic (closing), or this topic (notes), ended in agreement",
    "attempt": "the reasoning to criticise",
    "blank": "whether the facts are left out, for a content-free prior",
    "clusters": "the names of the lexicon's clusters",
    "decision": "the decision to grade",
    "exchange": "the utterances on a topic",
    "facts": "the facts, if they differ from the case (empty for a content-free prior)",
    "label": "the label that the question is about",
    "leaks": "names and words of an outcome in an earlier summary",
    "lessons": "criticism of earlier attempts",
    "number": "the number of the topic or round, from 1",
    "others": "the other debaters' openings",
    "own": "the debater's own opening",
    "people": "whether a person sits on the panel",
    "phase": "opening, rebuttal or closing",
    "question": "the question that the exchange or the label is about",
    "reasoning": "whether the prompt asks for reasons before the answer",
    "reliabilities": "the probability that a seat is right, by the assistant; a mapping by seat",
    "round_shown": "the last round of the recorded debate that the judge has read",
    "rubric": "the labels and their definitions",
    "said": "the statements to summarise",
    "shots": "labelled training cases",
    "shown": "the part of a case that is shown to a model that should recall the rest",
    "side": 'the label that a debater argues for; "" if the debater chooses',
    "statement": "the statement to label or to assess; in a debate, how a statement is quoted",
    "steps": "the reasoning in four steps",
    "summaries": "summaries of earlier rounds",
    "summary": "the summary of this round",
    "topic": "the current topic",
    "words": "the word of each label in the prompt; a mapping by label",
}
"""Further variables of some templates."""


def variables_of(template: Path) -> list[str]:
    """Return the variables that a template uses in addition to `EVERYWHERE`.

    Names that it sets or imports itself are left out.
    """
    environment = jinja2.Environment(autoescape=False)  # noqa: S701 - templates are parsed only
    environment.filters["enclose"] = str
    tree = environment.parse(template.read_text(encoding="utf-8"))
    local_names = {
        name.name for name in tree.find_all(nodes.Name) if name.ctx in ("store", "param")
    }
    for statement in tree.find_all(nodes.FromImport):
        local_names |= {name if isinstance(name, str) else name[1] for name in statement.names}
    for path in template.parent.glob("*.jinja"):
        local_names.update(_MACRO.findall(path.read_text("utf-8")))
    return sorted(meta.find_undeclared_variables(tree) - local_names - set(EVERYWHERE))


def variables() -> dict[str, list[str]]:
    """Return the variables of every template that has more than `EVERYWHERE`, by its name.

    Translations have the same variables.
    """
    variables_by_name: dict[str, list[str]] = {}
    for folder in prompt_folders():
        for path in sorted(folder.rglob("*.jinja")):
            is_translation = path.suffixes != [".jinja"]
            if not is_translation and (names := variables_of(path)):
                variables_by_name[path.relative_to(folder).as_posix()] = names
    return dict(sorted(variables_by_name.items()))
