"""The page of a paper, and the files of its tables and figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from moot.core.durable import write_atomically
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.papers.charts import PUBLISHED, draw_chart, points_frame, series_of
from moot.papers.diagrams import clauses_html, diagram_svg
from moot.papers.examples import build_example, example_frame
from moot.papers.grid import Grid, PublishedValues, build_grid, intervals_frame, values_frame
from moot.papers.items import Paper, PaperItem
from moot.papers.paper_latex import example_latex, latex_source
from moot.papers.parts import Clauses, Diagram, Example, Fact, OwnRow, Part, Series, Step
from moot.report.escaping import csv_cell, page_template
from moot.report.figures import made_up_mark
from moot.report.latex import column_groups
from moot.report.notes import REHEARSAL_NOTE, SAMPLE, SYNTHETIC, join_notes

TEMPLATES = Path(__file__).parent / "page"
PAGE_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "table": ("csv", "tex", "intervals.csv"),
    "facts": ("csv", "tex"),
    "example": ("csv", "tex"),
    "figure": ("svg", "csv"),
    "diagram": ("svg",),
}
"""Kind of an item to the endings of its files."""
SCORES = "scores.csv"
"""The file of a paper with all scores of its runs."""
KINDS_FROM_DESIGN = ("facts", "diagram")
"""Kinds of items that show the configuration, and need no debate."""


@dataclass(frozen=True, slots=True)
class ItemContent:
    """The content of the page for one item.

    Attributes:
        item: The item's description.
        parts: What studies computed.
        findings: Findings about the paper.
        departures: How moot departs from the paper.
        needs: The experiments, models and data that filling it needs.
        commands: The commands that fill it.
    """

    item: PaperItem
    parts: Sequence[Part] = ()
    findings: Sequence[str] = ()
    departures: Sequence[str] = ()
    needs: Sequence[str] = ()
    commands: Sequence[str] = ()

    @property
    def warnings(self) -> list[str]:
        """What readers must know before they read its own values.

        A warning names made-up data or models. A sample that is the paper's own data has none, so
        that the paper uses other data than those that are named.
        """
        warnings = join_notes(chain.from_iterable(notes_on(self.parts)))
        other_data = (SYNTHETIC, SAMPLE)
        return [
            f"{warning} The paper uses other data." if warning.startswith(other_data) else warning
            for warning in warnings
        ]

    @property
    def mark(self) -> str:
        """The mark across a figure whose own points are made up; "" for none."""
        points = [part for part in self.parts if isinstance(part, Series)]
        published_points = [()] if self.item.entry.get("points") else []
        return made_up_mark([*notes_on(points), *published_points])


def notes_on(parts: Iterable[Part]) -> list[tuple[str, ...]]:
    """Return the remarks on made-up inputs of each part that has values."""
    with_values = (OwnRow, Series, Example)
    return [part.made_up for part in parts if isinstance(part, with_values)]


@dataclass(frozen=True, slots=True)
class InText:
    """What stands in a paper's text.

    Attributes:
        findings: Findings about it.
        values: What a number of the text counts, the number, and what this run has.
        clauses: What its appendix shows, as this run has it.
    """

    findings: tuple[str, ...] = ()
    values: tuple[tuple[str, str, str], ...] = ()
    clauses: tuple[Clauses, ...] = ()


NOTHING_IN_TEXT = InText()


def read_text(parts: Sequence[Part], findings: Sequence[str], published: pd.DataFrame) -> InText:
    """Return what a paper's text and appendix show, beside what this run has."""
    own_texts: dict[str, list[str]] = {}
    for part in parts:
        if isinstance(part, Fact):
            own_texts.setdefault(part.row, []).append(part.text)
    clauses = tuple(part for part in parts if isinstance(part, Clauses))
    return InText(tuple(findings), tuple(values_in_text(published, own_texts)), clauses)


def values_in_text(
    published: pd.DataFrame, own_texts: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, str, str]]:
    """Yield what a paper's text states in numbers, with each number and what this run has."""
    in_text = published[published["table"].str.startswith("text")]
    columns = ["row", "metric", "value", "n", "note"]
    for row, metric, value, n, name in in_text[columns].itertuples(index=False, name=None):
        of_all = f" of {n:g}" if n > value > 1 else ""
        yield name, f"{value:g}{of_all}", "; ".join(own_texts.get(f"{row}/{metric}", ()))


def item_files(item: PaperItem) -> list[str]:
    """Return the files of an item, below `results/papers/PAPER/`."""
    return [f"{item.key}.{ending}" for ending in PAGE_ENDINGS[item.kind]]


def paper_files(paper: Paper) -> list[str]:
    """Return the page and all files of a paper."""
    files = [f"results/papers/{paper.name}.html", f"results/papers/{paper.name}/{SCORES}"]
    for item in paper.items:
        files += [f"results/papers/{paper.name}/{name}" for name in item_files(item)]
    return files


def write_page(
    paper: Paper,
    contents: Sequence[ItemContent],
    published: PublishedValues,
    folder: Path,
    is_rehearsal: bool = False,
    in_text: InText = NOTHING_IN_TEXT,
) -> None:
    """Write the page of a paper, and the files of its items.

    Args:
        paper: The paper.
        contents: Its items, in order.
        published: All published values of its studies.
        folder: The folder `results/papers`.
        is_rehearsal: Whether the run is a rehearsal.
        in_text: What the section "In the text" shows.
    """
    target = folder / paper.name
    target.mkdir(parents=True, exist_ok=True)
    blocks = [_write_item(paper, content, published, target, is_rehearsal) for content in contents]
    notes = [notes_on(content.parts) for content in contents]
    warnings = join_notes(chain.from_iterable(chain.from_iterable(notes)))
    template = page_template("paper.html", TEMPLATES)
    appendix = [_clauses_block(part) for part in in_text.clauses]
    page = template.render(
        paper=paper,
        blocks=blocks,
        tables=sum(item.number.startswith("Table") for item in paper.items),
        figures=sum(item.number.startswith("Figure") for item in paper.items),
        rehearsal_note=REHEARSAL_NOTE if is_rehearsal else "",
        warnings=warnings,
        in_text=in_text,
        appendix=appendix,
        made_up_kinds=", ".join(warning.partition(":")[0] for warning in warnings),
    )
    write_atomically(folder / f"{paper.name}.html", page)


def _write_item(
    paper: Paper,
    content: ItemContent,
    published: PublishedValues,
    target: Path,
    is_rehearsal: bool,
) -> dict[str, object]:
    """Write the files of an item and return its part of the page."""
    item = content.item
    block: dict[str, object] = {"content": content, "item": item, "has_values": False}
    grid: Grid | None = None
    if item.kind in ("table", "facts"):
        grid = build_grid(item, published, content.parts)
        findings = (f"Found in the paper: {finding}" for finding in content.findings)
        notes = [note for note in (item.note, *findings, *content.departures) if note]
        notes = [*content.warnings, *notes]
        if is_rehearsal:
            notes = [REHEARSAL_NOTE, *notes]
        write_csv(values_frame(grid), target / f"{item.key}.csv", is_rehearsal)
        if item.kind == "table":
            write_csv(intervals_frame(grid), target / f"{item.key}.intervals.csv", is_rehearsal)
        write_atomically(target / f"{item.key}.tex", latex_source(paper, grid, notes))
        block |= {"grid": grid, "groups": _heading_groups(grid), "has_values": grid.has_own_values}
    elif item.kind == "figure":
        series = series_of(item, published, content.parts)
        mark = REHEARSAL_MARK if is_rehearsal else content.mark
        draw_chart(item, series, target / f"{item.key}.svg", mark)
        write_csv(points_frame(series), target / f"{item.key}.csv", is_rehearsal)
        has_own = any(part.source != PUBLISHED for part in series)
        block |= {"image": f"{paper.name}/{item.key}.svg", "has_values": has_own}
        block["has_points"] = bool(series)
    elif item.kind == "diagram":
        block |= _write_diagrams(content, target / f"{item.key}.svg")
    else:
        block |= _write_example(paper, content, published, target, is_rehearsal)
    has_rows = bool(block["has_values"]) or bool(grid and grid.own_rows)
    block["is_drawn"] = item.kind in KINDS_FROM_DESIGN and block["has_values"]
    block["is_filled"] = item.kind not in KINDS_FROM_DESIGN and block["has_values"]
    block["reason"] = _reason_without_values(item, has_rows, is_rehearsal)
    return block


def _reason_without_values(item: PaperItem, has_rows: bool, is_rehearsal: bool) -> str:
    """Return why an item, or a part of it, has no value of this run; "" if none is missing."""
    if is_rehearsal and item.datasets:
        return "A rehearsal trains no models, so rows of trained models have only published values."
    if has_rows or item.is_quoted:
        return ""
    return "This run has no values for this item; the command below fills it."


def _heading_groups(grid: Grid) -> list[tuple[str, int]]:
    """Return the headings above columns, each with its number of columns; [] without groups."""
    groups = column_groups(column.group for column in grid.item.columns)
    return groups if any(name for name, _ in groups) else []


def _write_diagrams(content: ItemContent, path: Path) -> dict[str, object]:
    diagrams = [part for part in content.parts if isinstance(part, Diagram)]
    clauses = [part for part in content.parts if isinstance(part, Clauses)]
    drawings = [
        {"title": part.title, "svg": diagram_svg([part]), "notes": part.notes} for part in diagrams
    ]
    lists = [_clauses_block(part) for part in clauses]
    write_atomically(path, diagram_svg(diagrams or [*map(_clauses_diagram, clauses[:1])]))
    return {"drawings": [*drawings, *lists], "has_values": bool(drawings or lists)}


def _clauses_block(part: Clauses) -> dict[str, object]:
    return {"title": part.title, "svg": clauses_html(part), "notes": part.notes}


def _clauses_diagram(clauses: Clauses) -> Diagram:
    """Return clauses as a diagram of one column."""
    steps = [Step("Prompt", f"{name}: {text}") for name, text in clauses.clauses]
    return Diagram(clauses.title, ("Prompt",), tuple(steps))


def _write_example(
    paper: Paper,
    content: ItemContent,
    published: PublishedValues,
    target: Path,
    is_rehearsal: bool,
) -> dict[str, object]:
    item = content.item
    table = build_example(item, published, content.parts)
    write_csv(example_frame(table), target / f"{item.key}.csv", is_rehearsal)
    notes = [REHEARSAL_NOTE] if is_rehearsal else []
    notes += [*content.warnings, *filter(None, [item.note])]
    source = example_latex(paper, item, table, notes)
    write_atomically(target / f"{item.key}.tex", source)
    return {"example": table, "has_values": bool(table.title)}


def write_csv(frame: pd.DataFrame, path: Path, is_rehearsal: bool) -> None:
    """Write a table as CSV; each row of a rehearsal says so."""
    csv_frame = frame.copy()
    if is_rehearsal:
        csv_frame.insert(len(csv_frame.columns), "voices", REHEARSAL_MARK)
    write_atomically(path, csv_frame.map(csv_cell).to_csv(index=False, lineterminator="\n"))
