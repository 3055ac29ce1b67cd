"""A paper's example: a debate by step, with a column for each debater."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from moot.core.types import Fields
from moot.papers.charts import PUBLISHED
from moot.papers.items import PaperItem
from moot.papers.parts import Example, Part
from moot.report.published import PublishedValues

JUDGE_COLUMN = "judge"


@dataclass(frozen=True, slots=True)
class ExampleLine:
    """A row of the table: one text for all columns, or a text for each debater."""

    step: str
    is_published: bool
    texts: Sequence[str]


@dataclass(frozen=True, slots=True)
class ExampleTable:
    """The paper's example and an example of this run.

    Attributes:
        seats: The debaters, a column each: the paper's, then those that only this run has.
        lines: The rows, by step, the paper's first.
        title: The experiment, model and case of this run; "" if it has no example.
    """

    seats: Sequence[str]
    lines: Sequence[ExampleLine]
    title: str


def build_example(
    item: PaperItem, published: PublishedValues, parts: Sequence[Part]
) -> ExampleTable:
    """Return the table of an item from the paper's rows and the first example of this run.

    A printed number stands in the published values; a text names its row in braces.
    """
    examples = [part for part in parts if isinstance(part, Example)]
    own, *_ = [*examples, Example("", ())]
    seats = [str(seat) for seat in item.entry["seats"]]
    for row in own.rows:
        if len(row.cells) > 1:
            seats += sorted(row.cells.keys() - set(seats))
    lines: list[ExampleLine] = []
    for step in item.entry["steps"]:
        head = str(step["head"])
        for texts in _printed_texts(item, step, published):
            empty_cells = [""] * (len(seats) - len(texts) if len(texts) > 1 else 0)
            lines.append(ExampleLine(head, True, [*texts, *empty_cells]))
        for row in own.rows:
            if row.step == head:
                has_columns = not set(seats).isdisjoint(row.cells)
                texts = [row.cells.get(seat, "") for seat in seats]
                whole_text = "\n\n".join(row.cells.values())
                lines.append(ExampleLine(head, False, texts if has_columns else [whole_text]))
    return ExampleTable(seats, lines, own.title)


def _printed_texts(
    item: PaperItem, step: Fields, published: PublishedValues
) -> Iterator[list[str]]:
    """Yield the paper's texts of each row of a step, with the printed numbers."""
    numbers = {
        row: f"{value:g}"
        for (table, row, _), value in published.items()
        if table == item.published_table
    }
    for printed in step["paper"]:
        texts = [printed] if isinstance(printed, str) else printed
        yield [text.format_map(numbers) if numbers else text for text in texts]


def first_debate(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Return the utterances of the first model's first debate."""
    _, debate = next(iter(transcripts.groupby(["model", "debate_id"], sort=False)))
    return debate


def excerpt(text: str, max_chars: int) -> str:
    """Return a text whose end is cut off after a number of characters."""
    return text if len(text) <= max_chars else f"{text[:max_chars]} […]"


def example_frame(table: ExampleTable) -> pd.DataFrame:
    """Return the table for CSV.

    Returns:
        One row for each row of the table: source, step, judge (a text that spans all columns), and
        a column for each debater.
    """
    rows = []
    for line in table.lines:
        is_spanning = len(line.texts) == 1
        cells = [*line.texts, *[""] * len(table.seats)] if is_spanning else ["", *line.texts]
        rows.append((PUBLISHED if line.is_published else table.title, line.step, *cells))
    return pd.DataFrame(rows, columns=["source", "step", JUDGE_COLUMN, *table.seats])
