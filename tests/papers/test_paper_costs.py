"""The costs of items: a row for each, on its place on the page and in docs/papers.md."""

import importlib
from itertools import chain, product
from pathlib import Path
from typing import Any

import pytest

from moot.core.errors import UserError
from moot.jobs.papers import describe_costs, item_commands
from moot.papers.costs import ItemCost, costs_file, costs_of, read_costs
from moot.papers.items import PaperItem, items_file, read_papers
from moot.papers.selection import needed_experiments

PROJECT = Path(__file__).resolve().parents[2]
PAPERS = read_papers(items_file(PROJECT)).values()
ITEMS = list(chain.from_iterable(paper.items for paper in PAPERS))
COSTS = read_costs(costs_file(PROJECT))
LONG = "at most 40 (estimate)"
"""(1,500 x 0.7 s + 2,000,000 / 112 s) / 8, in minutes."""
DOCS = (PROJECT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_each_item_has_a_row_of_each_design() -> None:
    assert len(ITEMS) == 38
    assert set(COSTS) == set(product((item.name for item in ITEMS), ("full", "lean")))


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_the_page_states_the_cost_of_an_item(item: PaperItem) -> None:
    full, lean = costs_of(PROJECT, item)
    has_debates = item.kind not in ("diagram", "facts") and bool(
        needed_experiments([item], PROJECT)
    )
    assert (full.calls > 0) == has_debates
    text = " ".join(describe_costs(PROJECT, item))
    assert ("US$" in text) == has_debates
    assert ("Lean design" in text) == bool(item.lean) == ("design: lean" in item_commands(item))
    if not item.lean:
        assert full == lean
    elif lean.calls == full.calls:
        assert lean.completion_tokens < full.completion_tokens
    assert lean.calls <= full.calls and lean.usd <= full.usd


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_the_list_of_items_has_needs_prices_minutes_and_command(item: PaperItem) -> None:
    [row] = [line for line in DOCS.splitlines() if line.startswith(f"| `{item.name}` |")]
    cells = [cell.strip() for cell in row.replace("\\|", "").strip("|").split("|")]
    assert len(cells) == 8
    full, lean = costs_of(PROJECT, item)
    assert cells[3] == full.price
    assert cells[4] == (lean.price if item.lean else "the same")
    assert cells[5] == full.duration
    assert cells[6] == (lean.duration if item.lean else "the same")
    assert cells[7].startswith("`snakemake ")
    assert ("estimate" in cells[5]) == (full.calls > 0), "minutes without calls are measured"


def test_the_panels_of_triem_cost_a_call_a_statement_and_label() -> None:
    calls = {name: COSTS["appellate/table1", name].calls for name in ("full", "lean")}
    statements = 100 * 3 * 3
    assert calls["lean"] == 100 * 3 + statements + 100 * 2 * 3
    assert calls["full"] == calls["lean"] + 3 * statements


@pytest.mark.parametrize("item", ["decision_conference/table5", "appellate/table2"])
def test_the_costs_are_those_of_a_preview(
    item: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "benchmarks"))
    script: Any = importlib.import_module("paper_items")
    monkeypatch.chdir(tmp_path)
    caselaw = tmp_path / script.CASELAW
    caselaw.parent.mkdir(parents=True)
    caselaw.write_text("", encoding="utf-8")  # the items' own data ship with moot
    counter = script.ItemCounter(tmp_path, tmp_path)
    [described] = [one_item for one_item in ITEMS if one_item.name == item]
    row = counter.count(described, "lean")
    cost = COSTS[item, "lean"]
    assert row["calls"] == cost.calls
    assert row["usd"] == pytest.approx(cost.usd, rel=0.01)


def test_an_item_without_a_row_is_an_error(tmp_path: Path) -> None:
    path = costs_file(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text("item,design,calls,prompt_tokens,completion_tokens,usd,minutes\n")
    with pytest.raises(UserError, match=r"no row for item appellate/figure1\. Count it"):
        costs_of(tmp_path, ITEMS[0])


@pytest.mark.parametrize(
    ("cost", "price", "duration"),
    [
        (ItemCost(0, 0, 0, 0, 0.4), "no model is asked", "0.4"),
        (ItemCost(1500, 1e6, 2e6, 1234.5, None), "at most US$ 1,234.50, 1,500 calls", LONG),
        (ItemCost(10, 1e6, 100, 0, None), "at most US$ 0.00, 10 calls", "less than 1 (estimate)"),
        (ItemCost(480, 0, 0, 0, None), "at most US$ 0.00, 480 calls", "less than 1 (estimate)"),
        (ItemCost(4800, 0, 0, 0, None), "at most US$ 0.00, 4,800 calls", "at most 7 (estimate)"),
    ],
)
def test_a_price_is_a_few_words(cost: ItemCost, price: str, duration: str) -> None:
    assert (cost.price, cost.duration) == (price, duration)
