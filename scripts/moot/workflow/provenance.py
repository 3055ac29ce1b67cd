"""The record of a job below `results/provenance`: its digests, inputs and outputs.

Parquet artifacts have the same data in their metadata. Tables, figures and pages cannot, so all
jobs have a record.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import damaged_file_error, file_digest
from moot.core.durable import write_atomically
from moot.core.simulated_voice import REHEARSAL_MARK

if TYPE_CHECKING:
    from snakemake.script import Snakemake

RECORDS = Path("results/provenance")
DIGESTS = ("options", "prompts", "code")


@dataclass(frozen=True)
class JobRecord:
    """The record of one job.

    Attributes:
        rule, wildcards: the identity of the job.
        digests: options, prompts and code, cumulative.
        inputs, outputs: path to sha256 of each file or folder.
    """

    rule: str
    wildcards: Mapping[str, str]
    digests: Mapping[str, str]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]


def path_digest(path: Path) -> str:
    """Return the sha256 of a file, or of a folder's files.

    For a folder, names and contents count, but not hidden files.
    """
    if path.is_file():
        return file_digest(path)
    files = sorted(
        file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")
    )
    names = [(str(file.relative_to(path)), file_digest(file)) for file in files]
    return hashlib.sha256(repr(names).encode()).hexdigest()


def digests_of(job: "Snakemake") -> dict[str, str]:
    """Return the digests among the parameters of a job's rule, and whether it is a rehearsal."""
    voices = {"voices": REHEARSAL_MARK} if job.config.get("rehearsal") else {}
    names = job.params.keys()  # this is a Namedlist of Snakemake, not a dictionary
    return voices | {name: job.params[name] for name in DIGESTS if name in names}


@contextmanager
def write_record(job: "Snakemake") -> Iterator[None]:
    """Write a job's record if the block succeeds; a job without outputs has none."""
    outputs = [Path(path) for path in job.output]
    if not outputs:
        yield
        return
    file = RECORDS / f"{outputs[0].relative_to('results')}.json"
    file.unlink(missing_ok=True)
    inputs = _path_digests(job.input)
    yield
    record = JobRecord(
        job.rule, dict(job.wildcards), digests_of(job), inputs, _path_digests(job.output)
    )
    write_atomically(file, json.dumps(asdict(record), indent=1, sort_keys=True) + "\n")


def read_digests(path: Path) -> Mapping[str, str]:
    """Read the digests with which a job's first output was made; empty while it is being made."""
    return _field_of_record(path, "digests")


def read_inputs(path: Path) -> Mapping[str, str]:
    """Read the inputs of a job's first output, with their sha256."""
    return _field_of_record(path, "inputs")


def _field_of_record(path: Path, field: str) -> Mapping[str, str]:
    file = RECORDS / f"{path.relative_to('results')}.json"
    with suppress(OSError, ValueError, KeyError):
        value: Mapping[str, str] = json.loads(file.read_text(encoding="utf-8"))[field]
        return value
    return {}


def read_records() -> dict[str, JobRecord]:
    """Read the records of all jobs whose outputs are in `results/`, by the path of each output.

    Under another configuration the job that writes a file may have another name: the last record
    counts.
    """
    records: dict[str, JobRecord] = {}
    for file in sorted(RECORDS.rglob("*.json"), key=lambda file: file.stat().st_mtime_ns):
        try:
            record = JobRecord(**json.loads(file.read_text(encoding="utf-8")))
        except (ValueError, TypeError, OSError) as fault:
            output = Path("results", file.relative_to(RECORDS).with_suffix(""))
            raise damaged_file_error(
                file, fault, f"Delete it and {output}, then run the same command again."
            ) from None
        records.update(dict.fromkeys(record.outputs, record))
    return records


def _path_digests(paths: Iterable[str]) -> dict[str, str]:
    return {str(path): path_digest(Path(path)) for path in paths}
