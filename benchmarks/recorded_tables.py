"""Measure what the page of the recorded study says of groups of people and of jurors, by the configurations it shows.

`PYTHONPATH=scripts python benchmarks/recorded_tables.py FOLDER`; FOLDER has `recorded/delidata` and
`recorded/juror_replays`. Snakemake builds the tables in a folder of its own, and the figures that the page names go to
`data/measured/figures.csv`.
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
from figures import MEASURED, ROOT, Figure

from moot.commands.documented import keys

COMMAND = "benchmarks/recorded_tables.py"
PAGE = "scripts/moot/studies/recorded/README.md"
LINKS = {"delidata": "delidata", "jurors": "juror_replays"}
TABLES = {"delidata": ("discussions", "changed_answers"), "jurors": ("agreement",)}


def built(folder: Path, data: str, configuration: str) -> Iterator[pd.DataFrame]:
    """The tables that a configuration of the page comes to."""
    (folder / f"{data}.yaml").write_text(configuration, encoding="utf-8")
    targets = [f"results/tables/recorded/{table}.csv" for table in TABLES[data]]
    options = ["--snakefile", str(ROOT / "Snakefile"), "--cores", "1", "--configfile", f"{data}.yaml"]
    subprocess.run([sys.executable, "-m", "snakemake", *targets, *options], check=True, cwd=folder)
    return (pd.read_csv(folder / target) for target in targets)


def figures(folder: Path, page: str) -> Iterator[Figure]:
    """All figures of the tables."""
    found = {
        data: next(block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if f" {data}/" in block)
        for data in LINKS
    }
    discussions, changes = built(folder, "delidata", found["delidata"])
    row = discussions.iloc[0]
    for name, of in {
        "right before": "before", "right after": "after", "difference": "difference", "wrong who end right": "to right",
        "right who end wrong": "to wrong", "most end right, one was right": "one", "most end right, none was": "none",
    }.items():  # fmt: skip
        yield Figure(f"delidata/{name}", row[name], row[f"{of} low"], row[f"{of} high"])
    for name in ("members", "groups", "groups with one right"):
        yield Figure(f"delidata/{name}", row[name])
    changes["held before"] = changes["held before"].ffill()
    for row in changes.to_dict("records"):
        key = f"delidata/{row['held before']}, {row['last message of the others']}"
        yield Figure(key, row["changes"], row["95 % low"], row["95 % high"])
    (agreement,) = built(folder, "jurors", found["jurors"])
    agreement["data"] = agreement["data"].ffill()
    for row in agreement[agreement["judges"].isna()].to_dict("records"):
        yield Figure(
            f"jurors/{row['data']}, {row['what differs']}", row["same answer"], row["same low"], row["same high"]
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_root", type=Path, help="folder of the published files")
    data_root = parser.parse_args().data_root.resolve()
    shown, path = (ROOT / PAGE).read_text(encoding="utf-8"), MEASURED / "figures.csv"
    with TemporaryDirectory() as work:
        for link, name in LINKS.items():
            (Path(work) / link).symlink_to(data_root / "recorded" / name)
        measured = list(figures(Path(work), shown))
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=True
    )
    about = {
        "page": PAGE,
        "command": COMMAND,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
    }
    rows = [{**one._asdict(), **about, "data": "recorded"} for one in measured]
    before = pd.read_csv(path)
    table = pd.concat([before[before["command"] != COMMAND], pd.DataFrame(rows)])
    named = {PAGE: keys(shown)}
    table = table[(table["command"] != COMMAND) | table["key"].isin(named[PAGE])]
    table[list(before.columns)].sort_values(["page", "key"]).to_csv(path, index=False, float_format="%.10g")
    for key in sorted(set(named[PAGE]) - set(table["key"])):
        sys.stdout.write(f"The page names {key}, which was not measured.\n")
