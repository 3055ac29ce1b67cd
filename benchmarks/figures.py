"""Measure the figures of published data that pages show.

    python benchmarks/run.py figures.py FOLDER

Snakemake builds the data sets of `data/measured/data.yaml` from the files in FOLDER (layout in
data/raw/README.md). The figures that pages name go to `data/measured/figures.csv`; rows that
another command measured stay unchanged.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import yaml
from sklearn.metrics import roc_auc_score

from moot.commands.documented import figure_keys, read_entries
from moot.commands.drift import LEVEL, smallest_change
from moot.core.artifacts import read_cases, read_frame
from moot.core.cases import stratified_splits
from moot.training.baselines import BASELINES
from moot.training.evaluation import TEST
from moot.training.examples import plain_features

ROOT = Path(__file__).resolve().parents[1]
MEASURED = ROOT / "data" / "measured"
COMMAND = "benchmarks/figures.py"
METRICS = ("accuracy", "auc", "f1_macro", "f1_micro")
PREFIX = "measured-"


class Figure(NamedTuple):
    """A figure with its 95 % interval; `key` begins with the data set."""

    key: str
    value: float
    low: float = float("nan")
    high: float = float("nan")


def build(data_root: Path, cores: int) -> None:
    """Build cases, cleaning reports and leaderboards with Snakemake."""
    sets = yaml.safe_load((MEASURED / "data.yaml").read_text(encoding="utf-8"))["datasets"]
    targets = [
        f"results/{'baselines' if 'baselines' in entry else 'cases'}/{name}.parquet"
        for name, entry in sets.items()
    ]
    options = [
        "--configfile",
        str(MEASURED / "data.yaml"),
        "--config",
        f"data_root={data_root.resolve()}",
    ]
    subprocess.run(
        [sys.executable, "-m", "snakemake", *targets, "--cores", str(cores), *options],
        check=True,
        cwd=ROOT,
    )


def figures(results: Path) -> Iterator[Figure]:
    """Yield all figures of a build."""
    for path in sorted(results.glob(f"cases/{PREFIX}*.parquet")):
        name = path.stem.removeprefix(PREFIX)
        for split_name, count in (
            pd.Series([case.split for case in read_cases(path)[0]]).value_counts().items()
        ):
            yield Figure(f"{name}/cases/{split_name}", count)
        for step, count in pd.read_csv(path.with_name(f"{path.stem}_cleaning.csv")).itertuples(
            index=False
        ):
            yield Figure(f"{name}/cleaning/{step}", count)
    for path in sorted(results.glob(f"baselines/{PREFIX}*[!s].parquet")):
        name = path.stem.removeprefix(PREFIX)
        for row in read_frame(path).to_dict("records"):
            for metric in METRICS:
                ends = [row.get(f"{metric}_{end}", float("nan")) for end in ("low", "high")]
                evaluation = "test" if row["evaluation"] == TEST else "folds"
                yield Figure(f"{name}/{row['baseline']}/{evaluation} {metric}", row[metric], *ends)
    for name in ("nlsy97-blind", "nlsy97-blinder"):
        yield Figure(f"{name}/lr/test auc of sex", auc_of(results, name, "lr", 1, "sex"))
    seeds = [auc_of(results, "nlsy97", "svm", seed) for seed in range(1, 11)]
    yield Figure(
        "nlsy97/svm/test auc of ten seeds", sum(seeds) / len(seeds), min(seeds), max(seeds)
    )
    cases, _ = read_cases(results / f"cases/{PREFIX}compas.parquet")
    seed = yaml.safe_load((ROOT / "config" / "config.yaml").read_text(encoding="utf-8"))["seed"]
    splits = stratified_splits({case.case_id: case.target for case in cases}, seed)
    learnt = {case.text for case in cases if splits[case.case_id] == "train"}
    tested = [case.text in learnt for case in cases if splits[case.case_id] == "test"]
    yield Figure("compas/test texts in training, split by case", sum(tested) / len(tested))
    for calls in (30, 40, 100, 200):
        yield Figure(
            f"drift/smallest change of {calls} calls", smallest_change(calls, 1, 0, LEVEL / 3)
        )


def auc_of(results: Path, name: str, baseline: str, seed: int, attribute: str = "") -> float:
    """Return how well a baseline ranks the test cases by their target, or by the most frequent
    value of an attribute.
    """
    cases, task = read_cases(results / f"cases/{PREFIX}{name}.parquet")
    features = plain_features(
        read_frame(results / f"features/{PREFIX}{name}.parquet").drop(
            columns=["case_id", "split", "label"]
        )
    )
    values = pd.Series([case.attributes[attribute] if attribute else case.target for case in cases])
    truth = values == (values.mode()[0] if attribute else task.positive)
    splits = pd.Series([case.split for case in cases])
    model = (
        BASELINES[baseline]
        .build(seed, 1)
        .fit(features[splits == "train"], truth[splits == "train"])
    )
    score = model.decision_function(features[splits == "test"])
    return float(roc_auc_score(truth[splits == "test"], score))


def list_source_files(results: Path, data_root: Path) -> pd.DataFrame:
    """Return the files of the data sets.

    Columns: `name` of the data set, `file` relative to the data root, `sha256`.
    """
    rows = []
    for path in results.glob(f"provenance/cases/{PREFIX}*.json"):
        name = path.name.removeprefix(PREFIX).partition(".")[0]
        inputs = json.loads(path.read_text(encoding="utf-8"))["inputs"]
        for file, digest in inputs.items():
            rows.append((name, str(Path(file).relative_to(data_root)), digest))
    return pd.DataFrame(rows, columns=["name", "file", "sha256"])


def write(results: Path, data_root: Path) -> None:
    """Write the figures that pages name, and keep figures of other commands."""
    pages = {page: figure_keys(entries) for page, entries in read_entries(ROOT).items()}
    commit = subprocess.run(
        ["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"],
        capture_output=True,
        text=True,
        check=True,
    )
    about = {
        "command": COMMAND,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit.stdout.strip(),
    }
    source_files = list_source_files(results, data_root)
    source_files[["file", "sha256"]].drop_duplicates().sort_values("file").to_csv(
        MEASURED / "files.csv", index=False
    )
    folders = dict(
        zip(source_files["name"], source_files["file"].str.partition("/")[0], strict=True)
    )
    path = MEASURED / "figures.csv"
    previous = pd.read_csv(path)
    rows = [
        {**figure._asdict(), **about, "data": folders.get(figure.key.partition("/")[0], "none")}
        for figure in figures(results)
    ]
    table = pd.concat(
        [previous[previous["command"] != COMMAND], pd.DataFrame(rows)]
    ).drop_duplicates("key", keep="last")
    pages_by_key: dict[str, list[str]] = {}
    for page, page_keys in pages.items():
        for key in page_keys:
            pages_by_key.setdefault(key, []).append(page)
    table["page"] = [" ".join(pages_by_key.get(key, [])) for key in table["key"]]
    table = table.loc[table["page"] != "", list(previous.columns)].sort_values(["page", "key"])
    table.to_csv(path, index=False, float_format="%.10g")
    for key in sorted(set().union(*pages.values()) - set(table["key"])):
        sys.stdout.write(f"A page names {key}, which was not measured.\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data_root", type=Path, help="folder of the published files")
    parser.add_argument("--cores", type=int, default=1)
    arguments = parser.parse_args()
    build(arguments.data_root, arguments.cores)
    write(ROOT / "results", arguments.data_root.resolve())
