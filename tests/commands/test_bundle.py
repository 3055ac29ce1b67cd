"""A bundle of a run: what is in it, what stays out, and that every change of it is found by a check that is not moot's."""

import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from courtroom_runs import PROJECT, configuration, people
from fault_server import FaultServer
from moot.commands.bundling import BUNDLE, bundle
from moot.commands.replaying import replay
from moot.core.artifacts import read_cases
from moot.core.errors import UserError
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from verify_bundle import faults_of

CASES = Path("results/cases/people.parquet")
TABLE = "results/tables/courtroom/summary.csv"
KEY = "sk-thisisakeythatnofilemayhold1234"
CHECK = [sys.executable, "-I", str(PROJECT / "scripts" / "verify_bundle.py")]


def raw_configuration(url: str, **keys: Any) -> dict[str, Any]:
    raw = configuration(url, Path(), {})
    raw["models"] = {"m": {"model": "m", "base_url": url, "api_key_env": "BUNDLE_KEY"}}
    raw["experiments"] = {"asked": {"protocol": "zero_shot", "dataset": "people", "models": ["m"], "cases": 10}}
    return {**raw, "run": [], **keys}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundle")


@pytest.fixture(scope="module")
def raw(folder: Path) -> dict[str, Any]:
    """A run of ten debates with a table, whose configuration shares its cases."""
    patch = pytest.MonkeyPatch()
    patch.chdir(folder)
    patch.setenv("BUNDLE_KEY", KEY)
    with FaultServer() as server:
        raw = raw_configuration(server.url, share={"datasets": ["people"]})  # as a user's own would be
        people(CASES, 20)
        plan = Plan.from_yaml(raw, PROJECT)
        shard = Path("results/transcripts/asked/m/0.parquet")
        write_transcripts(plan, Job("asked", "m", *read_cases(CASES), shard=0), [CASES], shard)
        outputs = (Path(f"results/{kind}/asked/m.parquet") for kind in ("predictions", "calls"))
        write_predictions(plan, "asked", CASES, [shard], *outputs)
    Path(TABLE).parent.mkdir(parents=True)
    Path(TABLE).write_text("a table\n")
    patch.undo()
    return raw


@pytest.fixture(autouse=True)
def inside(folder: Path, raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def bundled(raw: dict[str, Any]) -> tuple[bytes, str, str]:
    """A bundle's bytes, the head that its maker publishes, and what was said."""
    said = bundle(Plan.from_yaml(raw, PROJECT), raw)
    (head,) = (line.rpartition(" ")[2] for line in said.splitlines() if "The ledger's head" in line)
    return BUNDLE.read_bytes(), head, said


def members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def faults(files: dict[str, bytes], head: str) -> list[str]:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    with zipfile.ZipFile(packed) as file:
        try:
            return list(faults_of(file, head))
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            return [f"damaged: {error}"]


def forged(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files of a bundle with a manifest that fits them again, as someone would write who changed them."""
    manifest = json.loads(files["manifest.json"])
    manifest.pop("digest")
    manifest["files"] = {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "manifest.json"
    }
    manifest["digest"] = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    return {**files, "manifest.json": json.dumps(manifest).encode()}


def test_a_bundle_agrees_with_itself_and_is_the_same_again(raw: dict[str, Any]) -> None:
    content, head, said = bundled(raw)
    assert bundled(raw) == (content, head, said), "the same ledger gives the same bytes"
    assert "1 files of tables and figures, 10 calls" in said
    files = members(content)
    assert not faults(files, head)
    checked = subprocess.run([*CHECK, BUNDLE, "--expected-head", head], capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout) == (0, "Every file and every reply is as it was bundled.\n")
    alone = subprocess.run([*CHECK, BUNDLE], capture_output=True, text=True, check=False)
    assert "No head was given: its maker could have made all of it anew" in alone.stdout
    assert files[TABLE] == b"a table\n" and "verify_bundle.py" in files and "results/cases/people.parquet" in files
    assert not any(KEY.encode() in content for content in files.values())


def test_cases_that_are_not_shared_stay_out_with_all_calls_about_them(raw: dict[str, Any]) -> None:
    local = {"people": {"loader": "nlsy97", "source": "local"}}
    content, head, said = bundled({**raw, "share": {}, "datasets": local})
    files = members(content)
    assert not faults(files, head)
    assert "the calls of asked/m. Of the 1 files 0 rest on none of these" in said
    assert files["calls.jsonl"] == b"" and len(files["log.txt"].split()) == 10
    assert not any(name.startswith("results/cases") for name in files)
    assert not any(b"prior arrests" in content for content in files.values())
    assert json.loads(files["manifest.json"])["calls"]["asked/m"]["withheld"] == list(range(10))


CHANGES: dict[str, Callable[[list[bytes], random.Random], list[bytes]]] = {
    "deletion": lambda lines, draw: [line for place, line in enumerate(lines) if place != draw.randrange(len(lines))],
    "truncation": lambda lines, draw: lines[: draw.randrange(len(lines))],
    "swap": lambda lines, draw: [lines[-1], *lines[1:-1], lines[0]],
    "repetition": lambda lines, draw: [*lines, lines[draw.randrange(len(lines))]],
}


def edit(content: bytes, draw: random.Random) -> bytes:
    """Another byte at a place that is not the end of a line."""
    place = draw.choice([place for place, byte in enumerate(content) if byte != ord("\n")])
    return content[:place] + bytes([(content[place] + draw.randrange(1, 256)) % 256]) + content[place + 1 :]


@pytest.mark.parametrize("is_forged", [False, True], ids=["changed", "forged"])
def test_every_change_of_a_bundle_is_found(raw: dict[str, Any], is_forged: bool) -> None:
    """Of calls and log even where the manifest was made to fit; of other files where it was not."""
    content, head, _ = bundled(raw)
    small = {name: held for name, held in members(content).items() if not name.startswith(("config/", "envs/"))}
    files, draw = forged(small), random.Random(1)
    names = ["calls.jsonl", "log.txt"] if is_forged else [name for name in files if files[name]]
    missed = []
    for number in range(500):
        name = draw.choice(names)
        kind = draw.choice([*CHANGES, "edit"])
        lines = files[name].splitlines(keepends=True)
        changed = edit(files[name], draw) if kind == "edit" or len(lines) < 2 else b"".join(CHANGES[kind](lines, draw))
        if changed == files[name] or (name == "manifest.json" and _means_the_same(changed, files[name])):
            continue
        mutated = {**files, name: changed}
        if not faults(forged(mutated) if is_forged else mutated, head) and not _is_reordered(name, changed, files):
            missed.append((number, name, kind))
    assert not missed


def _means_the_same(changed: bytes, before: bytes) -> bool:
    try:
        return bool(json.loads(changed) == json.loads(before))
    except ValueError:
        return False


def _is_reordered(name: str, changed: bytes, files: dict[str, bytes]) -> bool:
    """Lines of calls each name their place in the log: in another order they say the same."""
    return name == "calls.jsonl" and sorted(changed.splitlines()) == sorted(files[name].splitlines())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a zip file", "damaged, or not a bundle"),
        ({"manifest.json": b'{"schema": 2}'}, "schema 2"),
        ({"manifest.json": b"[]"}, "damaged, or not a bundle"),
        ({"other": b""}, "damaged, or not a bundle"),
    ],
)
def test_what_is_no_bundle_is_refused_in_one_message(
    content: bytes | dict[str, bytes], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "b.zip"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        with zipfile.ZipFile(file, "w") as archive:
            for name, held in content.items():
                archive.writestr(name, held)
    with pytest.raises(UserError, match=message):
        replay(str(file), PROJECT, 1)
    checked = subprocess.run([*CHECK, file], capture_output=True, text=True, check=False)
    assert checked.returncode == 1 and "Traceback" not in checked.stderr
    assert message in checked.stderr


def test_another_wording_is_refused_before_anything_is_written(raw: dict[str, Any], tmp_path: Path) -> None:
    files = members(bundled(raw)[0])
    (name,) = (name for name in files if name.endswith("prompting/zero_shot.jinja"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for other, held in forged({**files, name: b"other words"}).items():
            archive.writestr(other, held)
    with pytest.raises(UserError, match=f"another wording of {name}"):
        replay(str(tmp_path / "b.zip"), PROJECT, 1)
    assert not Path("replay").exists()


@pytest.mark.parametrize(("share", "message"), [({"datasets": ["peple"]}, "share.datasets: 'peple' is no data set")])
def test_a_data_set_that_the_run_has_not_cannot_be_shared(raw: dict[str, Any], share: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        bundled({**raw, "share": share})
