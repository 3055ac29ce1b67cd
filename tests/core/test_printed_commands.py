"""Commands in messages begin as the user's did."""

import pytest

from moot.core.printed_commands import STARTED_BY, as_started, remember_start


def test_commands_are_printed_as_they_were_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STARTED_BY, "snakemake")
    text = "Write it first: snakemake --cores 2 bundle. Snakemake says: `make env EXTRAS=ner`."
    assert as_started(text) == text
    remember_start(["doctor", "--directory", "my peers", "--cores", "1"])
    assert "snakemake --directory 'my peers' --cores 2 bundle. Snakemake" in as_started(text)
    assert as_started("in another: snakemake --directory FOLDER") == (
        "in another: snakemake --directory FOLDER"
    )
    monkeypatch.setenv(STARTED_BY, "moot")
    remember_start(["doctor"])
    assert as_started(text) == (
        "Write it first: moot --cores 2 bundle. Snakemake says: `pip install 'moot[ner]'`."
    )
