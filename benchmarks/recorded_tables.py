"""Measure what the page of the recorded study says about groups and jurors.

The measurement uses the configurations on that page: `python benchmarks/run.py recorded_tables.py
FOLDER`. FOLDER has `recorded/delidata` and `recorded/juror_replays`. The figures that the page
names go to `data/measured/figures.csv`.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml
from figures import MEASURED, ROOT, Figure

from moot.commands.documented import figure_keys
from moot.report import TABLES
from moot.report.study_results import StudyResults
from moot.studies.recorded.tables_agreement import agreement
from moot.studies.recorded.tables_discussions import changed_answers
from moot.studies.recorded.tables_discussions import discussions as discussions_of
from recorded_runs import recorded_study

COMMAND = "benchmarks/recorded_tables.py"
PAGE = "scripts/moot/studies/recorded/README.md"
FOLDERS = {"delidata": "delidata", "jurors": "juror_replays"}


def study(work: Path, data_root: Path, page: str, data: str, dataset: str) -> StudyResults:
    """Return the results of one data set, by the page's configuration for these data."""
    block = next(
        block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if f" {data}/" in block
    )
    entry = yaml.safe_load(block)["datasets"][dataset]
    entry["path"] = str(data_root / "recorded" / FOLDERS[data] / Path(entry["path"]).name)
    (work / dataset).mkdir()
    return recorded_study(work / dataset, entry, {dataset: "debate"}, {"all": "recorded"})


def figures(work: Path, data_root: Path, page: str) -> Iterator[Figure]:
    """Yield all figures of the tables."""
    groups = study(work, data_root, page, "delidata", "wason")
    discussions, changes = discussions_of(groups).frame, changed_answers(groups).frame
    row = discussions.iloc[0]
    for name, of in {
        "right before": "before",
        "right after": "after",
        "difference": "difference",
        "wrong who end right": "to right",
        "right who end wrong": "to wrong",
        "most end right, one was right": "one",
        "most end right, none was": "none",
    }.items():
        yield Figure(f"delidata/{name}", row[name], row[f"{of} low"], row[f"{of} high"])
    for name in ("members", "groups", "groups with one right"):
        yield Figure(f"delidata/{name}", row[name])
    for row in changes.to_dict("records"):
        key = f"delidata/{row['held before']}, {row['heard before']}"
        yield Figure(key, row["changes"], row["95 % low"], row["95 % high"])
    for dataset in ("models", "personas"):
        jurors = study(work, data_root, page, "jurors", dataset)
        components = TABLES["recorded/where_verdicts_come_from"].build(jurors)
        for row in components.frame.to_dict("records"):
            key = f"jurors/{dataset}, share {row['part']}"
            yield Figure(key, row["share of variance"], row["share low"], row["share high"])
        pairs = agreement(jurors).frame
        for row in pairs[pairs["judges"] == ""].to_dict("records"):
            key = f"jurors/{dataset}, {row['what differs']}"
            yield Figure(key, row["same answer"], row["same low"], row["same high"])
            yield Figure(
                f"{key}, beyond", row["differ beyond that"], row["differ low"], row["differ high"]
            )


def _format_cell(cell: object) -> object:
    return f"{cell:.10g}" if isinstance(cell, float) and not pd.isna(cell) else cell


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_root", type=Path, help="folder of the published files")
    arguments = parser.parse_args()
    data_root = arguments.data_root.resolve()
    page_text, path = (ROOT / PAGE).read_text(encoding="utf-8"), MEASURED / "figures.csv"
    with TemporaryDirectory() as work:
        measured = list(figures(Path(work), data_root, page_text))
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    )
    about = {
        "page": PAGE,
        "command": COMMAND,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
    }
    rows = [{**figure._asdict(), **about, "data": "recorded"} for figure in measured]
    previous = pd.read_csv(path, dtype=str)  # as it is written
    table = pd.concat(
        [previous[previous["command"] != COMMAND], pd.DataFrame(rows).map(_format_cell)]
    )
    page_keys = {PAGE: figure_keys(page_text)}
    table = table[(table["command"] != COMMAND) | table["key"].isin(page_keys[PAGE])]
    table[list(previous.columns)].to_csv(path, index=False)
    for key in sorted(set(page_keys[PAGE]) - set(table["key"])):
        sys.stdout.write(f"The page names {key}, which was not measured.\n")
