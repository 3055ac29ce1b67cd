"""Missing data of the papers' items stop a run before a model is asked."""

from pathlib import Path

import pytest

from moot.core.errors import UserError
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.datasets import LOADERS
from moot.jobs.item_data import fetch_item_data
from moot.papers.items import items_file, read_papers
from moot.papers.selection import (
    OWN_SOURCES,
    add_paper_experiments,
    needed_experiments,
    own_sources,
)
from moot.plan.as_published import paper_plan
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]


def loaders_of_items() -> dict[str, list[str]]:
    """Return the loaders that download, by item."""
    plan, loaders = paper_plan(PROJECT), dict[str, list[str]]()
    for paper in read_papers(items_file(PROJECT)).values():
        for item in paper.items:
            names = {
                plan.config.experiments[name].dataset
                for name in needed_experiments([item], PROJECT)
            }
            options = {name: plan.datasets[name] for name in {*names, *item.datasets}}
            loaders[item.name] = sorted(
                option.loader or name
                for name, option in options.items()
                if option.source == "download"
            )
    return {name: names for name, names in loaders.items() if names}


LOADERS_OF_ITEMS = loaders_of_items()


def plan_of(item: str, data_root: Path, source: str) -> Plan:
    datasets = dict.fromkeys(LOADERS_OF_ITEMS[item], source)
    config = merge_over_defaults({"data_root": str(data_root)}, default_files(PROJECT))
    config["papers"] = {"items": item, "cases": 1, "datasets": datasets}
    add_paper_experiments(config, PROJECT)
    return Plan.from_yaml(config, PROJECT)


def refuse(url: str) -> bytes:
    raise OSError(f"no route to {url[:8]}")


def test_the_data_of_all_papers_but_the_first_are_downloaded() -> None:
    assert len(LOADERS_OF_ITEMS) == 21


@pytest.mark.parametrize("item", LOADERS_OF_ITEMS)
def test_missing_data_are_named_with_a_remedy(item: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        plan = plan_of(item, tmp_path, "download")
        fetch_item_data(plan, LOADERS_OF_ITEMS[item], plan.datasets_used, refuse)
    message = str(caught.value)
    assert message.startswith("papers: data are missing; no model was asked.")
    for loader in LOADERS_OF_ITEMS[item]:
        assert f"{loader}: {own_sources(LOADERS[loader].options)[0]}" in message
    assert "could not be downloaded" in message and "source to local" in message


@pytest.mark.parametrize("item", LOADERS_OF_ITEMS)
def test_missing_local_files_are_named_with_a_remedy(item: str, tmp_path: Path) -> None:
    plan = plan_of(item, tmp_path, "local")
    with pytest.raises(UserError) as caught:
        fetch_item_data(plan, [], plan.datasets_used, refuse)
    message = str(caught.value)
    assert message.startswith("papers: data are missing; no model was asked.")
    for loader in LOADERS_OF_ITEMS[item]:
        fault = f"no file of data set '{loader}', expected the files that data/raw/README.md lists"
        assert fault in message


@pytest.mark.parametrize("item", LOADERS_OF_ITEMS)
def test_data_that_come_with_moot_are_never_missing(item: str, tmp_path: Path) -> None:
    config = merge_over_defaults({"data_root": str(tmp_path)}, default_files(PROJECT))
    datasets = {name: own_sources(LOADERS[name].options)[0] for name in LOADERS_OF_ITEMS[item]}
    config["papers"] = {"items": item, "cases": 1, "datasets": datasets}
    add_paper_experiments(config, PROJECT)
    plan = Plan.from_yaml(config, PROJECT)
    assert all(plan.datasets[name].source in OWN_SOURCES for name in plan.datasets_used)
    fetch_item_data(plan, [], plan.datasets_used, refuse)


def test_files_in_place_are_not_downloaded_again(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="found other content"):
        path = tmp_path / "nlsy97" / "nlsy97_full.csv"
        path.parent.mkdir()
        path.write_text("mine\n", encoding="utf-8")
        fetch_item_data(plan_of("courtroom/table4", tmp_path, "download"), ["nlsy97"], [], refuse)
    assert path.read_text(encoding="utf-8") == "mine\n"
