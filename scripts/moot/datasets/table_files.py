"""The rows of a table of the user, with the columns of its second file."""

from typing import NamedTuple

import pandas as pd

from moot.core.config_errors import Faults
from moot.datasets.case_table import find_cases_without_row, look_up_case, read_case_table
from moot.datasets.reading.tables import read_table, select_rows
from moot.datasets.table_options import TableOptions


class FileRows(NamedTuple):
    """The selected rows of the files.

    Attributes:
        table: the rows that can be read, as text, by their number in the first file, from 1.
        lacks_case: which of them have no row in the second file.
        broken: the number of rows that cannot be read.
    """

    table: pd.DataFrame
    lacks_case: "pd.Series[bool]"
    broken: int


def read_files(options: TableOptions, faults: Faults) -> FileRows:
    """Read the selected rows, with the columns of the second file.

    Args:
        options: the options of the table.
        faults: gets a message for each row, and each case of the second file, that cannot be read.

    Raises:
        UserError: a file or a column is missing, or no row is selected.
    """
    cases = pd.DataFrame()
    if options.case_table:
        names = [name for name in options.case_columns if name != options.id_column]
        cases = read_case_table(options.case_table, names, faults)
    columns = [name for name in options.case_columns if name not in cases]
    columns = list(dict.fromkeys([*columns, *options.id_columns, *options.where]))
    broken_rows = Faults()
    table = read_table(options.path, columns, sheet=options.sheet, faults=broken_rows)
    faults.add_all(broken_rows)
    table = select_rows(options.path, table, options.where)
    if len(options.id_columns) > 1:
        table[options.id_column] = table[options.id_columns].agg("-".join, axis="columns")
    lacks_case = pd.Series(False, table.index)
    if options.case_table:
        case_ids = table[options.id_column]
        lacks_case = find_cases_without_row(case_ids, cases)
        for column in map(str, cases):
            table[column] = look_up_case(case_ids, cases, column)
    return FileRows(table, lacks_case, len(broken_rows.messages))
