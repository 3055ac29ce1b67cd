"""The Parquet artifacts, written atomically, with their provenance in the metadata."""

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from moot import __version__
from moot.core.cases import Case, Task
from moot.core.errors import UserError
from moot.core.schemas import SCHEMAS
from moot.core.shipped_files import SHIPPED
from moot.core.text_files import quote_value
from moot.core.types import Fields, JsonObject
from moot.core.utterance_kinds import CONCLUSION

_MOOT_METADATA_KEYS = {b"moot_version", b"licence"}
"""Keys in the metadata of every artifact and of the shipped records."""


_TASK = TypeAdapter(Task)
_ROWS_PER_GROUP = 2000


def file_digest(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`.

    It replaces `path` if the block succeeds, and is removed otherwise.
    """
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
    """Return the metadata of an artifact.

    Args:
        sources: the files that it was made from. Their sha256 is stored by their paths below
            `results/`, or for files outside the working directory by folder and name.
        extra: further entries, such as the digests of options, prompts and code.
    """
    digests = {_name_of(path): file_digest(path) for path in sources}
    return {
        "experiment": experiment,
        "moot_version": __version__,
        "sources": json.dumps(digests),
        **extra,
    }


def _name_of(path: Path) -> str:
    """Return a file's path below `results/` or the working directory, else its folder and name."""
    path = path.absolute()
    for folder in (Path("results").absolute(), Path.cwd()):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return "/".join(path.parts[-2:])


def write_rows(
    path: Path,
    kind: str,
    rows: Iterable[Fields],
    metadata: Mapping[str, str],
) -> int:
    """Write rows of one of the `SCHEMAS` as they arrive; return their number."""
    schema = SCHEMAS[kind].with_metadata(dict(metadata))
    row_count = 0
    with atomic_path(path) as part, pq.ParquetWriter(part, schema, compression="zstd") as writer:
        pending: list[Fields] = []
        for row in rows:
            pending.append(row)
            if len(pending) == _ROWS_PER_GROUP:
                writer.write_table(pa.Table.from_pylist(pending, schema=schema))
                row_count += len(pending)
                pending = []
        writer.write_table(pa.Table.from_pylist(pending, schema=schema))
    return row_count + len(pending)


def write_frame(path: Path, kind: str, frame: pd.DataFrame, metadata: Mapping[str, str]) -> None:
    """Write a frame as one of the `SCHEMAS`.

    Further columns (features) get their types from the frame.

    Raises:
        KeyError: the frame lacks a column of the schema (a programming error).
    """
    base_schema = SCHEMAS[kind]
    feature_schema = pa.Table.from_pandas(
        frame.drop(columns=base_schema.names), preserve_index=False
    ).schema
    schema = pa.schema([*base_schema, *feature_schema])
    table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
    with atomic_path(path) as part:
        pq.write_table(table.replace_schema_metadata(dict(metadata)), part, compression="zstd")


@contextmanager
def open_artifact(path: Path, remedy: str = "") -> Iterator[pa.Schema]:
    """Yield an artifact's schema; explain a failure to read the artifact in the block.

    Args:
        remedy: the remedy if it is damaged; by default, to delete it and build it again.

    Raises:
        UserError: the file does not exist, moot did not write it, it is damaged, or it lacks a
            requested column.
    """
    try:
        if not path.is_file():
            raise OSError("a folder" if path.is_dir() else "no such file")
        schema = pq.read_schema(path)
        if not _MOOT_METADATA_KEYS & set(schema.metadata or ()):
            raise OSError(
                f"a Parquet file that moot did not write, of {quote_value(', '.join(schema.names))}"
            )
        yield schema
    except (pa.ArrowException, OSError, ValueError) as fault:  # it includes texts and task
        if isinstance(fault, MemoryError) or getattr(fault, "errno", None) == errno.ENOMEM:
            raise
        if path.resolve().is_relative_to(SHIPPED / "data"):
            remedy = remedy or "It belongs to moot: restore it from the repository."
        raise damaged_file_error(path, fault, remedy) from None


def damaged_file_error(path: Path, fault: object, remedy: str = "") -> UserError:
    """Return the error for a file of moot that cannot be read."""
    cause = quote_value(" ".join(str(fault).split())).strip("'\"")
    return UserError(
        f"{path}: damaged, or not written by moot ({cause}). "
        + (
            remedy
            or "Delete it and run the same command again; calls in the ledger are not repeated."
        )
    )


def read_table(
    path: Path, columns: Sequence[str] | None = None, row_filter: pc.Expression | None = None
) -> pa.Table:
    """Read an artifact, or some columns of the rows that fit `row_filter`.

    Errors are as in `open_artifact`.
    """
    with open_artifact(path):
        table = pq.read_table(path, columns=columns, filters=row_filter, partitioning=None)
        table.validate(full=True)  # checks that texts are UTF-8
        return table


def read_frame(path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return an artifact, or some of its columns, as a frame."""
    frame: pd.DataFrame = read_table(path, columns).to_pandas()
    return frame


def read_frames(paths: Iterable[Path]) -> pd.DataFrame:
    """Read several artifacts of one kind into one frame, in the given order."""
    frame: pd.DataFrame = pa.concat_tables([read_table(path) for path in paths]).to_pandas()
    return frame


def read_chunks(path: Path, rows: int) -> Iterator[pa.RecordBatch]:
    """Read an artifact in parts of some rows."""
    with open_artifact(path), pq.ParquetFile(path) as file:
        yield from file.iter_batches(rows)


def rows_by_debate(
    paths: Iterable[Path],
    columns: Sequence[str] | None = None,
    row_filter: pc.Expression | None = None,
) -> dict[tuple[str, int], list[JsonObject]]:
    """Read the rows of transcripts or records by case and repeat, in their order.

    It takes the arguments of `read_table`.
    """
    debate_rows: dict[tuple[str, int], list[JsonObject]] = {}
    for path in paths:
        for row in read_table(path, columns, row_filter).to_pylist():
            debate_rows.setdefault((row["case_id"], row["repeat"]), []).append(row)
    return debate_rows


def repeats_by_case(debates: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """Return the repeats of each case, in order."""
    repeats: dict[str, list[int]] = {}
    for case_id, repeat in sorted(debates):
        repeats.setdefault(case_id, []).append(repeat)
    return repeats


def count_rows(path: Path) -> int:
    """Count the rows of an artifact."""
    with open_artifact(path):
        return int(pq.read_metadata(path).num_rows)


def find_waiting_rows(transcripts: pd.DataFrame) -> "pd.Series[bool]":
    """Return which rows of transcripts belong to a debate that waits, by model and debate_id."""
    debates = pd.MultiIndex.from_frame(transcripts[["model", "debate_id"]])
    conclusions = transcripts["kind"] == CONCLUSION
    outcomes = [
        json.loads(parsed or "null") or {}
        for parsed in transcripts.loc[conclusions, "parsed"].fillna("")
    ]
    is_waiting = [outcome.get("status") == "waiting" for outcome in outcomes]
    return pd.Series(debates.isin(debates[conclusions][is_waiting]), transcripts.index)


def read_metadata(path: Path) -> dict[str, str]:
    """Read the metadata that `describe` wrote into an artifact."""
    with open_artifact(path) as schema:
        return {
            key.decode(): value.decode()
            for key, value in schema.metadata.items()
            if key != b"ARROW:schema"
        }


def write_cases(path: Path, cases: Iterable[Case], task: Task, metadata: Mapping[str, str]) -> int:
    """Write cases with their task in the metadata, so that the file describes itself."""
    description = json.dumps(_TASK.dump_python(task, mode="json"), ensure_ascii=False)
    return write_rows(path, "cases", map(_row_of_case, cases), {**metadata, "task": description})


def _row_of_case(case: Case) -> Fields:
    row = {name: getattr(case, name) for name in Case.__dataclass_fields__}
    return {**row, "attributes": list(case.attributes.items())}


_CASES_PER_BATCH = 1000


def read_cases(path: Path, *, texts: bool = True) -> tuple[list[Case], Task]:
    """Read the cases of `cases/{dataset}.parquet` and their task, with or without texts."""
    metadata = read_metadata(path)
    if "task" not in metadata:
        raise UserError(
            f"{path}: no task in the file's metadata; expected a file that moot wrote. Rebuild it."
        )
    columns = [name for name in SCHEMAS["cases"].names if texts or name != "text"]
    with open_artifact(path):
        task = _TASK.validate_json(metadata["task"])
    shared_values: dict[Any, Any] = {}  # equal values of many cases are one object, for memory
    cases: list[Case] = []
    for rows in read_table(path, columns).to_batches(_CASES_PER_BATCH):
        cases += [_case_from_row(row, shared_values) for row in rows.to_pylist()]
    pa.default_memory_pool().release_unused()
    return cases, task


def _case_from_row(row: JsonObject, shared_values: dict[Any, Any]) -> Case:
    """Return a case; values that it shares with earlier cases are taken from `shared_values`."""

    def share(value: Any) -> Any:
        return shared_values.setdefault(value, value)

    attributes = {share(name): value for name, value in row["attributes"] or ()}
    fields: JsonObject = {
        "text": "",
        **row,
        "labels": share(tuple(row["labels"])),
        "attributes": attributes,
    }
    for name in ("dataset", "split", "target"):
        fields[name] = share(row[name])
    return Case(**fields)
