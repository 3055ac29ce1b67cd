"""Diagrams of protocols as SVG: a column for each seat, steps from above, arrows to readers."""

import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from jinja2 import StrictUndefined

from moot.core.types import JsonObject
from moot.core.yaml_text import load_yaml
from moot.papers.parts import Design, Diagram, ItemRun, Part, Step
from moot.report.escaping import html, page_template

COLUMN, GAP, MARGIN = 190, 26, 14
BAND, TURN = 36, 11
"""Height of a stage's name, and the distance from a row at which arrows turn."""
LINE, PADDING = 15, 8
CHARS = 22
"""Characters in a line of a box."""

STYLE = Path(__file__).parent / "page" / "diagram.css"


def draw_designs(run: ItemRun, template: Path, **values: object) -> Iterable[Part]:
    """Return diagrams of the paper's design and of this run's; one diagram if both are equal.

    Args:
        run: The item with its designs.
        template: The file that lists seats, steps and notes of a protocol as YAML, by its
            parameters. A step names the steps that it reads.
        values: Further values of the template.
    """
    designs: dict[tuple[bool, str], Design] = {}
    for design in run.designs:
        designs.setdefault((design.is_of_run, design.view.protocol), design)
    diagrams: dict[tuple[object, ...], Part] = {}
    for design in designs.values():
        source = page_template(template.name, template.parent, StrictUndefined)
        view = design.view
        text = source.render(params=view.params, protocol=view.protocol, **values)
        diagram = _read_diagram(load_yaml(text), design)
        diagrams.setdefault((diagram.seats, diagram.steps), diagram)
    return diagrams.values()


def _read_diagram(drawing: JsonObject, design: Design) -> Diagram:
    origin = "As configured" if design.is_of_run else "The paper's design as moot runs it"
    entries = [entry for entry in drawing["steps"] if "seat" in entry]
    places = {entry.get("name"): place for place, entry in enumerate(entries)}
    steps: list[Step] = []
    stage = ""
    for entry in drawing["steps"]:
        if "seat" in entry:
            reads = [places[name] for name in entry.get("reads") or ()]
            marks = {name: bool(entry.get(name)) for name in ("is_private", "is_simultaneous")}
            steps.append(Step(entry["seat"], entry["text"], tuple(reads), stage=stage, **marks))
        else:
            stage = entry["stage"]
    notes = tuple(drawing.get("notes") or ())
    return Diagram(f"{origin}: {design.experiment}", tuple(drawing["seats"]), tuple(steps), notes)


def diagram_svg(diagrams: Sequence[Diagram]) -> str:
    """Return diagrams as one SVG, from above.

    A box is a step of the seat above it; a dashed box is private. An arrow runs from a step to
    another seat's step that reads it, around the boxes between them; a step that only its own seat
    reads needs no arrow.
    """
    parts: list[str] = []
    width, height = 0, 0.0
    for diagram in diagrams:
        drawn_parts, bottom = _draw(diagram)
        parts += [f'<g transform="translate(0 {height:.0f})">', *drawn_parts, "</g>"]
        width = max(width, 2 * MARGIN + COLUMN * len(diagram.seats))
        height += bottom
    title = "; ".join(diagram.title for diagram in diagrams)
    size = f'viewBox="0 0 {width} {height:.0f}" width="{width}"'
    return "\n".join(
        [
            '<svg class="moot-diagram" xmlns="http://www.w3.org/2000/svg" role="img"'
            f' {size} aria-label="{html(title)}">',
            f"<style>{STYLE.read_text(encoding='utf-8')}</style>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7"'
            ' markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>',
            *parts,
            "</svg>",
        ]
    )


def _draw(diagram: Diagram) -> tuple[list[str], float]:
    """Return the elements of a diagram and its height."""
    width = 2 * MARGIN + COLUMN * len(diagram.seats)
    centres = {seat: MARGIN + COLUMN * (place + 0.5) for place, seat in enumerate(diagram.seats)}
    boxes: list[tuple[float, float, int]] = []
    row_bottoms: list[float] = []
    stage_lines: list[str] = []
    stage_names: list[str] = []
    y, stage = 46.0, ""
    for row in _rows(diagram.steps):
        if row[0].stage != stage:
            stage = row[0].stage
            place = f'x1="{MARGIN}" x2="{width - MARGIN}" y1="{y:.0f}" y2="{y:.0f}"'
            stage_lines.append(f'<line class="stage" {place}/>')
            place = f'x="{MARGIN}" y="{y + 14:.0f}"'
            stage_names.append(f'<text class="soft" {place}>{html(stage)}</text>')
            y += BAND
        height = max(map(_box_height, row))
        boxes += [(centres[step.seat], y, _box_height(step)) for step in row]
        row_bottoms += [y + height] * len(row)
        y += height + GAP
    parts: list[str] = []
    for seat, x in centres.items():
        parts.append(f'<line class="lane" x1="{x}" x2="{x}" y1="34" y2="{y - 4:.0f}"/>')
        parts.append(f'<text class="head" x="{x}" y="24">{html(seat)}</text>')
    parts += [*stage_lines, *_arrows(diagram, boxes, row_bottoms), *stage_names]
    for step, box in zip(diagram.steps, boxes, strict=True):
        parts += _box(step, *box)
    return parts, y + 4


def _rows(steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps by row; steps at the same time share one."""
    rows: list[list[Step]] = []
    for step in steps:
        if rows and step.is_simultaneous:
            rows[-1].append(step)
        else:
            rows.append([step])
    return rows


def _lines(step: Step) -> list[str]:
    return textwrap.wrap(step.text, CHARS) or [""]


def _box_height(step: Step) -> int:
    return LINE * len(_lines(step)) + 2 * PADDING


def _box(step: Step, x: float, top: float, height: int) -> list[str]:
    half = COLUMN / 2 - 10
    kind = "box private" if step.is_private else "box"
    place = f'x="{x - half}" y="{top:.0f}" width="{2 * half}" height="{height}"'
    parts = [f'<rect class="{kind}" rx="5" {place}/>']
    for number, line in enumerate(_lines(step)):
        y = top + PADDING + LINE * number + 11
        parts.append(f'<text x="{x - half + 8}" y="{y:.0f}">{html(line)}</text>')
    return parts


def _arrows(
    diagram: Diagram, boxes: list[tuple[float, float, int]], row_bottoms: list[float]
) -> list[str]:
    """Return the arrows.

    They turn between rows, and pass other rows in the space between two columns.
    """
    arrows = []
    for position, step in enumerate(diagram.steps):
        for source in step.reads:
            source_x, source_top, source_height = boxes[source]
            x, top, _ = boxes[position]
            path = f"M{source_x} {source_top + source_height:.0f}"
            is_blocked = any(
                box_x == source_x and row_bottoms[source] < box_top < top
                for box_x, box_top, _ in boxes
            )
            if top < source_top or is_blocked:
                passage = x - COLUMN / 2 if x > source_x else x + COLUMN / 2
                path += f"V{row_bottoms[source] + TURN:.0f}H{passage}"
            path += f"V{top - TURN:.0f}H{x}V{top:.0f}"
            arrows.append(f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>')
    return arrows
