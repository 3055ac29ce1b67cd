"""Fetching published data, by the addresses and checksums of `data/versions.csv`.

A file that is in place with the right content is left alone; one with other content belongs to the
user and is never overwritten. So the rule that downloads must not name the data file as its output
(Snakemake removes outputs before a job), but the record that `download` returns.
"""

import hashlib
import io
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from http.client import HTTPException
from pathlib import Path, PurePosixPath

import pandas as pd

from moot.core.artifacts import atomic_path, file_digest
from moot.core.durable import write_whole
from moot.core.errors import UserError, unknown_name
from moot.core.input_files import check_values, quoted, read_csv
from moot.core.log import LOG

COLUMNS = ("dataset", "path", "role", "url", "checksum", "member", "licence", "note")
_TIMEOUT_SECONDS = 60
_LARGEST_BYTES = 2**30
_AT_ONCE = 8
_AT_A_TIME = 2**20
Fetch = Callable[[str], bytes]


class _UnusableError(Exception):
    """An address gave nothing, or something else than the published file."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where one file may be fetched: `url`, or `member` of the zip file there."""

    url: str
    checksum: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A published file: its place under data_root, and its addresses, primary first."""

    path: str
    addresses: tuple[Address, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Fetched:
    """What became of one file: where it came from ("" if it was there) and the sha256 that it has."""

    path: Path
    url: str
    sha256: str


def write_record(path: Path, fetched: list[Fetched]) -> None:
    """Write what became of a data set's files as CSV: path, url ("" for a file that was there),
    sha256.
    """
    with atomic_path(path) as part:
        pd.DataFrame([asdict(file) for file in fetched]).to_csv(part, index=False)


def read_versions(path: Path) -> dict[str, list[RemoteFile]]:
    """The published files by data set; raises `UserError` for a fault in `data/versions.csv`."""
    table = read_csv(path, COLUMNS, get="it belongs to moot: restore it from the repository.")
    check_values(path, table["role"], ("primary", "archive"))
    files: dict[str, list[RemoteFile]] = {}
    for (dataset, place), rows in table.groupby(["dataset", "path"], sort=False):
        where = PurePosixPath(str(place))
        if where.is_absolute() or ".." in where.parts:
            fault = f"found {quoted(place)}, expected a path inside data_root"
            raise UserError(
                f"{path}: row {rows.index[0]}, column 'path': {fault}. Restore the file from the"
                " repository."
            )
        addresses = tuple(
            Address(row["url"], row["checksum"], row["member"]) for _, row in rows.iterrows()
        )
        files.setdefault(str(dataset), []).append(
            RemoteFile(str(place), addresses, rows["note"].iloc[0])
        )
    return files


def download(
    dataset: str, data_root: Path, versions: Path, fetch: Fetch | None = None
) -> list[Fetched]:
    """Put the published files of a data set in place.

    Args:
        dataset: a loader's name, as in the first column of `versions`.
        data_root: files go to their paths there, whole or not at all.
        versions: `data/versions.csv`, whose order the result has.
        fetch: gets the bytes of a URL (for tests).

    Raises:
        UserError: an unknown data set, one without a file to fetch, a file of other content in
            place, or no address that gives the right content.
    """
    known = read_versions(versions)
    if dataset not in known:
        raise unknown_name("downloadable data set", dataset, known, str(versions))
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        return list(
            threads.map(
                lambda file: _download_file(file, data_root, versions, fetch or fetch_url),
                known[dataset],
            )
        )


def matches(content: bytes, checksum: str) -> bool:
    """Whether content has a checksum: "sha256:...", or "git:..." (the blob id that git gives it)."""
    kind, _, expected = checksum.partition(":")
    if kind == "git":
        blob = b"blob %d\0" % len(content) + content
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == expected
    if kind == "sha256":
        return hashlib.sha256(content).hexdigest() == expected
    raise UserError(
        f"data/versions.csv: checksum {quoted(checksum)}; expected sha256:... or git:..."
    )


def fetch_url(url: str) -> bytes:
    """The bytes at an http or https address; raises OSError or ValueError where there are none."""
    if not url.startswith(("https://", "http://")):
        raise ValueError("not an http address")
    request = urllib.request.Request(url, headers={"User-Agent": "moot"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as reply:  # noqa: S310
        content: bytes = reply.read(_LARGEST_BYTES + 1)
        missing = reply.length
    if len(content) > _LARGEST_BYTES:
        raise ValueError(f"more than {_LARGEST_BYTES} bytes")
    if missing:
        raise ValueError(f"the connection broke off, {missing} bytes before the end")
    return content


def _download_file(file: RemoteFile, data_root: Path, versions: Path, fetch: Fetch) -> Fetched:
    if not file.path:
        raise UserError(
            f"{versions}: no single file to fetch: {file.note} ({file.addresses[0].url})."
        )
    target = data_root / file.path
    record = target.with_name(f"{target.name}.sha256")
    if target.exists():
        return _already_there(file, target, record)
    faults = []
    for address in file.addresses:
        try:
            content = _content(
                replace(address, checksum=address.checksum or _recorded(record)), fetch
            )
        except _UnusableError as fault:
            faults.append(f"{address.url}: {fault}")
            continue
        with atomic_path(target) as part:
            part.write_bytes(content)
        if not address.checksum and not record.exists():
            write_whole(record, f"{file_digest(target)}  {target.name}\n")
            LOG.warning(
                "%s: no checksum is published; what came is recorded in %s, and binding",
                target,
                record,
            )
        return Fetched(target, address.url, file_digest(target))
    raise UserError(
        f"{target}: could not be downloaded. {'; '.join(faults)}. Check the network, or fetch the"
        " file by hand from one of these addresses, put it there and set the data set's source to"
        " local."
    )


def _recorded(record: Path) -> str:
    """The checksum of the first download, where none is published; "" before that."""
    words = record.read_text(encoding="utf-8").split() if record.exists() else []
    return f"sha256:{words[0]}" if words else ""


def _unpacked(archive: zipfile.ZipFile, member: str) -> bytes:
    """A member of a zip file, read some at a time: it may be longer than it declares."""
    with archive.open(member) as file:
        parts, size = [], 0
        while part := file.read(_AT_A_TIME):
            parts.append(part)
            size += len(part)
            if max(size, archive.getinfo(member).file_size) > _LARGEST_BYTES:
                raise _UnusableError(
                    f"{quoted(member)} unpacks to more than {_LARGEST_BYTES} bytes, the most"
                    " that fit"
                )
    return b"".join(parts)


def _already_there(file: RemoteFile, target: Path, record: Path) -> Fetched:
    checksum, fault = file.addresses[0].checksum or _recorded(record), ""
    if not target.is_file() or (checksum and not matches(target.read_bytes(), checksum)):
        fault = (
            f"a file of other content is there (expected {checksum or 'a file'}); it is not"
            " overwritten"
        )
    elif not checksum:
        fault = "a file is there, and no checksum is known to tell whether it is the published one"
    if fault:
        raise UserError(
            f"{target}: {fault}. Set the data set's source to local to use it as it is, or move it"
            " away to download the published one."
        )
    return Fetched(target, "", file_digest(target))


def _content(address: Address, fetch: Fetch) -> bytes:
    """The content at an address; raises `_UnusableError` where there is none, or the wrong one."""
    try:
        content = fetch(address.url)
        if address.member:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = _unpacked(archive, address.member)
    except urllib.error.HTTPError as fault:
        raise _UnusableError(f"the server answered {fault.code} {fault.reason}") from fault
    except (zipfile.BadZipFile, zlib.error, EOFError) as fault:
        raise _UnusableError(f"not a zip file, or a damaged one ({fault})") from fault
    except KeyError as fault:
        raise _UnusableError(f"the zip file has no member {quoted(address.member)}") from fault
    except (OSError, ValueError, HTTPException) as fault:
        raise _UnusableError(
            str(getattr(fault, "reason", "") or fault) or type(fault).__name__
        ) from fault
    if not content.strip():
        raise _UnusableError("an empty file")
    if address.checksum and not matches(content, address.checksum):
        found = hashlib.sha256(content).hexdigest()
        raise _UnusableError(f"found other content (sha256 {found}), expected {address.checksum}")
    return content
