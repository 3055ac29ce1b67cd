"""The papers' items and published values, as moot ships them."""

from moot.papers.items import PaperItem, items_file, read_papers
from moot.report.published import read_published
from project_copy import PROJECT

PAPERS = read_papers(items_file(PROJECT))
ITEMS: dict[str, PaperItem] = {}
for paper in PAPERS.values():
    ITEMS |= {item.name: item for item in paper.items}
PUBLISHED = read_published(PROJECT / "data" / "published" / "published_results.csv")
