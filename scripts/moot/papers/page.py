"""The page of a paper, and the files of its tables and figures."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from moot.core.durable import write_atomically
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.papers.charts import PUBLISHED, draw_chart, points_frame, series_of
from moot.papers.diagrams import diagram_svg
from moot.papers.examples import build_example, example_frame
from moot.papers.grid import Grid, GridCell, GridRow, build_grid, intervals_frame, values_frame
from moot.papers.items import Paper, PaperItem
from moot.papers.parts import Clauses, Diagram, Example, Fact, OwnRow, Part, Series, Step
from moot.papers.selection import KINDS_WITHOUT_DEBATES
from moot.report.escaping import csv_cell, page_template
from moot.report.figures import made_up_mark
from moot.report.latex import Bold, LatexColumn, column_groups, latex_table, table_label
from moot.report.notes import REHEARSAL_NOTE, join_notes
from moot.report.published import PublishedValues
from moot.scores.results import MadeUpInputs

TEMPLATES = Path(__file__).parent / "page"
PAGE_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "table": ("csv", "tex", "intervals.csv"),
    "facts": ("csv", "tex"),
    "example": ("csv",),
    "figure": ("svg", "csv"),
    "diagram": ("svg",),
}
"""Kind of an item to the endings of its files."""
INTERVALS = (
    "Brackets: 95 % intervals; Wilson's score interval for a share of independent cases, else a"
    " jackknife over clusters of cases, such as topics. Values that rest on fewer than two cases"
    " have none, nor have a trained model's precision and recall and cross-validated values. The"
    " cell of a class that is neither true nor predicted is empty."
)
SCORES = "scores.csv"
"""The file of a paper with all scores of its runs."""


def latex_source(
    paper: Paper, grid: Grid, notes: Sequence[str], remarks: Sequence[str] = ()
) -> str:
    """Return the source of a table: published values, this run's below them, own rows last.

    Notes stand under the table, remarks in the text after it.
    """
    item = grid.item
    columns = [LatexColumn(head) for head in item.row_heads]
    has_numbers = item.kind != "facts"
    columns += [LatexColumn(column.head, column.group, has_numbers) for column in item.columns]
    rows: list[tuple[str, ...]] = []
    for row in grid.paper_rows:
        rows.append((*row.heads, *map(_published_text, row.cells)))
        if row.has_own_values:
            no_heads = [""] * (len(item.row_heads) - 1)
            rows.append((_describe_source(row), *no_heads, *map(_own_text, row.cells)))
    if grid.own_rows:
        rows.append(())
    for row in grid.own_rows:
        if item.is_one_system and row.starts_block:
            rows.append((_describe_source(row),))
        heads = row.heads if item.is_one_system else _heads_with_data(row)
        rows.append((*heads, *map(_own_text, row.cells)))
    label = table_label(item.paper, item.key)
    return latex_table(columns, rows, _caption(paper, item), label, notes, remarks)


def _caption(paper: Paper, item: PaperItem) -> str:
    return f"{paper.short}, {item.number}: {item.title}"


def _published_text(cell: GridCell) -> str:
    return Bold(cell.published) if cell.is_bold else cell.published


def _own_text(cell: GridCell) -> str:
    own = cell.own_value
    mark = "*" if own.is_outside else ""
    strict = f"; {own.strict_text}" if own.strict_text else ""
    return f"{own.text}{mark} {own.interval_text}{strict}".strip()


def _heads_with_data(row: GridRow) -> tuple[str, ...]:
    return (f"{row.heads[0]} ({row.description})", *row.heads[1:])


def _describe_source(row: GridRow) -> str:
    return f"{row.source or 'configured'} ({row.description})" if row.own_row else row.source


@dataclass(frozen=True, slots=True)
class ItemContent:
    """The content of the page for one item.

    Attributes:
        item: The item's description.
        parts: What studies computed.
        findings: Findings about the paper.
        departures: How moot departs from the paper.
        untrained: The rows of trained models that stay empty, with the reasons.
        needs: The experiments, models and data that filling it needs.
        commands: The commands that fill it.
        text_values: What the paper's text states in numbers (`values_in_text`).
    """

    item: PaperItem
    parts: Sequence[Part] = ()
    findings: Sequence[str] = ()
    departures: Sequence[str] = ()
    untrained: Sequence[str] = ()
    needs: Sequence[str] = ()
    commands: Sequence[str] = ()
    text_values: Sequence[tuple[str, str, str]] = ()

    @property
    def warnings(self) -> list[str]:
        """What readers must know before they read its own values.

        A warning names made-up data or models. A sample that is the paper's own data has none, so
        that the paper uses other data than those that are named.
        """
        made_up = MadeUpInputs.of_all(made_up_inputs(self.parts))
        of_data = [f"{note} The paper uses other data." for note in join_notes(made_up.data)]
        return [*of_data, *join_notes(made_up.models)]

    @property
    def mark(self) -> str:
        """The mark across a figure whose own points are made up; "" for none."""
        points = [part for part in self.parts if isinstance(part, Series)]
        published_points = [()] if self.item.entry.get("points") else []
        notes = [inputs.notes for inputs in made_up_inputs(points)]
        return made_up_mark([*notes, *published_points])


def made_up_inputs(parts: Iterable[Part]) -> list[MadeUpInputs]:
    """Return the made-up inputs of each part that has values."""
    with_values = (OwnRow, Series, Example)
    return [part.made_up for part in parts if isinstance(part, with_values)]


def values_in_text(
    published: pd.DataFrame, parts: Iterable[Part]
) -> Iterator[tuple[str, str, str]]:
    """Yield what a paper's text states in numbers, with each number and what this run has."""
    own_texts: dict[str, list[str]] = {}
    for part in parts:
        if isinstance(part, Fact):
            own_texts.setdefault(part.row, []).append(part.text)
    in_text = published[published["table"].str.startswith("text")]
    columns = ["row", "metric", "value", "n", "note"]
    for row, metric, value, n, name in in_text[columns].itertuples(index=False, name=None):
        of_all = f" of {n:,g}" if n > value > 1 else ""
        yield name, f"{value:,g}{of_all}", "; ".join(own_texts.get(f"{row}/{metric}", ()))


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
    in_text: ItemContent | None = None,
) -> None:
    """Write the page of a paper, and the files of its items.

    Args:
        paper: The paper.
        contents: Its items, in order.
        published: All published values of its studies.
        folder: The folder `results/papers`.
        is_rehearsal: Whether the run is a rehearsal.
        in_text: What the text and the appendix show; a section without content is left out.
    """
    target = folder / paper.name
    target.mkdir(parents=True, exist_ok=True)
    blocks = [_write_item(paper, content, published, target, is_rehearsal) for content in contents]
    parts = chain.from_iterable(content.parts for content in contents)
    warnings = join_notes(MadeUpInputs.of_all(made_up_inputs(parts)).notes)
    template = page_template("paper.html", TEMPLATES)
    page = template.render(
        paper=paper,
        blocks=blocks,
        rehearsal_note=REHEARSAL_NOTE if is_rehearsal else "",
        warnings=warnings,
        in_text=in_text,
        intervals=INTERVALS,
        diagram_svg=diagram_svg,
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
        _write_table(paper, content, grid, target, is_rehearsal)
        block |= {
            "grid": grid,
            "groups": column_groups(column.group for column in item.columns),
            "has_values": grid.has_own_values,
        }
    elif item.kind == "figure":
        series = series_of(item, published, content.parts)
        mark = REHEARSAL_MARK if is_rehearsal else content.mark
        draw_chart(item, series, target / f"{item.key}.svg", mark)
        write_csv(points_frame(item, series), target / f"{item.key}.csv", is_rehearsal)
        has_own = any(part.source != PUBLISHED for part in series)
        block |= {"image": f"{paper.name}/{item.key}.svg", "has_values": has_own}
    elif item.kind == "diagram":
        block |= _write_diagrams(content, target / f"{item.key}.svg")
    else:
        example = build_example(item, published, content.parts)
        write_csv(example_frame(example), target / f"{item.key}.csv", is_rehearsal)
        block |= {"example": example, "has_values": bool(example.title)}
    has_rows = bool(block["has_values"]) or bool(grid and grid.own_rows)
    block["needs_no_debate"] = item.kind in KINDS_WITHOUT_DEBATES or item.is_quoted
    block["is_filled"] = block["has_values"] and not block["needs_no_debate"]
    block["reason"] = _reason_without_values(content, has_rows, is_rehearsal)
    return block


def _write_table(
    paper: Paper, content: ItemContent, grid: Grid, target: Path, is_rehearsal: bool
) -> None:
    item = content.item
    has_intervals = item.kind == "table" and grid.has_own_values
    notes = [REHEARSAL_NOTE if is_rehearsal else "", *content.warnings, item.note]
    notes.append(INTERVALS if has_intervals else "")
    remarks = [f"Found in the paper: {finding}" for finding in content.findings]
    remarks += content.departures
    source = latex_source(paper, grid, [*filter(None, notes)], remarks)
    write_atomically(target / f"{item.key}.tex", source)
    write_csv(values_frame(grid), target / f"{item.key}.csv", is_rehearsal)
    if item.kind == "table":
        write_csv(intervals_frame(grid), target / f"{item.key}.intervals.csv", is_rehearsal)


def _reason_without_values(content: ItemContent, has_rows: bool, is_rehearsal: bool) -> str:
    """Return why an item, or a part of it, has no value of this run; "" if none is missing."""
    item = content.item
    if is_rehearsal and item.datasets:
        return "A rehearsal trains no models, so rows of trained models have only published values."
    if has_rows or item.is_quoted:
        return ""
    remedy = "" if content.untrained else "; the command below fills it"
    return f"This run has no values for this item{remedy}."


def _write_diagrams(content: ItemContent, path: Path) -> dict[str, object]:
    diagrams = [part for part in content.parts if isinstance(part, Diagram)]
    clauses = [part for part in content.parts if isinstance(part, Clauses)]
    write_atomically(path, diagram_svg(diagrams or [*map(_clauses_diagram, clauses[:1])]))
    return {"drawings": [*diagrams, *clauses], "has_values": bool(diagrams or clauses)}


def _clauses_diagram(clauses: Clauses) -> Diagram:
    """Return clauses as a diagram of one column."""
    steps = [Step("Prompt", f"{name}: {text}") for name, text in clauses.clauses]
    return Diagram(clauses.title, ("Prompt",), tuple(steps))


def write_csv(frame: pd.DataFrame, path: Path, is_rehearsal: bool) -> None:
    """Write a table as CSV; each row of a rehearsal says so."""
    csv_frame = frame.copy()
    if is_rehearsal:
        csv_frame.insert(len(csv_frame.columns), "voices", REHEARSAL_MARK)
    write_atomically(path, csv_frame.map(csv_cell).to_csv(index=False, lineterminator="\n"))
