"""The part of `doctor` and `preview` for a table of cases that the configuration names."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from moot.core.config_errors import Faults
from moot.core.errors import UserError
from moot.core.experiment_config import ExperimentConfig
from moot.core.text_files import quote_value
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.label_words import find_label
from moot.datasets.reading.profile import find_faults
from moot.datasets.reading.tables import numbered_rows
from moot.datasets.table_options import TableOptions
from moot.datasets.table_rows import read_files
from moot.datasets.table_texts import make_text
from moot.plan.plan import Plan

TABLE_LOADER = "table"


def load_table(plan: Plan, dataset: str) -> Loaded | None:
    """Load a configured table of the user; return None for any other data set.

    Raises:
        UserError: rows are faulty; the message names them.
    """
    options = plan.datasets[dataset]
    if options.loader != TABLE_LOADER:
        return None
    return LOADERS[TABLE_LOADER].load(
        options, LoadContext(dataset, Path(), Path(), plan.config.seed)
    )


def find_table_faults(options: TableOptions) -> list[str]:
    """Return a sentence for everything that may be wrong in a configured table; none if it cannot
    be read, since loading it gives the message.
    """
    try:
        files = read_files(options, Faults())
    except UserError:
        return []
    faults: list[str] = []
    for path, table, *_ in files:
        texts = [make_text(options, cells) for _, cells in numbered_rows(table)]
        ids = table[options.id_column] if options.id_column else None
        text_column = pd.Series(texts, table.index, dtype="str", name=options.text_columns[0])
        faults += find_faults(path, table, text_column, table[options.target], ids)
    whole_table = pd.concat([rows.table for rows in files])
    return [*faults, *_find_unused_labels(options, whole_table)]


def _find_unused_labels(options: TableOptions, table: pd.DataFrame) -> Iterator[str]:
    words = table[options.target].unique()
    used_labels = {find_label(word, options.labels) for word in words}
    unused_labels = [
        label for label in dict.fromkeys(options.labels.values()) if label not in used_labels
    ]
    if unused_labels:
        yield (
            f"Column {quote_value(options.target)}: no row has the label"
            f" {' or '.join(map(quote_value, unused_labels))}. Remove it from `labels`, unless"
            " models may answer it."
        )


def describe_table_faults(plan: Plan) -> str:
    """Return the faults of all configured tables of a run, a line each, for `preview`."""
    lines: list[str] = []
    for dataset in plan.datasets_used:
        options = plan.datasets[dataset]
        if isinstance(options, TableOptions):
            lines += [f"{dataset}: {fault}\n" for fault in find_table_faults(options)]
    return "".join(["\nCheck these rows of the data:\n", *lines]) if lines else ""


def describe_case_counts(config: ExperimentConfig, loaded: Loaded) -> tuple[bool, str]:
    """Return whether a table has as many cases as an experiment requires, with the numbers in
    words.
    """
    available = sum(case.split == config.split for case in loaded.cases)
    required_count = config.cases
    if required_count is None or required_count <= available:
        count = available if required_count is None else required_count
        return (
            True,
            f"{count} of {available} {config.split} cases; `cases` can be {available} at most",
        )
    return False, (
        f"`cases: {required_count}`, but the table has {available} {config.split} cases. Write"
        f" `cases: {available}` or less, or leave `cases` out for all"
    )
