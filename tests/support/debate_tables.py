"""Rows and options of tables that hold debates, and a function that reads them."""

from pathlib import Path
from typing import Any

import pandas as pd

from moot.datasets import LoadContext, Loaded
from moot.datasets.debate_records import RecordedDebate
from recorded_debates import load_with_records
from saved_tables import save_table

TRIAL = [
    {
        "nr": "t1",
        "turn": 1,
        "who": "Ann",
        "words": "He was at home.",
        "gold": "no",
        "p": "",
    },
    {
        "nr": "t1",
        "turn": 2,
        "who": "Bob",
        "words": "He was seen.",
        "gold": "no",
        "p": "",
    },
    {
        "nr": "t1",
        "turn": 3,
        "who": "Judge",
        "words": "Hm.",
        "gold": "no",
        "p": "0.75",
    },
    {
        "nr": "t2",
        "turn": 1,
        "who": "Bob",
        "words": "A witness.",
        "gold": "yes",
        "p": "",
    },
    {
        "nr": "t2",
        "turn": 2,
        "who": "Judge",
        "words": "",
        "gold": "yes",
        "p": "0.5",
    },
]


TRIAL_COLUMNS = {
    "debate": "nr",
    "turn": "turn",
    "speaker": "who",
    "text": "words",
    "truth": "gold",
    "belief": "p",
}


TRIALS = {"columns": TRIAL_COLUMNS, "labels": {"no": "innocent", "yes": "guilty"}}


JURY = [
    {"run": run, "of": run[0], "vote": vote, "why": "Because.", "model": model, "as": persona}
    for run, model, persona, vote in [
        ("a1", "m", "mild", "YES"),
        ("a1", "m", "mild", "NO"),
        ("a1", "m", "stern", "YES"),
        ("a1", "n", "mild", None),
        ("a2", "m", "mild", "NO"),
    ]
]


JURIES = {
    "columns": {
        "debate": "run",
        "case": "of",
        "speaker": "",
        "text": "why",
        "answer": "vote",
        "judge": "model",
        "persona": "as",
        "model": "model",
    },
    "positive": "yes",
}


def write_table(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write a table of debates; a column of Parquet has one type, so that its cells are text."""
    if path.suffix == ".parquet":
        pd.DataFrame(rows).astype("str").to_parquet(path)
        return path
    return save_table(path, rows)


def read_transcripts(path: Path, **options: Any) -> tuple[Loaded, list[RecordedDebate]]:
    context = LoadContext("mine", Path("data/raw"), Path(), 7)
    return load_with_records("transcripts", context, path=path, **options)
