"""Random changes of a bundle, and the changes that the check in the bundle misses."""

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable

from verify_bundle import DAMAGES, find_faults


def _delete_line(lines: list[bytes], draw: random.Random) -> list[bytes]:
    place = draw.randrange(len(lines))
    return lines[:place] + lines[place + 1 :]


def _swap_lines(lines: list[bytes], draw: random.Random) -> list[bytes]:
    first, second = draw.sample(range(len(lines)), 2)
    lines = list(lines)
    lines[first], lines[second] = lines[second], lines[first]
    return lines


CHANGES: dict[str, Callable[[list[bytes], random.Random], list[bytes]]] = {
    "deletion": _delete_line,
    "truncation": lambda lines, draw: lines[: draw.randrange(len(lines))],
    "swap": _swap_lines,
    "repetition": lambda lines, draw: [*lines, lines[draw.randrange(len(lines))]],
}


def read_members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def find_bundle_faults(content: bytes | dict[str, bytes], head: str) -> list[str]:
    """Return the faults that the check reports for an archive, or for the files of one."""
    archive = content if isinstance(content, bytes) else pack(content)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as file:
            return list(find_faults(file, head))
    except DAMAGES as error:
        return [f"damaged: {error}"]


def forge_manifest(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of a bundle with a new manifest that fits them, as a forger would make."""
    manifest = json.loads(files["manifest.json"])
    manifest.pop("digest")
    manifest["files"] = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in files.items()
        if name != "manifest.json"
    }
    manifest["digest"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    return {**files, "manifest.json": json.dumps(manifest).encode()}


def edit(content: bytes, draw: random.Random) -> bytes:
    """Change one byte that is not the end of a line."""
    place = draw.randrange(len(content))
    while content[place] == ord("\n"):
        place = draw.randrange(len(content))
    byte = bytes([(content[place] + draw.randrange(1, 256)) % 256])
    return content[:place] + byte + content[place + 1 :]


def pack(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()


def missed_changes(content: bytes, head: str, changes: int, seed: int = 1) -> list[str]:
    """Return file and kind of each of `changes` random changes that the check misses.

    A third of the changes damage any file, as an accident does; a third change calls or the log and
    fit the manifest to them, as a forger does; a third change bytes of the archive. A change that
    leaves the content of the bundle equivalent is not counted.
    """
    members = read_members(content)
    for name in [name for name in members if name.startswith(("config/", "envs/"))]:
        del members[name]
    files = forge_manifest(members)
    archive = pack(files)
    draw = random.Random(seed)
    count, misses = 0, list[str]()
    mutated: bytes | dict[str, bytes]
    while count < changes:
        kind, way = draw.choice([*CHANGES, "edit"]), count % 3
        non_empty = [name for name in files if files[name]]
        name = draw.choice(["calls.jsonl", "log.txt"] if way == 1 else non_empty)
        if way == 2:
            name = "the archive"
            is_cut = count % 2 == 1
            mutated = archive[: draw.randrange(len(archive))] if is_cut else edit(archive, draw)
            is_same = not find_bundle_faults(mutated, head) and read_members(mutated) == files
        else:
            changed = _change(files[name], kind, draw)
            is_same = _is_equivalent(name, changed, files[name])
            mutated = {**files, name: changed}
            mutated = forge_manifest(mutated) if way == 1 else mutated
        if not is_same:
            count += 1
            misses += [] if find_bundle_faults(mutated, head) else [f"{name}: {kind}"]
    return misses


def _change(content: bytes, kind: str, draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if kind == "edit" or len(lines) < 2:
        return edit(content, draw)
    return b"".join(CHANGES[kind](lines, draw))


def _is_equivalent(name: str, changed: bytes, original: bytes) -> bool:
    """Return whether a changed file says the same.

    The order of calls does not matter, because each names its place, nor does the spelling of JSON.
    """
    if name == "calls.jsonl":
        return sorted(changed.splitlines()) == sorted(original.splitlines())
    try:
        return changed == original or (
            name == "manifest.json" and bool(json.loads(changed) == json.loads(original))
        )
    except ValueError:
        return False
