"""Write rows as a table in the format of the file's ending."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

ENDINGS = [".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl"]


def save_table(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write a table, and return its path."""
    match path.suffix:
        case ".csv":
            pd.DataFrame(rows).to_csv(path, index=False)
        case ".tsv":
            pd.DataFrame(rows).to_csv(path, index=False, sep="\t")
        case ".xlsx":
            pd.DataFrame(rows).to_excel(path, index=False)
        case ".parquet":
            pd.DataFrame(rows).to_parquet(path)
        case ".json":
            path.write_text(json.dumps(rows))
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case ending:
            raise ValueError(ending)
    return path
