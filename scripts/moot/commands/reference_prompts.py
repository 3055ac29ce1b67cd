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
    "seat": "who speaks",
    "params": "the protocol's parameters, by name",
    "heard": (
        "what the seat may know, a list of utterances: "
        f"`{'`, `'.join(field.name for field in fields(Utterance))}`, `failed`, `usable`"
    ),
    "reply_format": (
        'how the reply must look, in words; "" for free text and for answers by likelihood'
    ),
}
"""The variables of every template of a debate."""
SOMETIMES = {
    "agenda": "the conference: its topics, members and roles",
    "agreed": "what the judge of agreement found after each topic",
    "attempt": "the reasoning that is criticised",
    "blank": "whether the facts are left out, for a content-free prior",
    "clusters": "the names of the lexicon's clusters",
    "decision": "the decision that is graded",
    "exchange": "what was said on a topic",
    "facts": "the facts, where they are not those of the case (none for a content-free prior)",
    "label": "the label that is asked about",
    "lessons": "criticism of earlier attempts",
    "number": "which topic or round it is, from 1",
    "others": "the other debaters' openings",
    "own": "the debater's own opening",
    "people": "whether a person sits on the panel",
    "persona": "the member of the conference who speaks",
    "phase": "opening, rebuttal or closing",
    "question": "the question that the exchange is about, or that is asked of a statement",
    "reasoning": "whether reasons are asked for before the answer",
    "reliabilities": "seat to how often the assistant expects it to be right",
    "round_shown": "the round of a recorded debate that was read out last",
    "rubric": "the labels and their definitions",
    "said": "the statements to sum up",
    "shots": "labelled training cases",
    "shown": "what of a case is shown to a model that is asked what it knows of it",
    "side": 'the label that a debater argues for; "" where it chooses',
    "statement": "the statement that is labelled or weighed",
    "step": "how insistently the judge is challenged, from 1",
    "steps": "the reasoning in four steps",
    "summaries": "summaries of earlier rounds",
    "summary": "the summary of this round",
    "topic": "the topic in hand",
    "turns": "the turns of the debate, numbered from 1",
    "verdict": "the answer that the judge gave",
    "words": "label to its word in the prompt",
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
