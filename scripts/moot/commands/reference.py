"""The parts of the documentation that are generated from the code."""

import re
from collections.abc import Callable, Mapping

from moot.commands.reference_prompts import EVERYWHERE, SOMETIMES, variables
from moot.commands.registered import describe_registered
from moot.core.schemas import ARTIFACTS
from moot.core.shipped_files import SHIPPED
from moot.jobs.papers import describe_needs, item_commands
from moot.papers.items import PaperItem, items_file, read_papers
from moot.plan.papers_of_run import paper_plan
from moot.report.escaping import markdown, markdown_table

_NO_DEBATES = "no debates"
_ITEM_HEADINGS = ("item", "what it shows", "needs", "command")
_LINK = re.compile(r" \(\[[^\]]*\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)")
_BLOCK = r"(<!-- {name}: make docs -->\n).*?(<!-- end of {name} -->)"


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
    needs = " ".join(describe_needs(item, paper_plan(SHIPPED))) or _NO_DEBATES
    command = next((f"`{command}`" for command in item_commands(item, paper_plan(SHIPPED))), "")
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
