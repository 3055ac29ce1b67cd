"""A second file with the truth, the text or the attributes of the cases of recorded debates."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import Field

from moot.core.cell_text import canonical_word
from moot.core.errors import UserError
from moot.core.input_files import quote_value
from moot.core.strict_model import StrictModel
from moot.core.user_tables import read_user_table


class CaseTable(StrictModel):
    """A second file with a row per case."""

    path: Path = Field(
        description=(
            "File with a row per case (.csv, .tsv, .json, .jsonl, .parquet or .xlsx), relative to"
            " the working directory."
        )
    )
    id: str = Field(
        description=(
            "Column with the id of the case, as in the debates; `(key)` for the keys of a JSON"
            " object whose values are the cases."
        )
    )
    format: Literal["", "csv", "tsv", "jsonl", "json", "parquet", "xlsx"] = Field(
        "", description="Format of the file. Default: from its ending."
    )


def read_case_table(table: CaseTable, columns: Sequence[str]) -> pd.DataFrame:
    """Read a table of cases.

    Args:
        table: the file.
        columns: the columns that may be in it.

    Returns:
        Those of `columns` that it has, as strings, by the id of the case.

    Raises:
        UserError: the file cannot be read, or two rows contradict each other about a case.
    """
    frame = read_user_table(table.path, [table.id], kind=table.format, optional=columns)
    ids = frame[table.id].map(canonical_word)
    present = [name for name in dict.fromkeys(columns) if name in frame and name != table.id]
    cases = frame[present].set_axis(ids, axis="index")
    cases = cases[cases.index != ""]
    cases = cases[~cases.assign(id=cases.index).duplicated().to_numpy()]
    repeated = cases.index[cases.index.duplicated()]
    if len(repeated):
        raise UserError(
            f"{table.path}: case {quote_value(repeated[0])} has rows with different values of"
            f" {', '.join(present)}; expected one row per case. Remove or correct one of them."
        )
    return cases
