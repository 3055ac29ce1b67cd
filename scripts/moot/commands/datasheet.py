"""The datasheet of a data set in a bundle."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from moot.core.artifacts import read_cases
from moot.plan.plan import Plan


def datasheet(plan: Plan, name: str) -> str:
    """Return a data set's datasheet, written from its loader's description.

    The form follows Gebru et al. 2021, "Datasheets for Datasets".
    """
    return "\n\n".join(_datasheet_parts(plan, name)) + "\n"


def _datasheet_parts(plan: Plan, name: str) -> Iterator[str]:
    options, folder = plan.datasets[name], Path("results") / "cases"
    loader = options.loader or name
    cases, task = read_cases(folder / f"{name}.parquet")
    yield f"# Datasheet: {name}"
    yield f"## What is it for?\n\n{task.question} A case is {task.noun}. {task.background}".rstrip()
    counts = Counter((case.split, case.target) for case in cases)
    rows = "\n".join(
        f"- {split_name}, {target or 'no truth'}: {count}"
        for (split_name, target), count in sorted(counts.items())
    )
    yield (
        f"## What is in it?\n\n{len(cases)} cases in the language {task.language}, by split and"
        f" true label:\n\n{rows}"
    )
    people = (
        f"Cases are about people of the groups {', '.join(task.groups)}."
        if task.groups
        else "Not said."
    )
    yield f"## Does it tell of people?\n\n{people}"
    addresses = pd.read_csv(plan.shipped / "data" / "versions.csv", keep_default_na=False).query(
        "dataset == @loader"
    )
    published = options.source not in ("sample", "synthetic")
    sources = [
        f"- {row.path}: {row.url} ({row.licence})"
        for row in addresses.itertuples()
        if published and row.role == "primary"
    ]
    further_sources = (
        [f"- and {len(sources) - 5} more: data/versions.csv"] if len(sources) > 5 else []
    )
    yield (
        f"## Where is it from?\n\n`source: {options.source}`, by the loader `{loader}`.\n\n"
        + "\n".join(sources[:5] + further_sources)
    )
    report = pd.read_csv(folder / f"{name}_cleaning.csv")
    yield "## What was done to it?\n\n" + "\n".join(
        f"- {finding}: {count}" for finding, count in report.itertuples(index=False)
    )
    yield "## What must its users know?\n\n" + (
        "\n".join(f"- {note}" for note in task.notes) or "Nothing is noted."
    )
    settings = options.model_dump(mode="json", exclude_defaults=True)
    yield "## With which options?\n\n" + "\n".join(
        f"- {key}: {value}" for key, value in sorted(settings.items())
    )
