"""The statements of a transcript that are labelled, and the blind ids that people see."""

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from moot.core.artifacts import find_waiting_rows, read_frame
from moot.core.cases import stable_fraction
from moot.core.utterance_kinds import CONCLUSION, PUBLIC

COLUMNS = [
    "experiment",
    "model",
    "debate_id",
    "case_id",
    "turn",
    "round",
    "speaker",
    "kind",
    "text",
    "source",
]
TOLD_BY = ("source", "visibility", "prediction", "parse_status")
"""The columns that show whether an utterance is a statement, in addition to its kind and text."""


def are_statements(utterances: pd.DataFrame, kinds: Collection[str]) -> "pd.Series[bool]":
    """Return which utterances are labelled.

    They have the given kinds. Without kinds, all public words that are not answers are labelled.

    Args:
        utterances: columns kind, text, and `TOLD_BY`.
        kinds: as a rubric names them.
    """
    if kinds:
        return utterances["kind"].isin(kinds)
    words = (utterances["text"].fillna("").str.strip() != "") & (utterances["source"] != "computed")
    answers = (utterances["prediction"].fillna("") != "") | (utterances["kind"] == CONCLUSION)
    return (
        words
        & (utterances["visibility"] == PUBLIC)
        & ~answers
        & (utterances["parse_status"].fillna("") != "invalid")
    )


def read_statements(shards: Sequence[Path], kinds: Collection[str] = ()) -> pd.DataFrame:
    """Read the statements of some transcripts' ended debates, in the order of shards and turns.

    Args:
        shards: the transcripts.
        kinds: the rubric's kinds of utterances that are labelled.

    Returns:
        The columns of `COLUMNS`, and item (the blind id).
    """
    utterances = _ended_debates(shards)
    statements = utterances.loc[are_statements(utterances, kinds), COLUMNS].reset_index(drop=True)
    keys = zip(
        *(statements[name] for name in ("experiment", "model", "debate_id", "turn", "text")),
        strict=True,
    )
    statements["item"] = [statement_id(*key) for key in keys]
    return statements


def public_kinds(shards: Sequence[Path]) -> list[str]:
    """Return the kinds of public utterances with text in the ended debates of some transcripts."""
    utterances = _ended_debates(shards)
    words = (utterances["text"].fillna("").str.strip() != "") & (utterances["visibility"] == PUBLIC)
    return sorted(set(utterances.loc[words, "kind"]) - {CONCLUSION})


def _ended_debates(shards: Sequence[Path]) -> pd.DataFrame:
    frames = [
        read_frame(shard, list(dict.fromkeys([*COLUMNS, "parsed", *TOLD_BY]))) for shard in shards
    ]
    utterances: pd.DataFrame = pd.concat(frames, ignore_index=True)
    return utterances[~find_waiting_rows(utterances)]


def sheet_id(experiment: str, model: str) -> str:
    """Return the first part of a blind id.

    All statements of one experiment and model share it, but it reveals neither of them.
    """
    return hashlib.sha256(f"{experiment}\x1f{model}".encode()).hexdigest()[:8]


def statement_id(experiment: str, model: str, debate_id: str, turn: int, text: str) -> str:
    """Return the blind id of a statement, which depends on its words.

    It reveals neither model, nor case, nor speaker, nor time.
    """
    key = f"{experiment}\x1f{model}\x1f{debate_id}\x1f{turn}\x1f{text}"
    inner = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{sheet_id(experiment, model)}-{inner}"


def draw_statements(statements: pd.DataFrame, count: int, seed: int) -> pd.DataFrame:
    """Return up to `count` statements with words, drawn at random, in their order.

    A larger number draws the same statements and further ones.
    """
    with_words = statements[statements["text"].str.strip() != ""]
    draws = with_words["item"].map(lambda item: stable_fraction("sheet", seed, item))
    return with_words.loc[draws.nsmallest(count).index.sort_values()]
