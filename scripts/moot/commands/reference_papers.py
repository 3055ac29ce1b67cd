"""The list of the papers' items in `docs/papers.md`: needs and commands."""

from moot.core.shipped_files import SHIPPED
from moot.jobs.papers import describe_needs, item_commands
from moot.papers.items import PaperItem, items_file, read_papers
from moot.plan.as_published import paper_plan
from moot.report.escaping import markdown

NO_DEBATES = "no debates"
HEADINGS = ("item", "what it shows", "needs", "command")


def papers_reference() -> str:
    """Return a table of items for each paper, as Markdown."""
    blocks = []
    for paper in read_papers(items_file(SHIPPED)).values():
        lines = [f"## {markdown(paper.short)}", "", f"*{markdown(paper.title)}*", ""]
        lines += [f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
        lines += [_item_line(item) for item in paper.items]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _item_line(item: PaperItem) -> str:
    title = markdown(f"{item.number}: {item.title}")
    needs = " ".join(describe_needs(item, paper_plan(SHIPPED))) or NO_DEBATES
    command = next((f"`{command}`" for command in item_commands(item, paper_plan(SHIPPED))), "")
    return f"| `{item.name}` | {title} | {needs} | {command} |"
