"""The list of the papers' items in `docs/papers.md`: needs and commands."""

from collections.abc import Iterator

from moot.core.shipped_files import SHIPPED
from moot.jobs.papers import describe_servers, item_commands
from moot.papers.items import PaperItem, items_file, read_papers
from moot.papers.selection import KINDS_WITHOUT_DEBATES, needed_experiments
from moot.plan.as_published import paper_plan
from moot.protocols.experiment import Experiment
from moot.report.escaping import markdown
from moot.report.figures import count_phrase

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
    needs = "; ".join(_needs(item)) or NO_DEBATES
    command = next((f"`{command}`" for command in item_commands(item, paper_plan(SHIPPED))), "")
    return f"| `{item.name}` | {title} | {needs} | {command} |"


def _needs(item: PaperItem) -> Iterator[str]:
    """Yield the debates of each experiment, then the data sets of trained models."""
    experiments = paper_plan(SHIPPED).experiments
    for name in needed_experiments([item], SHIPPED):
        entries = [entry for entry in experiments.values() if entry.entry == name]
        settings = f"{len(entries)} settings x " if len(entries) > 1 else ""
        yield f"`{name}`: {settings}{_size(entries[0])} on `{entries[0].config.dataset}`"
    if item.kind not in KINDS_WITHOUT_DEBATES:
        for text in describe_servers(item, paper_plan(SHIPPED)):
            yield text.removesuffix(".")
    if item.datasets:
        yield f"models trained on {', '.join(f'`{name}`' for name in item.datasets)}"


def _size(entry: Experiment) -> str:
    config = entry.config
    models = count_phrase(len(config.models), "model")
    cases = "all cases" if config.cases is None else count_phrase(config.cases, "case")
    repeats = f" x {config.repeats}" if config.repeats > 1 else ""
    return f"{models} x {cases}{repeats}"
