"""The part of `doctor` and `preview` for a table of cases that the configuration names."""

from pathlib import Path

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext, Loaded
from moot.datasets.reading.checks import explain_row_numbers
from moot.datasets.reading.profile import find_doubts
from moot.datasets.table_options import TableOptions
from moot.datasets.table_rows import ID, LABEL, TEXT, read_rows
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
    """Return a line for everything that is or may be wrong in a configured table; none if it cannot
    be read, since loading it gives the message.
    """
    try:
        table = read_rows(options)
    except UserError:
        return []
    lines = table.check.faults.text.splitlines()
    rows = table.rows.drop(columns=[TEXT, LABEL, ID])
    for number in range(len(options.files)):
        file_rows = rows.loc[[number]].droplevel(0)
        lines += find_doubts(file_rows, options.text_columns[0], options.target)
    explanation = explain_row_numbers(options.files[0])
    if lines and explanation:
        lines.append(explanation)
    return lines


def describe_table_faults(plan: Plan) -> str:
    """Return the faults of all configured tables of a run, a line each, for `preview`."""
    lines: list[str] = []
    for dataset in plan.datasets_used:
        options = plan.datasets[dataset]
        if isinstance(options, TableOptions):
            lines += [f"{dataset}: {fault}\n" for fault in find_table_faults(options)]
    return "".join(["\nCheck these rows of the data:\n", *lines]) if lines else ""
