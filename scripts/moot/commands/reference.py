"""The parts of the documentation that are generated from the code."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path

import jinja2
from jinja2 import meta, nodes

from moot.commands.registered import describe_registered
from moot.core.cases import Case, Task
from moot.core.schemas import ARTIFACTS
from moot.core.shipped_files import SHIPPED, prompt_folders
from moot.jobs.item_designs import describe_needs, item_commands
from moot.papers.items import PaperItem, items_file, read_papers
from moot.plan.papers_of_run import read_designs
from moot.protocols.utterances import Utterance
from moot.report.escaping import markdown, markdown_table

_NO_DEBATES = "no debates"
_ITEM_HEADINGS = ("item", "what it shows", "needs", "command")
_LINK = re.compile(r" \(\[[^\]]*\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)")
_BLOCK = r"(<!-- {name}: make docs -->\n).*?(<!-- end of {name} -->)"
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
    "agenda": "the conference: its issue and its topics",
    "agreed": "whether each topic ended in agreement",
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


def artifacts_reference() -> str:
    """Return every Parquet file and its columns."""
    parts = []
    for name, artifact in ARTIFACTS.items():
        columns = [
            (f"`{column}`", str(kind), text) for column, (kind, text) in artifact.columns.items()
        ]
        further_columns = (
            [("...", "", artifact.feature_columns)] if artifact.feature_columns else []
        )
        path = f"`results/{artifact.path}`" if artifact.path[0] != "(" else artifact.path
        parts.append(f"### {name}\n\n{path}: one row is {artifact.row}.\n\n")
        parts.append(
            markdown_table(("column", "type", "description"), [*columns, *further_columns]) + "\n\n"
        )
    return "".join(parts).rstrip()


def variables_reference() -> str:
    """Return the variables of prompt templates; for some, which templates have them."""
    rows = [(f"`{name}`", words, "every template") for name, words in EVERYWHERE.items()]
    names_by_template = variables()
    for name, words in SOMETIMES.items():
        templates = [
            f"`{template}`" for template, names in names_by_template.items() if name in names
        ]
        rows.append((f"`{name}`", words, ", ".join(templates)))
    return markdown_table(("variable", "description", "templates"), rows)


def analyses_reference() -> str:
    """Return every analysis: the title of its page, and the sentence with which the page begins."""
    lines = []
    for path in sorted((SHIPPED / "scripts" / "moot" / "analyses").glob("*/README.md")):
        title, beginning, *_ = path.read_text(encoding="utf-8").split("\n\n")
        sentence = re.match(r".*?[.?:](?=\s|$)", " ".join(beginning.split()))
        text = _LINK.sub(r"\1", sentence[0] if sentence else beginning)
        page = path.relative_to(SHIPPED).as_posix()
        if not text.endswith("?"):
            text = f"{text.rstrip(':.')}."
        lines.append(f"- [{title.removeprefix('# ')}](../{page}): {text}")
    return "\n".join(lines)


def papers_reference() -> str:
    """Return a table of items for each paper, as Markdown."""
    blocks = []
    for paper in read_papers(items_file(SHIPPED)).values():
        lines = [f"## {markdown(paper.short)}", "", f"*{markdown(paper.title)}*", ""]
        lines += [f"| {' | '.join(_ITEM_HEADINGS)} |", f"|{'---|' * len(_ITEM_HEADINGS)}"]
        lines += [_item_line(item) for item in paper.items]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _item_line(item: PaperItem) -> str:
    title = markdown(f"{item.number}: {item.title}")
    designs = read_designs(SHIPPED).values()
    needs = " ".join(describe_needs(item, designs)) or _NO_DEBATES
    command = next((f"`{command}`" for command in item_commands(item, designs)), "")
    return f"| `{item.name}` | {title} | {needs} | {command} |"


PARTS: Mapping[str, tuple[str, Callable[[], str]]] = {
    "analyses": ("reference.md", analyses_reference),
    "artifacts": ("artifacts.md", artifacts_reference),
    "papers": ("papers.md", papers_reference),
    "registered": ("reference.md", describe_registered),
    "variables": ("extending.md", variables_reference),
}
"""The generated parts: the page below `docs/` with each part, and the function that writes it."""


def with_part(page: str, name: str, text: str) -> str:
    """Return a page with one of its generated parts updated.

    Raises:
        ValueError: the page has no place for it (a programming error).
    """
    pattern = re.compile(_BLOCK.format(name=name), re.DOTALL)
    if not pattern.search(page):
        raise ValueError(f"no '<!-- {name}: make docs -->' in the page")
    return pattern.sub(lambda match: f"{match[1]}\n{text.strip()}\n\n{match[2]}", page)


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
