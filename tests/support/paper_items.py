"""The papers' items and published values, as moot ships them."""

from moot.papers import fill_item
from moot.papers.items import PaperItem, items_file, read_papers
from moot.papers.parts import Design, OwnRow, Part
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from project_copy import PROJECT

PAPERS = read_papers(items_file(PROJECT))
ITEMS: dict[str, PaperItem] = {}
for paper in PAPERS.values():
    ITEMS |= {item.name: item for item in paper.items}
PUBLISHED = read_published(PROJECT / "data" / "published" / "published_results.csv")


def fill(name: str, study: StudyResults, *designs: Design, **models: str) -> list[Part]:
    """Return the parts of an item, or of the numbers in a paper's text, from a study's results."""
    item = ITEMS.get(name) or PaperItem(name, "facts", "In the text")
    return fill_item(item, {study.study: study}, designs, models)


def own_values(row: Part) -> dict[str, float]:
    """Return the values of a row by score, with its part where it has parts."""
    assert isinstance(row, OwnRow)
    return {"/".join(filter(None, key)): cell.value for key, cell in row.cells.items()}
