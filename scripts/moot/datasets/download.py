"""Download published data by the addresses and checksums of `data/versions.csv`.

A file that has the right content is left alone. A file with other content belongs to the user and
is never overwritten. The address of a downloaded file is stored next to it, in NAME.url, so that
later records have it as well. Snakemake removes the outputs of a rule before its job, so the rule
that downloads must not name the data file as its output; it names the record of `download` instead.
"""

import hashlib
import io
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from http.client import HTTPException
from pathlib import Path, PurePosixPath

import pandas as pd

from moot.core.artifacts import atomic_path, file_digest
from moot.core.durable import write_atomically
from moot.core.errors import UserError, unknown_name
from moot.core.log import LOG
from moot.core.text_files import quote_value
from moot.datasets.reading.checks import check_values
from moot.datasets.reading.delimited import read_csv

COLUMNS = ("dataset", "path", "role", "url", "checksum", "member", "licence", "note")
_TIMEOUT_SECONDS = 60
_MAX_BYTES = 2**30
_THREADS = 8
_CHUNK_BYTES = 2**20
Fetch = Callable[[str], bytes]


class _UnusableError(Exception):
    """An address does not give the published file."""


@dataclass(frozen=True, slots=True)
class Address:
    """A source of one file: `url`, or `member` of the zip file there."""

    url: str
    checksum: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A published file: its path under data_root, and its addresses, primary first."""

    path: str
    addresses: tuple[Address, ...]
    note: str


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A file in place, the address it came from ("" if the user put it there), and its sha256."""

    path: Path
    url: str
    sha256: str


def write_record(path: Path, files: list[FetchedFile]) -> None:
    """Write the files of a data set as CSV with the columns path, url and sha256."""
    with atomic_path(path) as part:
        pd.DataFrame([asdict(file) for file in files]).to_csv(part, index=False)


def read_versions(path: Path) -> dict[str, list[RemoteFile]]:
    """Return the published files by data set.

    Raises:
        UserError: `data/versions.csv` has a fault.
    """
    table = read_csv(path, COLUMNS, get="it belongs to moot: restore it from the repository.")
    check_values(path, table["role"], ("primary", "archive"))
    rows_by_file: dict[tuple[str, str], list[dict[Hashable, str]]] = {}
    for row in table.reset_index().to_dict("records"):
        rows_by_file.setdefault((row["dataset"], row["path"]), []).append(row)
    files: dict[str, list[RemoteFile]] = {}
    for (dataset, path_name), file_rows in rows_by_file.items():
        relative_path = PurePosixPath(path_name)
        if relative_path.is_absolute() or ".." in relative_path.parts:
            fault = f"found {quote_value(path_name)}, expected a path inside data_root"
            raise UserError(
                f"{path}: row {file_rows[0]['row']}, column 'path': {fault}. Restore the file"
                " from the repository."
            )
        addresses = tuple(Address(row["url"], row["checksum"], row["member"]) for row in file_rows)
        remote_file = RemoteFile(path_name, addresses, file_rows[0]["note"])
        files.setdefault(dataset, []).append(remote_file)
    return files


def download(
    dataset: str, data_root: Path, versions: Path, fetch: Fetch | None = None
) -> list[FetchedFile]:
    """Put the published files of a data set in place.

    Args:
        dataset: a loader's name, as in the first column of `versions`.
        data_root: the folder of the files; each is written whole or not at all.
        versions: `data/versions.csv`.
        fetch: returns the bytes at a URL; tests replace it.

    Returns:
        The files, in the order of `versions`.

    Raises:
        UserError: the data set is unknown or has no file to download, a file with other content is
            in place, or no address gives the right content.
    """
    files_of_dataset = read_versions(versions)
    if dataset not in files_of_dataset:
        raise unknown_name("downloadable data set", dataset, files_of_dataset, str(versions))
    with ThreadPoolExecutor(_THREADS) as threads:
        return list(
            threads.map(
                lambda file: _download_file(file, data_root, versions, fetch or fetch_url),
                files_of_dataset[dataset],
            )
        )


def matches(content: bytes, checksum: str) -> bool:
    """Return whether content has a checksum: "sha256:...", or "git:..." (the blob id in git)."""
    kind, _, expected = checksum.partition(":")
    if kind == "git":
        blob = b"blob %d\0" % len(content) + content
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == expected
    if kind == "sha256":
        return hashlib.sha256(content).hexdigest() == expected
    raise UserError(
        f"data/versions.csv: checksum {quote_value(checksum)}; expected sha256:... or git:..."
    )


def fetch_url(url: str) -> bytes:
    """Return the bytes at an http or https address.

    Raises:
        OSError, ValueError: the address gives no usable content.
    """
    if not url.startswith(("https://", "http://")):
        raise ValueError("not an http address")
    request = urllib.request.Request(url, headers={"User-Agent": "moot"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as reply:  # noqa: S310
        content: bytes = reply.read(_MAX_BYTES + 1)
        missing = reply.length
    if len(content) > _MAX_BYTES:
        raise ValueError(f"more than {_MAX_BYTES} bytes")
    if missing:
        raise ValueError(f"the connection broke off, {missing} bytes before the end")
    return content


def _download_file(file: RemoteFile, data_root: Path, versions: Path, fetch: Fetch) -> FetchedFile:
    if not file.path:
        raise UserError(
            f"{versions}: there is no single file to download: {file.note}"
            f" ({file.addresses[0].url})."
        )
    target = data_root / file.path
    record = target.with_name(f"{target.name}.sha256")
    if target.exists():
        return _check_present_file(file, target, record)
    faults = []
    for address in file.addresses:
        try:
            content = _fetch_content(
                replace(address, checksum=address.checksum or _recorded_checksum(record)), fetch
            )
        except _UnusableError as fault:
            faults.append(f"{address.url}: {fault}")
            continue
        write_atomically(_address_file(target), f"{address.url}\n")
        with atomic_path(target) as part:
            part.write_bytes(content)
        if not address.checksum and not record.exists():
            write_atomically(record, f"{file_digest(target)}  {target.name}\n")
            LOG.warning(
                "%s: no checksum is published; that of this download is recorded in %s and binding",
                target,
                record,
            )
        return FetchedFile(target, address.url, file_digest(target))
    raise UserError(
        f"{target}: could not be downloaded. {'; '.join(faults)}. Check the network, or fetch the"
        " file by hand from one of these addresses, put it there and set the data set's source to"
        " local."
    )


def _address_file(target: Path) -> Path:
    """Return the file that keeps the address of a downloaded file."""
    return target.with_name(f"{target.name}.url")


def _recorded_address(target: Path) -> str:
    """Return the address that a file in place was downloaded from; "" if it was not downloaded."""
    file = _address_file(target)
    return file.read_text(encoding="utf-8").strip() if file.exists() else ""


def _recorded_checksum(record: Path) -> str:
    """Return the checksum of the first download if none is published; "" before a download."""
    words = record.read_text(encoding="utf-8").split() if record.exists() else []
    return f"sha256:{words[0]}" if words else ""


def _unpack(archive: zipfile.ZipFile, member: str) -> bytes:
    """Return a member of a zip file, read in chunks because it may be longer than it declares."""
    with archive.open(member) as file:
        parts, size = [], 0
        while part := file.read(_CHUNK_BYTES):
            parts.append(part)
            size += len(part)
            if max(size, archive.getinfo(member).file_size) > _MAX_BYTES:
                raise _UnusableError(
                    f"{quote_value(member)} unpacks to more than {_MAX_BYTES} bytes, the maximum"
                )
    return b"".join(parts)


def _check_present_file(file: RemoteFile, target: Path, record: Path) -> FetchedFile:
    checksum, fault = file.addresses[0].checksum or _recorded_checksum(record), ""
    if not target.is_file() or (checksum and not matches(target.read_bytes(), checksum)):
        fault = f"found other content (expected {checksum or 'a file'}), which is not overwritten"
    elif not checksum:
        fault = "the file exists, but no checksum can show whether it is the published one"
    if fault:
        raise UserError(
            f"{target}: {fault}. Set the data set's source to local to use this file, or move it"
            " away to download the published one."
        )
    return FetchedFile(target, _recorded_address(target), file_digest(target))


def _fetch_content(address: Address, fetch: Fetch) -> bytes:
    """Return the published content at an address.

    Raises:
        _UnusableError: the address gives nothing, or other content.
    """
    try:
        content = fetch(address.url)
        if address.member:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = _unpack(archive, address.member)
    except urllib.error.HTTPError as fault:
        raise _UnusableError(f"the server answered {fault.code} {fault.reason}") from fault
    except (zipfile.BadZipFile, zlib.error, EOFError) as fault:
        raise _UnusableError(f"the zip file cannot be read ({fault})") from fault
    except KeyError as fault:
        raise _UnusableError(f"the zip file has no member {quote_value(address.member)}") from fault
    except (OSError, ValueError, HTTPException) as fault:
        raise _UnusableError(
            str(getattr(fault, "reason", "") or fault) or type(fault).__name__
        ) from fault
    if not content.strip():
        raise _UnusableError("the file is empty")
    if address.checksum and not matches(content, address.checksum):
        digest = hashlib.sha256(content).hexdigest()
        raise _UnusableError(f"found other content (sha256 {digest}), expected {address.checksum}")
    return content
