"""Check a bundle, and rebuild its tables from its replies.

This needs no model, no key and none of the original data.
"""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import sqlalchemy as sa

from moot import __version__
from moot.commands.bundling import (
    CALLS,
    CONFIGURATION,
    FAILED_CALLS,
    METADATA,
    SCHEMA,
    folder_digest,
)
from moot.commands.rehearsing import run_workflow
from moot.core.artifacts import file_digest
from moot.core.errors import MootError, RunStoppedError, UserError
from moot.llm.ledger.database import portions
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.tables import TABLES
from moot.llm.request import Reply, call_id

FOLDER = Path("replay")
LEDGER = "data/ledger"
_REBUILT_FOLDERS = ("results/tables/", "results/figures/", "results/papers/")
_UNPACKED_FOLDERS = ("results/cases/", "results/features/", "results/records/", "data/")
"""The folders to which the bundle's files may be unpacked. The run writes all other files
itself.
"""
_MAX_UNPACKED_BYTES = 20_000_000_000


@dataclass(frozen=True)
class Manifest:
    """What a bundle's metadata state.

    Attributes:
        schema: the form of the bundle.
        version: of the moot that wrote it.
        files: the SHA-256 of each file, by name.
        tables: the runs behind each table and figure, by path.
        withheld: the runs whose calls the bundle lacks.
        extensions: the digest of each folder of extensions.
    """

    schema: int
    version: str
    files: Mapping[str, str]
    tables: Mapping[str, list[str]]
    withheld: frozenset[str]
    extensions: Mapping[str, str]


def read_manifest(bundle: zipfile.ZipFile) -> Manifest:
    """Return the content of a bundle's `ro-crate-metadata.json`."""
    entities = json.loads(bundle.read(METADATA))["@graph"]
    files = {entity["@id"]: entity["sha256"] for entity in entities if "sha256" in entity}
    tables = {
        entity["@id"]: json.loads(entity["moot"])
        for entity in entities
        if "sha256" in entity and "moot" in entity
    }
    (root,) = (entity for entity in entities if entity["@id"] == "./")
    run = json.loads(root["moot"])
    return Manifest(
        run["schema"], run["version"], files, tables, frozenset(run["withheld"]), run["extensions"]
    )


def replay(file: str, shipped: Path, cores: int) -> str:
    """Rebuild the tables and figures of a bundle in `replay/`, and report which are byte-identical.

    Args:
        file: the bundle.
        shipped: the project's folder.
        cores: for the workflow.

    Raises:
        UserError: the file is not a bundle, was changed since, or was made with prompts or
            extensions that differ from the local ones.
        RunStoppedError: a reply is missing, or a table comes out differently.
    """
    if not file:
        raise UserError(
            "replay: no bundle is named. Name one: snakemake --cores 2 replay --config bundle=FILE"
        )
    if FOLDER.exists():
        raise UserError(
            f"{FOLDER}/ already exists. Move it away, since a bundle is rebuilt in a new folder."
        )
    try:
        with zipfile.ZipFile(file) as bundle:
            manifest = read_manifest(bundle)
            _check_compatibility(file, manifest, bundle, shipped)
            _check_integrity(file, manifest, bundle)
            extensions = _find_extensions(file, manifest.extensions)
            _unpack(bundle, extensions)
            _import(bundle)
    except MootError:
        raise
    except Exception as error:  # any error that a damaged file may cause, including zipfile's
        raise UserError(
            f"{file}: damaged, or not a bundle ({type(error).__name__}: {error}). Expected a file"
            " that `snakemake bundle` wrote. Ask its author for the bundle again."
        ) from None
    output_paths = {path for path in manifest.tables if path.startswith(_REBUILT_FOLDERS)}
    rebuildable = sorted(
        path for path in output_paths if manifest.withheld.isdisjoint(manifest.tables[path])
    )
    if rebuildable:
        run_workflow(FOLDER, shipped, cores, rebuildable)
    return _compare(manifest, rebuildable, sorted(output_paths - set(rebuildable)))


def _check_compatibility(
    file: str, manifest: Manifest, bundle: zipfile.ZipFile, shipped: Path
) -> None:
    """Refuse a bundle that this moot cannot rebuild, before anything is written."""
    if manifest.schema != SCHEMA:
        raise UserError(
            f"{file}: a bundle of schema {manifest.schema}; this moot reads {SCHEMA}. Update moot."
        )
    if sum(info.file_size for info in bundle.infolist()) > _MAX_UNPACKED_BYTES:
        raise UserError(
            f"{file}: unpacked it is larger than {_MAX_UNPACKED_BYTES / 1e9:.0f} GB; it is not"
            " unpacked."
        )
    changed = [
        name
        for name, digest in manifest.files.items()
        if name.endswith(".jinja") and _digest(shipped / name) != digest
    ]
    if changed:
        raise UserError(
            f"{file}: made by moot {manifest.version} with another wording of {changed[0]}"
            f" than here (moot {__version__}; {len(changed)} prompts differ). Take the bundle's"
            " own: unpack its prompts."
        )


def _check_integrity(file: str, manifest: Manifest, bundle: zipfile.ZipFile) -> None:
    """Refuse a bundle with a changed, missing or strange file or call.

    Raises:
        UserError: the bundle has such a fault; nothing has been written yet.
    """
    faults = [*_changed_files(manifest, bundle), *_changed_calls(bundle)]
    if faults:
        fault_count = f" ({len(faults)} faults in all)" if len(faults) > 1 else ""
        raise UserError(f"{file}: {faults[0]}{fault_count}. Ask its author for the bundle again.")


def _changed_files(manifest: Manifest, bundle: zipfile.ZipFile) -> Iterator[str]:
    names = bundle.namelist()
    for name in sorted({*names, *manifest.files} - {METADATA}):
        if name not in names or name not in manifest.files:
            yield f"{name} is missing, or not a file of this bundle"
        elif names.count(name) > 1:
            yield f"{name} occurs more than once"
        elif hashlib.sha256(bundle.read(name)).hexdigest() != manifest.files[name]:
            yield f"{name} was changed"


def _changed_calls(bundle: zipfile.ZipFile) -> Iterator[str]:
    """Yield the calls whose id is not the digest of their request and replicate."""
    for line in _lines(bundle, CALLS):
        call = json.loads(line)
        if call_id(call["request"], call["replicate"]) != call["call_id"]:
            yield f"{CALLS}: the request of call {call['call_id']} was changed"


def _find_extensions(file: str, digests: Mapping[str, str]) -> list[str]:
    """Return the local folders of the bundle's extensions.

    A bundle contains none, since code should be read before it runs.
    """
    for folder, digest in digests.items():
        if not Path(folder).is_dir():
            raise UserError(
                f"{file}: made with the extension {folder}, which is missing here. Ask the author "
                f"of the bundle for it, read it, and put it at {Path(folder).absolute()}."
            )
        if folder_digest(Path(folder)) != digest:
            raise UserError(
                f"{file}: the extension {folder} has changed since the bundle was made. Ask its "
                "author for the bundled version."
            )
    return [str(Path(folder).absolute()) for folder in digests]


def _digest(path: Path) -> str:
    return file_digest(path) if path.is_file() else ""


def _unpack(bundle: zipfile.ZipFile, extensions: list[str]) -> None:
    """Write the input files and the configuration into the folder.

    The configuration takes every reply from the ledger.
    """
    for name in bundle.namelist():
        if name.startswith(_UNPACKED_FOLDERS) and ".." not in PurePosixPath(name).parts:
            path = FOLDER / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bundle.read(name))
    FOLDER.mkdir(exist_ok=True)  # a bundle without cases has nothing to unpack
    raw = json.loads(bundle.read(CONFIGURATION))
    raw |= {
        "replay": True,
        "ledger": LEDGER,
        "budget": {},
        "bundle": "",
        "people": {},
        "extensions": extensions,
    }
    (FOLDER / CONFIGURATION).write_text(json.dumps(raw), encoding="utf-8")


def _import(bundle: zipfile.ZipFile) -> None:
    """Import the bundle's calls into a new ledger, including failed ones."""
    with closing(Ledger(str(FOLDER / LEDGER))) as ledger:
        for lines in portions(_lines(bundle, CALLS), 500):
            ledger.store(list(map(_entry, lines)))
        with ledger.transaction() as connection:
            for line in _lines(bundle, FAILED_CALLS):
                row = json.loads(line)
                connection.execute(sa.insert(TABLES.tables[row.pop("table")]), row)


def _lines(bundle: zipfile.ZipFile, name: str) -> Iterable[bytes]:
    with bundle.open(name) as stream:
        yield from stream


def _entry(line: bytes) -> Entry:
    call = json.loads(line)
    reply = Reply.from_json(call["reply"])
    return Entry(call["call_id"], call["model"], call["request"], call["replicate"], reply)


def _compare(manifest: Manifest, rebuilt: list[str], skipped: list[str]) -> str:
    """Return how many files are identical to the files of the bundle.

    Raises:
        RunStoppedError: a file differs.
    """
    differ = [path for path in rebuilt if _digest(FOLDER / path) != manifest.files[path]]
    lines = ["No file of the bundle was changed since it was written."]
    if rebuilt:
        lines.append(
            f"{len(rebuilt) - len(differ)} of {len(rebuilt)} files of tables and figures are byte"
            " for byte the bundle's."
        )
    if skipped:
        lines.append(
            f"{len(skipped)} depend on withheld calls (of {', '.join(sorted(manifest.withheld))})"
            f" and were not rebuilt: {', '.join(skipped)}"
        )
    if differ:
        raise RunStoppedError(" ".join([*lines, "These differ:", *differ]))
    return "\n".join(lines) + "\n"
