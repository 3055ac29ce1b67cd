"""Count the costs of the papers' items: `python benchmarks/run.py paper_items.py DATA`.

DATA has the layout of data/raw/README.md. A preview counts at most 10 cases of each experiment, at
most twice each, and the counts are scaled to all debates. data/published/item_costs.csv has a row
for each item and design; `make docs` writes docs/papers.md from it.
"""

import argparse
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from claims import CASELAW, TESTED_AT_HAND

from moot.commands.preview import preview_rows
from moot.core.artifacts import read_cases
from moot.core.cases import open_cases
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.core.types import JsonObject
from moot.jobs.load import load_dataset
from moot.papers.items import PaperItem, items_file, read_papers
from moot.papers.selection import add_paper_experiments, needed_experiments
from moot.plan.plan import Plan

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "data" / "published" / "item_costs.csv"
PAGE_MINUTES = 0.1
"""Processor time of `snakemake papers` in an empty folder, for items that ask no model."""
TRAINING_MINUTES = {"courtroom/table2": 0.7, "courtroom/table3": 5.0}
"""Processor time of training on NLSY97, measured by hand; TabPFN without a GPU."""
MAX_CASES, MAX_REPEATS = 10, 2
LOCAL = ("nlsy97", "vast-nearest", "claim_stance", "claim_polarity", "agreement", "cail18")
"""The data sets that are read from DATA instead of being downloaded."""
PUBLISHED_CASES = {
    ("caselaw", "test"): 2000,
    ("caselaw", "train"): 750,
    ("cail18", "test"): 717,
    ("cail18", "train"): 600,
}
"""Cases of the published files, of which DATA may hold a part; the authors' script tests 2,000."""
COUNTS = ("calls_to_make", "prompt_tokens", "completion_tokens", "usd")
COLUMNS = ("item", "design", "calls", "prompt_tokens", "completion_tokens", "usd", "minutes")


def local_datasets(data: Path, folder: Path) -> JsonObject:
    """Return the key `datasets` that reads from DATA; CaseLaw's test cases end its file."""
    lines = (data / CASELAW).read_text("utf-8").splitlines(keepends=True)
    parts = {"train": lines[:-TESTED_AT_HAND], "test": lines[-TESTED_AT_HAND:]}
    files: JsonObject = {}
    for split, part in parts.items():
        path = folder / f"{split}.jsonl"
        path.write_text("".join(part), "utf-8")
        files[split] = str(path.resolve())
    datasets: JsonObject = {name: {"source": "local"} for name in LOCAL}
    return datasets | {"caselaw": {"source": "local", "files": files}}


class ItemCounter:
    """Counts the calls of items, with the data sets in a folder of results."""

    def __init__(self, data: Path, folder: Path) -> None:
        self._data, self._folder = data, folder
        self._datasets = local_datasets(data, folder)
        self._rows: dict[str, list[JsonObject]] = {}

    def count(self, item: PaperItem, design: str) -> JsonObject:
        """Return the row of an item."""
        names = needed_experiments([item], ROOT, is_lean=design == "lean")
        totals = dict.fromkeys(COUNTS, 0.0)
        if item.kind in ("diagram", "facts"):
            names = []
        if names:
            papers = {"items": item.name, "design": design, "datasets": self._datasets}
            for row in self._preview({"papers": papers}, names):
                for name in COUNTS:
                    totals[name] += row[name]
        minutes = "" if names else TRAINING_MINUTES.get(item.name, PAGE_MINUTES)
        row = {"item": item.name, "design": design, "minutes": minutes}
        return row | {name.removesuffix("_to_make"): round(totals[name], 2) for name in COUNTS}

    def _preview(self, keys: JsonObject, names: list[str]) -> Iterator[JsonObject]:
        """Yield the rows of a preview of some experiments, scaled to all cases."""
        config = merge_over_defaults(keys, default_files(ROOT))
        add_paper_experiments(config, ROOT)
        config |= {"run": names, "data_root": str(self._data), "shards": 1}
        config["ledger"] = str(self._folder / "ledger")
        whole = Plan.from_yaml(config, ROOT)
        for dataset in whole.datasets_used:
            self._load(whole, dataset)
        for name in names:
            _limit_cases(config["experiments"][name])
        key = repr([config["experiments"][name] for name in names])
        if key not in self._rows:
            plan = Plan.from_yaml(config, ROOT)
            self._rows[key] = preview_rows(plan, Path("results"))
            for row in self._rows[key]:
                scale = self._scale(whole, plan, row["experiment"])
                for name in COUNTS:
                    row[name] *= scale
        yield from self._rows[key]

    def _load(self, plan: Plan, dataset: str) -> None:
        path = Path("results") / "cases" / f"{dataset}.parquet"
        if not path.exists():
            outputs = (Path("results") / kind for kind in (f"{dataset}.features", f"{dataset}.csv"))
            load_dataset(plan.dataset_options(dataset), plan.load_context(dataset), path, *outputs)

    def _scale(self, whole: Plan, plan: Plan, experiment: str) -> float:
        """Return the number of debates of the design over the number that is counted."""
        sizes = []
        params = whole.view(experiment).params
        experiment = str(params.get("source_experiment") or experiment)  # as often as its source
        for one_plan in (whole, plan):
            config = one_plan.experiments[experiment].config
            cases = read_cases(Path("results") / "cases" / f"{config.dataset}.parquet")[0]
            at_hand = len(open_cases(cases, config.split))
            available = at_hand
            if one_plan is whole:
                key = (config.dataset.removeprefix("paper-"), config.split)
                available = PUBLISHED_CASES.get(key, at_hand)
            wanted = config.cases or available
            cases_of_plan = min(wanted, available) + config.calibration_cases
            sizes.append(cases_of_plan * config.repeats)
        return sizes[0] / sizes[1]


def _limit_cases(entry: dict[str, Any]) -> None:
    entry["cases"] = min(entry.get("cases") or MAX_CASES, MAX_CASES)
    if "repeats" in entry:
        entry["repeats"] = min(entry["repeats"], MAX_REPEATS)
    if "calibration_cases" in entry:
        entry["calibration_cases"] = min(entry["calibration_cases"], 2)


def main() -> None:
    """Count, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("papers", nargs="*", help="count these papers alone; the others stay")
    arguments = parser.parse_args()
    data = arguments.data.resolve()
    rows: list[JsonObject] = []
    if arguments.papers:
        old_rows = pd.read_csv(OUTPUT, keep_default_na=False).to_dict("records")
        is_counted = [str(row["item"]).startswith((*arguments.papers,)) for row in old_rows]
        rows += [row for row, counted in zip(old_rows, is_counted, strict=True) if not counted]
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        counter = ItemCounter(data, Path(folder))
        for paper in read_papers(items_file(ROOT)).values():
            for item in paper.items if paper.name in (arguments.papers or paper.name) else ():
                rows += [counter.count(item, design) for design in ("full", "lean")]
                print(rows[-2], rows[-1], flush=True)
        os.chdir(ROOT)
    today = datetime.now(UTC).date().isoformat()
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    frame["date"] = [row.get("date", today) for row in rows]
    frame.to_csv(OUTPUT, index=False)


if __name__ == "__main__":
    main()
