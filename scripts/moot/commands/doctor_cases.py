"""What `init`, `doctor` and `preview` say of the rows of a user's files."""

from moot.core.errors import UserError
from moot.datasets import DatasetOptions
from moot.datasets.reading.checks import explain_row_numbers
from moot.datasets.reading.profile import find_doubts
from moot.datasets.table_options import TableOptions
from moot.datasets.table_rows import ID, LABEL, TEXT, read_rows
from moot.datasets.turn_columns import TranscriptsOptions
from moot.datasets.turns import read_turns
from moot.plan.plan import Plan


def find_row_faults(options: DatasetOptions) -> list[str]:
    """Return a line for everything that is or may be wrong in the rows of a user's files.

    There are no lines if the files cannot be read, since loading them gives the message.
    """
    if not isinstance(options, TableOptions | TranscriptsOptions):
        return []
    try:
        if isinstance(options, TableOptions):
            lines = _find_table_faults(options)
        else:
            lines = [*read_turns(options).faults]
    except UserError:
        return []
    explanation = explain_row_numbers(options.files[0])
    return [*lines, explanation] if lines and explanation else lines


def _find_table_faults(options: TableOptions) -> list[str]:
    table = read_rows(options)
    lines = table.check.lines
    rows = table.rows.drop(columns=[TEXT, LABEL, ID])
    for number in range(len(options.files)):
        file_rows = rows.loc[[number]].droplevel(0)
        lines += find_doubts(file_rows, options.text_columns[0], options.target)
    return lines


def describe_row_faults(plan: Plan) -> str:
    """Return the faults of all rows of a run's data, a line each, for `preview`."""
    lines: list[str] = []
    for dataset in plan.datasets_used:
        faults = find_row_faults(plan.datasets[dataset])
        lines += [f"{dataset}: {fault}\n" for fault in faults]
    return "".join(["\nCheck these rows of the data:\n", *lines]) if lines else ""
