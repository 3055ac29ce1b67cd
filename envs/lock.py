"""The lock: one resolution of all that moot and its extras need, with hashes and without addresses.

python envs/lock.py show default tabular        print the requirements of these sets, for pip
python envs/lock.py update [PACKAGE ... | all]  resolve again, with newer versions of these packages
python envs/lock.py conda                       write the conda files from the lock

`update` needs uv, which the Makefile installs; the other commands need only Python.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

ENVS = Path(__file__).resolve().parent
LOCK, PYPROJECT = ENVS / "lock.txt", ENVS.parent / "pyproject.toml"
DEFAULT, ALWAYS = "default", "packaged-model"
UV = [
    "uv",
    "pip",
    "compile",
    "--quiet",
    "--universal",
    "--python-version",
    "3.11",
    "--no-header",
    "--no-annotate",
]
ENTRY = re.compile(
    r"^(?P<name>[\w.-]+)(?:\[[\w,-]+\])?==(?P<version>\S+).*\n(?: .*\n)*", re.MULTILINE
)
SETS = re.compile(r"^    # for (.*)\n", re.MULTILINE)


def entries(lock: str) -> list[re.Match[str]]:
    """Return the packages, each with its hashes and the sets that need it.

    A package has an entry for each version that some machines or Pythons have.
    """
    return list(ENTRY.finditer(lock))


def needed_by(entry: re.Match[str]) -> set[str]:
    return set(SETS.findall(entry[0])[0].split())


def show(lock: str, sets: set[str]) -> str:
    """The requirements of sets, as pip reads them."""
    known = set.union(*map(needed_by, entries(lock)))
    if unknown := sets - known:
        sys.exit(
            f"envs/lock.txt: found no {', '.join(sorted(unknown))}; expected one of"
            f" {', '.join(sorted(known))}."
        )
    return "".join(SETS.sub("", entry[0]) for entry in entries(lock) if sets & needed_by(entry))


def resolve(before: str, arguments: list[str]) -> str:
    """What uv resolves, with the versions that were there before where they still fit."""
    if not which("uv"):
        sys.exit("envs/lock.py: found no uv, which resolves. Run: make lock")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lock.txt"
        path.write_text(before)
        command = [*UV, "--no-emit-index-url", *arguments, "-o", str(path), str(PYPROJECT)]
        done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        return path.read_text() if done.returncode == 0 else sys.exit(done.returncode)


def update(upgraded: list[str]) -> str:
    """Resolve all sets together, write the lock, and say what has changed."""
    before = LOCK.read_text() if LOCK.is_file() else ""
    upgrade = (
        ["--upgrade"] if "all" in upgraded else [f"--upgrade-package={name}" for name in upgraded]
    )
    resolved = resolve(before, ["--all-extras", "--generate-hashes", *upgrade])
    extras = tomllib.loads(PYPROJECT.read_text())["project"]["optional-dependencies"].keys() - {
        ALWAYS
    }
    sets: dict[tuple[str, str], list[str]] = {}
    for name in (DEFAULT, *sorted(extras)):
        of_set = resolve(resolved, ["--extra", ALWAYS if name == DEFAULT else name])
        for entry in entries(of_set):
            sets.setdefault(entry.group("name", "version"), []).append(name)
    written = ""
    for entry in entries(resolved):
        by = sets[entry.group("name", "version")]
        written += f"{entry[0]}    # for {DEFAULT if DEFAULT in by else ' '.join(by)}\n"
    LOCK.write_text(written)
    return changes(before, written)


def changes(before: str, after: str) -> str:
    """What an update changed, a line a package."""
    old, new = versions(before), versions(after)
    lines = [
        f"{name}: {', '.join(old.get(name, [])) or 'new'} ->"
        f" {', '.join(new.get(name, [])) or 'gone'}\n"
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]
    return "".join(lines) or "No version has changed.\n"


def versions(lock: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for entry in entries(lock):
        found.setdefault(entry["name"], []).append(entry["version"])
    return found


def conda_files(lock: str) -> dict[Path, str]:
    """Each conda file, and the hook that installs what conda-forge lacks, as the lock has them."""
    locked = {
        name: found[0] for name, found in versions(lock).items()
    }  # the first fork is that of the oldest Python
    files = {}
    for path in ENVS.glob("*.yaml"):
        pinned = re.compile(r"(?m)^(  - ([\w-]+) =).*$")
        files[path] = pinned.sub(
            lambda one: f"{one[1]}{locked.get(one[2], '3.11')}", path.read_text()
        )
    for path in ENVS.glob("*.post-deploy.sh"):
        head, names = re.findall(
            r"(?s)\A(.*?^# Packages: ([^\n]*)\n.*?<<'LOCK'\n)", path.read_text(), re.MULTILINE
        )[0]
        wanted = [
            SETS.sub("", entry[0]) for entry in entries(lock) if entry["name"] in names.split()
        ]
        files[path] = f"{head}{''.join(wanted)}LOCK\n"
    return files


def main(command: str, *names: str) -> None:
    if command == "update":
        sys.stdout.write(update(list(names)))
    elif command == "show":
        sys.stdout.write(show(LOCK.read_text(), set(names)))
    for path, text in conda_files(LOCK.read_text()).items() if command != "show" else ():
        path.write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
