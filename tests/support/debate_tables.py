"""Rows and options of tables that hold debates, and a function that reads them."""

from pathlib import Path
from typing import Any

import pandas as pd

from moot.datasets import LoadContext, Loaded
from moot.datasets.debate_records import RecordedDebate
from recorded_debates import load_with_records
from saved_tables import save_table

TRIAL: list[dict[str, Any]] = [
    {"nr": nr, "turn": turn, "who": who, "words": words, "gold": gold, "p": belief}
    for nr, turn, who, words, gold, belief in [
        ("t1", 1, "Ann", "He was at home.", "no", ""),
        ("t1", 2, "Bob", "He was seen.", "no", ""),
        ("t1", 3, "Judge", "Hm.", "no", "0.75"),
        ("t2", 1, "Bob", "A witness.", "yes", ""),
        ("t2", 2, "Judge", "", "yes", "0.5"),
    ]
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
