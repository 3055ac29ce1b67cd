"""Changes of a bundle, drawn at random, and which of them the check that comes with it misses."""

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable

from verify_bundle import DAMAGES, find_faults


def _without(lines: list[bytes], draw: random.Random) -> list[bytes]:
    place = draw.randrange(len(lines))
    return lines[:place] + lines[place + 1 :]


def _swapped(lines: list[bytes], draw: random.Random) -> list[bytes]:
    one, other = draw.sample(range(len(lines)), 2)
    lines = list(lines)
    lines[one], lines[other] = lines[other], lines[one]
    return lines


CHANGES: dict[str, Callable[[list[bytes], random.Random], list[bytes]]] = {
    "deletion": _without,
    "truncation": lambda lines, draw: lines[: draw.randrange(len(lines))],
    "swap": _swapped,
    "repetition": lambda lines, draw: [*lines, lines[draw.randrange(len(lines))]],
}


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def faults(content: bytes | dict[str, bytes], head: str) -> list[str]:
    """What the check says of an archive, or of files in one."""
    try:
        with zipfile.ZipFile(
            io.BytesIO(content if isinstance(content, bytes) else packed(content))
        ) as file:
            return list(find_faults(file, head))
    except DAMAGES as error:
        return [f"damaged: {error}"]


def forged(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a bundle with a manifest that fits them again, as someone would write who
    changed them.
    """
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
    """Another byte at a place that is not the end of a line."""
    place = draw.randrange(len(content))
    while content[place] == ord("\n"):
        place = draw.randrange(len(content))
    return (
        content[:place]
        + bytes([(content[place] + draw.randrange(1, 256)) % 256])
        + content[place + 1 :]
    )


def packed(files: dict[str, bytes]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()


def missed(content: bytes, head: str, changes: int, seed: int = 1) -> list[str]:
    """The changes that are not found, of so many: file and kind.

    A third each are of any file (as of an accident), of calls and log in a bundle whose manifest
    was made to fit (as of a forger), and of the archive's own bytes. What leaves the bundle saying
    the same is no change.
    """
    small = {
        name: held
        for name, held in members(content).items()
        if not name.startswith(("config/", "envs/"))
    }
    files, draw, made, found = forged(small), random.Random(seed), 0, list[str]()
    whole = packed(files)
    while made < changes:
        kind, way = draw.choice([*CHANGES, "edit"]), made % 3
        name = draw.choice(
            ["calls.jsonl", "log.txt"] if way == 1 else [name for name in files if files[name]]
        )
        if way == 2:
            name, mutated = (
                "the archive",
                (whole[: draw.randrange(len(whole))] if made % 2 else edit(whole, draw)),
            )
            says_the_same = not faults(mutated, head) and members(mutated) == files
        else:
            changed = _changed(files[name], kind, draw)
            mutated = forged({**files, name: changed}) if way else {**files, name: changed}
            says_the_same = _says_the_same(name, changed, files[name])
        if not says_the_same:
            made += 1
            found += [f"{name}: {kind}"] if not faults(mutated, head) else []
    return found


def _changed(content: bytes, kind: str, draw: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    return (
        edit(content, draw)
        if kind == "edit" or len(lines) < 2
        else b"".join(CHANGES[kind](lines, draw))
    )


def _says_the_same(name: str, changed: bytes, before: bytes) -> bool:
    """Also where JSON is written in another way, and where calls are in another order: each names
    its place.
    """
    if name == "calls.jsonl":
        return sorted(changed.splitlines()) == sorted(before.splitlines())
    try:
        return changed == before or (
            name == "manifest.json" and bool(json.loads(changed) == json.loads(before))
        )
    except ValueError:
        return False
