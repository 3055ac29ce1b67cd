"""What an artifact was made from: the digests in the metadata of its Parquet file.

Snakemake's own records have the same for files of other formats.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from moot.core.artifacts import read_metadata
from moot.core.endpoint_traits import REHEARSAL_MARK
from moot.core.errors import UserError

if TYPE_CHECKING:
    from snakemake.script import Snakemake

DIGESTS = ("options", "prompts", "code")


def digests_of(job: "Snakemake") -> dict[str, str]:
    """Return the digests among the parameters of a job's rule, and whether it is a rehearsal."""
    voices = {"voices": REHEARSAL_MARK} if job.config.get("rehearsal") else {}
    names = job.params.keys()  # this is a Namedlist of Snakemake, not a dictionary
    return voices | {name: job.params[name] for name in DIGESTS if name in names}


def read_digests(path: Path) -> Mapping[str, str]:
    """Read the digests with which an artifact was made; empty while it is being made."""
    metadata = _metadata(path)
    return {name: metadata[name] for name in DIGESTS if name in metadata}


def read_sources(path: Path) -> Mapping[str, str]:
    """Read the files that an artifact was made from, with their sha256."""
    sources: Mapping[str, str] = json.loads(_metadata(path).get("sources", "{}"))
    return sources


def _metadata(path: Path) -> Mapping[str, str]:
    with suppress(UserError, OSError):
        return read_metadata(path)
    return {}
