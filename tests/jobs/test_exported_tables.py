"""The tables of a run for spreadsheets."""

from pathlib import Path

import pandas as pd

from moot.core.artifacts import describe, write_rows
from moot.jobs.exports import write_exported_tables
from moot.report.workbook import MAX_CELL_CHARS

FILES = {"utterances": "0.parquet", "predictions": "1.parquet"}


def test_each_kind_is_a_csv_file_and_a_sheet(tmp_path: Path) -> None:
    no_character = "\uffff"  # a workbook with it cannot be written
    texts = ["=1+1", "ä" * 40_000, f"b{no_character}"]
    rows = [{"debate_id": f"c{n}#0", "text": text} for n, text in enumerate(texts)]
    write_rows(tmp_path / "0.parquet", "transcripts", rows, describe())
    outcome = {"debate_id": "c0#0", "served_by": {"small": "v1"}}
    write_rows(tmp_path / "1.parquet", "predictions", [outcome], describe())
    files = {name: [tmp_path / file] for name, file in FILES.items()}
    write_exported_tables({**files, "calls": []}, tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "utterances.csv")
    assert list(table["text"]) == ["'=1+1", texts[1], "b"]
    sheets = pd.read_excel(tmp_path / "out" / "debates.xlsx", sheet_name=None)
    assert list(sheets) == ["utterances", "predictions"]
    assert sheets["predictions"]["served_by"][0] == '{"small": "v1"}'
    assert list(sheets["utterances"]["text"]) == ["=1+1", texts[1][:MAX_CELL_CHARS], "b"]
