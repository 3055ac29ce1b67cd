"""A second file with the truth, the text or the attributes of cases."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from moot.core.config_errors import Faults
from moot.core.spelling import canonical_word
from moot.core.strict_model import StrictModel
from moot.core.text_files import quote_value
from moot.core.types import Column
from moot.datasets.reading.tables import read_table


class CaseTable(StrictModel):
    """A second file with a row per case."""

    path: Path = Field(
        description=(
            "File with a row per case (.csv, .tsv, .json, .jsonl, .parquet or .xlsx), relative to"
            " the working directory."
        )
    )
    id: str = Field(description="Column with the id of the case, as in the first file.")
    format: Literal["", "csv", "tsv", "jsonl", "json", "parquet", "xlsx"] = Field(
        "", description="Format of the file. Default: from its ending."
    )


def read_case_table(table: CaseTable, columns: Sequence[str], faults: Faults) -> pd.DataFrame:
    """Read a table of cases.

    Args:
        table: the file.
        columns: the columns that may be in it.
        faults: gets a message for each case whose rows contradict each other.

    Returns:
        Those of `columns` that it has, as strings, by the id of the case, without the cases whose
        rows contradict each other.

    Raises:
        UserError: the file cannot be read.
    """
    frame = read_table(table.path, [table.id], kind=table.format)
    ids = frame[table.id].map(canonical_word)
    present = [name for name in dict.fromkeys(columns) if name in frame and name != table.id]
    cases = frame[present].set_axis(ids, axis="index")
    cases = cases[cases.index != ""]
    cases = cases[~cases.assign(id=cases.index).duplicated().to_numpy()]
    is_repeated = cases.index.duplicated(keep=False)
    for case_id in cases.index[is_repeated].unique():
        faults.add(
            f"{table.path}: case {quote_value(case_id)} has rows with different values of"
            f" {', '.join(present)}; expected one row per case. Remove or correct one of them."
        )
    return cases[~is_repeated]


def find_cases_without_row(ids: Column, cases: pd.DataFrame) -> "pd.Series[bool]":
    """Return which ids no row of a table of cases has."""
    return ~ids.map(canonical_word).isin(cases.index)


def look_up_case(ids: Column, cases: pd.DataFrame, column: str) -> Column:
    """Return the value of a column of a table of cases for each id; "" if it has none."""
    return ids.map(canonical_word).map(cases[column]).fillna("")
