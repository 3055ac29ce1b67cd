"""Test shipped records: numbers of the published debates, without their sentences."""

import pandas as pd
import pytest

from moot.core.cases import WITHOUT_TEXT
from moot.datasets.debate_records import record_rows
from recorded_debates import PROJECT, SHARED, read_records

needs_records = pytest.mark.skipif(
    not (SHARED / "recorded").is_dir(),
    reason="the published records are not here (../shared/data/recorded)",
)


@needs_records
@pytest.mark.parametrize("loader", ["agenticsimlaw", "nyu_debates"])
def test_the_shipped_numbers_equal_the_published_files(loader: str) -> None:
    published = [
        {**row, "text": ""} for row in record_rows(read_records(loader, source="local")[1])
    ]
    shipped = list(record_rows(read_records(loader, source="shipped")[1]))
    assert shipped == published


@pytest.mark.parametrize("name", ["agenticsimlaw-nlsy97", "nyu-debates"])
def test_the_shipped_records_contain_no_sentences(name: str) -> None:
    folder = PROJECT / "data" / "records"
    assert set(pd.read_parquet(folder / f"{name}_cases.parquet")["text"]) == {WITHOUT_TEXT}
    records = pd.read_parquet(folder / f"{name}_records.parquet")
    assert set(records["text"]) == {""}
    assert records["parsed"].dropna().str.len().max() < 150, "parsed facts are numbers and names"
