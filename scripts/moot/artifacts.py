"""The Parquet artifacts: one Arrow schema each, written whole or not at all, with where they came from inside.

Schemas are a contract (people read these files with their own tools): columns may be added, never renamed or dropped.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from moot import __version__
from moot.cases import Case, Task
from moot.errors import UserError

_TEXT_MAP = pa.map_(pa.string(), pa.string())

SCHEMAS: dict[str, pa.Schema] = {
    "cases": pa.schema(
        {
            "case_id": pa.string(),
            "dataset": pa.string(),
            "split": pa.string(),
            "text": pa.string(),
            "target": pa.string(),
            "labels": pa.list_(pa.string()),
            "attributes": _TEXT_MAP,
            "source_row": pa.int64(),
        }
    ),
    "transcripts": pa.schema(
        {
            "experiment": pa.string(),
            "model": pa.string(),
            "debate_id": pa.string(),
            "case_id": pa.string(),
            "repeat": pa.int32(),
            "turn": pa.int32(),
            "round": pa.int32(),
            "speaker": pa.string(),
            "visibility": pa.string(),  # "public", or the names of the seats that may read it, joined by ","
            "kind": pa.string(),
            "text": pa.string(),
            "parsed": pa.string(),  # JSON
            "parse_status": pa.string(),  # strict, repaired, extracted, invalid, failed, or "" for free text
            "prediction": pa.string(),
            "confidence": pa.float64(),  # stated, 0 to 100
            "source": pa.string(),  # model or human
            "call_id": pa.string(),
            "probability": pa.float64(),  # of the prediction, by likelihood or by the stated confidence
            "parse_problem": pa.string(),  # in words, why parse_status is not "strict"
            "missing_fields": pa.string(),  # what could not be read beside the answer: "confidence,factors[2].weight"
        }
    ),
    "records": pa.schema(
        {
            "method": pa.string(),
            "model": pa.string(),  # whose prediction it is, by the records' own name
            "case_id": pa.string(),
            "repeat": pa.int32(),
            "turn": pa.int32(),
            "round": pa.int32(),
            "speaker": pa.string(),
            "visibility": pa.string(),
            "kind": pa.string(),
            "text": pa.string(),
            "parsed": pa.string(),  # JSON
            "prediction": pa.string(),
            "confidence": pa.float64(),  # stated, 0 to 100
            "source": pa.string(),  # model, human or computed
        }
    ),
    "predictions": pa.schema(
        {
            "experiment": pa.string(),
            "model": pa.string(),
            "case_id": pa.string(),
            "repeat": pa.int32(),
            "prediction": pa.string(),
            "confidence": pa.float64(),  # of the prediction, 0 to 100
            "score": pa.float64(),  # probability of the positive label, where there is one
            "probability": pa.float64(),  # of the prediction: by likelihood, votes or stated confidence
            "status": pa.string(),  # valid, invalid, failed, or waiting for a person
            "reason": pa.string(),  # in words, why the status is not valid
            "target": pa.string(),
            "calls": pa.int32(),
            "retries": pa.int32(),
            "prompt_tokens": pa.int64(),
            "completion_tokens": pa.int64(),
            "cached_tokens": pa.int64(),
            "seconds": pa.float64(),
            "cost_usd": pa.float64(),
            "served_by": _TEXT_MAP,  # model to the version that its server says it ran, once for each version
        }
    ),
    "calls": pa.schema(
        {
            "call_id": pa.string(),
            "model": pa.string(),
            "request": pa.string(),  # JSON: everything that was sent
            "replicate": pa.int32(),
            "reply": pa.string(),
            "reasoning": pa.string(),
            "logprobs": pa.string(),  # JSON: label to log-probability, for likelihood answers
            "finish_reason": pa.string(),
            "prompt_tokens": pa.int64(),
            "completion_tokens": pa.int64(),
            "cached_tokens": pa.int64(),
            "seconds": pa.float64(),
            "attempts": pa.int32(),
            "cost_usd": pa.float64(),
            "created_at": pa.string(),
            "served_model": pa.string(),  # as the server says, like the next five
            "provider": pa.string(),
            "system_fingerprint": pa.string(),
            "service_tier": pa.string(),
            "response_id": pa.string(),
            "reasoning_tokens": pa.int64(),
            "unlisted_logprob": pa.float64(),  # of the last token listed, for likelihood answers
            "started_at": pa.string(),
            "ended_at": pa.string(),
            "unusable_tokens": pa.int64(),  # of earlier attempts whose replies were empty
            "unusable_usd": pa.float64(),  # part of cost_usd
        }
    ),
    "labels": pa.schema(
        {
            "experiment": pa.string(),
            "model": pa.string(),
            "debate_id": pa.string(),
            "turn": pa.int32(),
            "label": pa.string(),
            "code": pa.int32(),
            "labeler": pa.string(),
            "evidence": pa.string(),
        }
    ),
    "scores": pa.schema(
        {
            "experiment": pa.string(),
            "model": pa.string(),
            "group": pa.string(),
            "metric": pa.string(),
            "average": pa.string(),  # binary, macro, weighted, or "" where the metric has none
            "value": pa.float64(),
            "ci_low": pa.float64(),
            "ci_high": pa.float64(),
            "n": pa.int64(),
            "n_invalid": pa.int64(),
            "n_cases": pa.int64(),  # how many cases the n rows belong to: repeats of a case are one case
        }
    ),
}


def file_digest(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary path beside `path` that replaces it when the block ends well, and is removed when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    os.close(handle)
    part = Path(name)
    part.chmod(0o644)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def describe(experiment: str = "", sources: Iterable[Path] = (), **extra: str) -> dict[str, str]:
    """The metadata that every artifact carries.

    Args:
        experiment: its name, where the artifact belongs to one.
        sources: the files that it was made from; their sha256 is kept by their paths below `results/`, or for files
            outside the working directory by their folder and name.
        extra: more of it, such as the digests of options, prompts and code.
    """
    digests = {_name_of(path): file_digest(path) for path in sources}
    return {"experiment": experiment, "moot_version": __version__, "sources": json.dumps(digests), **extra}


def _name_of(path: Path) -> str:
    """A file's path below `results/` or below the working directory; elsewhere its folder and name."""
    path = path.absolute()
    for folder in (Path("results").absolute(), Path.cwd()):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return "/".join(path.parts[-2:])


def write_rows(
    path: Path, kind: str, rows: Iterable[Mapping[str, Any]], metadata: Mapping[str, str], batch: int = 2000
) -> int:
    """Write rows of one of the `SCHEMAS` as they come, in row groups of `batch`, and return how many there were."""
    schema = SCHEMAS[kind].with_metadata(dict(metadata))
    written = 0
    with atomic_path(path) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        pending: list[Mapping[str, Any]] = []
        for row in rows:
            pending.append(row)
            if len(pending) == batch:
                writer.write_table(pa.Table.from_pylist(pending, schema=schema))
                written += len(pending)
                pending = []
        writer.write_table(pa.Table.from_pylist(pending, schema=schema))
    return written + len(pending)


def write_frame(path: Path, frame: pd.DataFrame, metadata: Mapping[str, str]) -> None:
    """Write a frame whose columns are its own (features, leaderboards); the schema follows from the column types."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    with atomic_path(path) as part:
        pq.write_table(table.replace_schema_metadata(dict(metadata)), part, compression="zstd")


def read_frame(path: Path) -> pd.DataFrame:
    """An artifact as a frame, its columns as in its schema."""
    frame: pd.DataFrame = pq.read_table(path).to_pandas()
    return frame


def read_frames(paths: Iterable[Path]) -> pd.DataFrame:
    """Several artifacts of one kind below each other, in the order given."""
    frame: pd.DataFrame = pa.concat_tables([pq.read_table(path) for path in paths]).to_pandas()
    return frame


def waiting(transcripts: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows of transcripts belong to a debate that waits for a person, by model and debate_id."""
    debates = pd.MultiIndex.from_frame(transcripts[["model", "debate_id"]])
    conclusions = transcripts["kind"] == "conclusion"
    found = [json.loads(parsed or "null") or {} for parsed in transcripts.loc[conclusions, "parsed"].fillna("")]
    waits = [outcome.get("status") == "waiting" for outcome in found]
    return pd.Series(debates.isin(debates[conclusions][waits]), transcripts.index)


def read_metadata(path: Path) -> dict[str, str]:
    """What `describe` wrote into an artifact."""
    metadata = pq.read_schema(path).metadata or {}
    return {key.decode(): value.decode() for key, value in metadata.items() if key != b"ARROW:schema"}


def write_cases(path: Path, cases: Iterable[Case], task: Task, metadata: Mapping[str, str]) -> int:
    """Write cases with their task in the metadata, so that the file alone says what is asked of them."""
    description = {name: getattr(task, name) for name in Task.__dataclass_fields__}
    description["meaning"], description["roles"] = dict(task.meaning), dict(task.roles)
    rows = ({name: getattr(case, name) for name in Case.__dataclass_fields__} for case in cases)
    rows = ({**row, "attributes": list(row["attributes"].items())} for row in rows)
    return write_rows(path, "cases", rows, {**metadata, "task": json.dumps(description, ensure_ascii=False)})


def read_cases(path: Path) -> tuple[list[Case], Task]:
    """The cases of `cases/{dataset}.parquet` and the task that they belong to."""
    metadata = read_metadata(path)
    if "task" not in metadata:
        raise UserError(f"{path}: no task in the file's metadata; expected a file that moot wrote. Rebuild it.")
    description = json.loads(metadata["task"])
    for name in ("labels", "notes"):
        description[name] = tuple(description[name])
    cases = [
        Case(**{**row, "labels": tuple(row["labels"]), "attributes": dict(row["attributes"] or [])})
        for row in pq.read_table(path).to_pylist()
    ]
    return cases, Task(**description)
