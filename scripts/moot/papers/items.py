"""The description of the papers' items, read from `data/published/items.yaml`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from moot.core.errors import UserError, unknown_name
from moot.core.types import JsonObject
from moot.core.yaml_text import load_yaml

KINDS = {
    "table": "Table",
    "facts": "Table",
    "example": "Table",
    "figure": "Figure",
    "diagram": "Figure",
}
"""Kind of an item to the word in its number."""
EXAMPLE = "example"
"""The kind of an item that shows one case, whose experiments fill no other item."""
ITEM_KEYS = ("digits", "is_percent")
"""Keys that may stand at the item for all its cells."""


@dataclass(frozen=True, slots=True)
class CellSpec:
    """The content of one cell, or of each cell of a column or row.

    Attributes:
        published: The metrics of the published values; `TABLE:METRIC` for another table.
        score: Our scores, as `metric/average@group`; one for each published metric.
        part: Which run of a row fills the cell, such as a protocol or a data set.
        form: The cell's text with `{}` for each value.
        text: A text that the paper prints in place of a value.
        fact: The name of the fact that a study states in the cell.
        digits: The number of decimals.
        is_percent: Whether values are shown in per cent.
        is_trimmed: Whether published values are shown without zeros at the end.
    """

    published: tuple[str, ...] = ()
    score: tuple[str, ...] = ()
    part: str = ""
    form: str = "{}"
    text: str = ""
    fact: str = ""
    digits: int = 2
    is_percent: bool = False
    is_trimmed: bool = False

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "CellSpec":
        """Return the content that the keys of the file describe."""
        values = {key.name: entry[key.name] for key in fields(cls) if key.name in entry}
        for name in ("published", "score"):
            value = values.get(name, ())
            values[name] = (value,) if isinstance(value, str) else tuple(value)
        return cls(**values)

    @property
    def scores(self) -> tuple[str, ...]:
        """Our scores. By default they are named as the published metrics."""
        return self.score or tuple(name.rpartition(":")[2] for name in self.published)


@dataclass(frozen=True, slots=True)
class PaperColumn:
    """A column of a paper's table: its heading and the heading above several columns."""

    head: str
    group: str
    entry: JsonObject

    @property
    def name(self) -> str:
        """Both headings in one line, for CSV files."""
        return f"{self.group} {self.head}".strip()


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row of a paper's table: its key in the published values, and its head cells.

    The key `own_heads` of the file replaces head cells that the paper prints wrongly, in own rows.
    """

    key: str
    heads: tuple[str, ...]
    entry: JsonObject

    @property
    def own_heads(self) -> tuple[str, ...]:
        """The head cells of own rows."""
        return tuple(self.entry.get("own_heads", self.heads))


@dataclass(frozen=True, slots=True)
class PaperItem:
    """A numbered table or figure of a paper.

    Attributes:
        name: `PAPER/table4`.
        kind: table, figure, diagram, facts or example.
        title: The paper's caption.
        published: The study and table of its published values, `STUDY/TABLE`; "" for none.
        experiments: The experiments of config/papers/PAPER.yaml that fill it.
        datasets: The data sets whose trained models fill it.
        models: The models of the design that it shows; () for all.
        is_one_system: Whether the whole table describes one system, so that own values form a block
            of rows and not a single row.
        row_heads: The headings of the head cells.
        rows, columns: The rows and columns.
        note: A remark on its form.
        entry: All keys of the file.
    """

    name: str
    kind: str
    title: str
    published: str = ""
    experiments: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    is_one_system: bool = False
    row_heads: tuple[str, ...] = ()
    rows: tuple[PaperRow, ...] = ()
    columns: tuple[PaperColumn, ...] = ()
    note: str = ""
    entry: JsonObject = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The paper's name."""
        return self.name.partition("/")[0]

    @property
    def key(self) -> str:
        """Its name within the paper, such as `table4`."""
        return self.name.partition("/")[2]

    @property
    def published_table(self) -> str:
        """The table of its published values, without the study."""
        return self.published.partition("/")[2]

    @property
    def is_quoted(self) -> bool:
        """Whether no run fills it: its values are quoted from other work or are of the data."""
        return not self.experiments and not self.datasets

    @property
    def number(self) -> str:
        """Its number as the paper prints it, such as `Table 4`."""
        return f"{KINDS[self.kind]} {self.key.lstrip('abcdefghijklmnopqrstuvwxyz')}"

    def cell(self, row: PaperRow, column: PaperColumn) -> CellSpec:
        """Return a cell's content: the merged keys of item, column, row and cell."""
        of_item = {name: self.entry[name] for name in ITEM_KEYS if name in self.entry}
        of_cell = row.entry.get("cells", {}).get(column.name, {})
        return CellSpec.of({**of_item, **column.entry, **row.entry, **of_cell})


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper with its items, in its own order.

    Attributes:
        invalid: What becomes of invalid answers.
        prompts: The name of the paper in `prompts.csv`.
    """

    name: str
    short: str
    title: str
    source: str
    invalid: str
    studies: tuple[str, ...]
    items: tuple[PaperItem, ...]
    prompts: str


def items_file(shipped: Path) -> Path:
    """Return the file that describes the items."""
    return shipped / "data" / "published" / "items.yaml"


def paper_pages(shipped: Path) -> dict[str, str]:
    """Return the address of each paper's page below `results/`, with the paper's short name."""
    papers = read_papers(items_file(shipped))
    return {f"papers/{name}.html": paper.short for name, paper in papers.items()}


@cache
def read_papers(path: Path) -> dict[str, Paper]:
    """Read the papers with their items.

    Raises:
        UserError: An item names a paper that the file does not describe, or a kind that does not
            exist.
    """
    raw = load_yaml(path.read_text(encoding="utf-8"))
    items = [_read_item(path, name, entry) for name, entry in raw["items"].items()]
    for item in items:
        if item.paper not in raw["papers"]:
            raise UserError(f"{path}: item {item.name} belongs to no paper of `papers`.")
    papers: dict[str, Paper] = {}
    for name, entry in raw["papers"].items():
        of_paper = tuple(item for item in items if item.paper == name)
        texts = (entry["short"], entry["title"], entry["source"], entry["invalid"])
        prompts = entry.get("prompts", name)
        papers[name] = Paper(name, *texts, tuple(entry["studies"]), of_paper, prompts)
    return papers


def _read_item(path: Path, name: str, entry: JsonObject) -> PaperItem:
    kind = entry.get("kind")
    if kind not in KINDS:
        raise UserError(f"{path}: item {name}: kind '{kind}', expected {', '.join(KINDS)}.")
    rows = [
        PaperRow(str(row.get("key", "")), tuple(row["heads"]), row) for row in entry.get("rows", ())
    ]
    columns = [
        PaperColumn(column["head"], column.get("group", ""), column)
        for column in entry.get("columns", ())
    ]
    lists = ("experiments", "datasets", "models", "row_heads")
    return PaperItem(
        name=name,
        kind=kind,
        title=entry["title"],
        published=entry.get("published", ""),
        is_one_system=entry.get("rows_are") == "measures",
        rows=tuple(rows),
        columns=tuple(columns),
        note=" ".join(entry.get("note", "").split()),
        entry=entry,
        **{key: tuple(entry.get(key, ())) for key in lists},
    )


def select_items(papers: Mapping[str, Paper], names: list[str]) -> Iterator[PaperItem]:
    """Yield the items that some names select, each once and in order.

    A name is an item, a paper or `all`.

    Raises:
        UserError: A name matches nothing; the message names the nearest one.
    """
    items_by_name: dict[str, list[PaperItem]] = {"all": []}
    for paper in papers.values():
        items_by_name["all"] += paper.items
        items_by_name[paper.name] = list(paper.items)
        items_by_name |= {item.name: [item] for item in paper.items}
    selected: list[PaperItem] = []
    for name in names:
        if name not in items_by_name:
            raise unknown_name("item of a paper", name, items_by_name)
        selected += items_by_name[name]
    yield from (item for item in items_by_name["all"] if item in selected)
