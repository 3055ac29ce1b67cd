"""A paper's example: a debate by step, with a column for each debater."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from moot.papers.charts import PUBLISHED
from moot.papers.grid import PublishedValues
from moot.papers.items import PaperItem
from moot.papers.parts import Example, ExampleRow, Part

JUDGE_COLUMN = "judge"


@dataclass(frozen=True, slots=True)
class ExampleStep:
    """A step of the table: its heading, the paper's rows and the rows of this run."""

    head: str
    published: tuple[ExampleRow, ...]
    own: tuple[ExampleRow, ...]


@dataclass(frozen=True, slots=True)
class ExampleTable:
    """The paper's example and an example of this run.

    Attributes:
        seats: The debaters, a column each: the paper's, then those that only this run has.
        steps: The steps in order.
        title: The experiment, model and case of this run; "" if it has no example.
    """

    seats: tuple[str, ...]
    steps: tuple[ExampleStep, ...]
    title: str

    def row_texts(self, row: ExampleRow) -> list[str]:
        """Return one text for all columns, or a text for each column."""
        if any(seat in self.seats for seat in row.cells):
            return [row.cells.get(seat, "") for seat in self.seats]
        return ["\n\n".join(row.cells.values())]


def build_example(
    item: PaperItem, published: PublishedValues, parts: Sequence[Part]
) -> ExampleTable:
    """Return the table of an item from the paper's rows and the first example of this run.

    A printed number stands in the published values; a text names its row in braces.
    """
    table = item.published.partition("/")[2]
    numbers = {
        row: f"{value:g}" for (of_table, row, _), value in published.items() if of_table == table
    }
    paper_seats = [str(seat) for seat in item.entry["seats"]]
    examples = [part for part in parts if isinstance(part, Example)]
    title, own_rows = (examples[0].title, examples[0].rows) if examples else ("", ())
    own_seats: set[str] = set()
    for row in own_rows:
        if len(row.cells) > 1:
            own_seats |= set(row.cells)
    seats = tuple(dict.fromkeys([*paper_seats, *sorted(own_seats)]))
    steps = []
    for step in item.entry["steps"]:
        head = str(step["head"])
        published_rows = [
            _published_row(head, _with_numbers(texts, numbers), paper_seats)
            for texts in step["paper"]
        ]
        own_rows_of_step = tuple(row for row in own_rows if row.step == head)
        steps.append(ExampleStep(head, tuple(published_rows), own_rows_of_step))
    return ExampleTable(seats, tuple(steps), title)


def _with_numbers(texts: str | Sequence[str], numbers: Mapping[str, str]) -> str | list[str]:
    if isinstance(texts, str):
        return texts
    filled_texts = list(texts)
    for row, number in numbers.items():
        filled_texts = [text.replace(f"{{{row}}}", number) for text in filled_texts]
    return filled_texts


def _published_row(step: str, texts: str | Sequence[str], seats: Sequence[str]) -> ExampleRow:
    if isinstance(texts, str):
        return ExampleRow(step, {JUDGE_COLUMN: texts})
    return ExampleRow(step, dict(zip(seats, texts, strict=True)))


def example_frame(table: ExampleTable) -> pd.DataFrame:
    """Return the table for CSV.

    Returns:
        One row for each row of the table: source, step, judge (a text that spans all columns), and
        a column for each debater.
    """
    rows = []
    for step in table.steps:
        for source, rows_of_source in ((PUBLISHED, step.published), (table.title, step.own)):
            for row in rows_of_source:
                texts = table.row_texts(row)
                empty_cells = [""] * len(table.seats)
                cells = [*texts, *empty_cells] if len(texts) == 1 else ["", *texts]
                rows.append((source, step.head, *cells))
    return pd.DataFrame(rows, columns=["source", "step", JUDGE_COLUMN, *table.seats])
