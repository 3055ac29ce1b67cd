"""A bundle of a run: what is in it, what stays out, and that every change of it is found by a check
that is not moot's.
"""

import json
import re
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from bundled_runs import KEY, TABLE, bundled, hold_run
from changed_bundles import faults, forged, members, missed, packed
from courtroom_runs import PROJECT
from moot.commands.bundling import BUNDLE
from moot.commands.crate import CRATE, write_crate
from moot.commands.replaying import replay
from moot.core.config import Publication
from moot.core.errors import UserError
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.log import head_of, read_log, seal
from moot.llm.request import Reply, call_id
from verify_bundle import sha256

CHECK = [sys.executable, "-I", str(PROJECT / "scripts" / "verify_bundle.py")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundle")


@pytest.fixture(scope="module")
def raw(folder: Path) -> dict[str, Any]:
    """A run of ten debates with a table, whose configuration shares its cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return hold_run()


@pytest.fixture(autouse=True)
def inside(folder: Path, raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_a_bundle_agrees_with_itself_and_is_the_same_again(raw: dict[str, Any]) -> None:
    content, head, said = bundled(raw)
    assert bundled(raw) == (content, head, said), "the same ledger gives the same bytes"
    assert "1 files of tables and figures, 10 calls" in said
    files = members(content)
    assert not faults(files, head)
    checked = subprocess.run(
        [*CHECK, BUNDLE, "--expected-head", head], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout) == (0, run_path(CHECK[-1])["SOUND"])
    assert (
        "On which a table rests the manifest says; only `replay` proves tables." in checked.stdout
    )
    alone = subprocess.run([*CHECK, BUNDLE], capture_output=True, text=True, check=False)
    assert "No head was given: its maker could have made it anew" in alone.stdout
    assert (
        files[TABLE] == b"a table\n"
        and "verify_bundle.py" in files
        and "results/cases/people.parquet" in files
    )
    assert not any(KEY.encode() in content for content in files.values())


def test_the_configuration_keeps_its_order_by_which_tables_have_their_rows(
    raw: dict[str, Any],
) -> None:
    one = raw["experiments"]["asked"]
    files = members(
        bundled({**raw, "experiments": {"later": one, **raw["experiments"], "before": one}})[0]
    )
    assert list(json.loads(files["configuration.json"])["experiments"]) == [
        "later",
        "asked",
        "before",
    ]


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


def test_every_change_of_a_bundle_is_found(raw: dict[str, Any]) -> None:
    """`benchmarks/fuzz_bundle.py` draws 10,000."""
    content, head, _ = bundled(raw)
    assert missed(content, head, 1000) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a zip file", "damaged, or not a bundle"),
        ({"manifest.json": b'{"schema": 1}'}, "schema 1"),
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


def test_a_bundle_holds_a_datasheet_of_each_data_set(raw: dict[str, Any]) -> None:
    sheet = members(bundled(raw)[0])["datasheets/people.md"].decode()
    for words in (
        "- test, no: 10",
        "- without an age: 1",
        "`source: synthetic`",
        "A case is the person.",
    ):
        assert words in sheet
    assert "https://" not in sheet, "made-up cases were published nowhere"


def test_a_bundle_becomes_a_crate_of_a_workflow_run(raw: dict[str, Any], tmp_path: Path) -> None:
    """Each file has its digest; the run made the tables from the other files."""
    crates = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")
    bundled(raw)
    write_crate(Publication(license="CC-BY-4.0", creator="Example University"))
    crate = crates.ROCrate(CRATE)
    run, workflow = crate.get("#run"), crate.mainEntity
    assert (crate.license, crate.creator["name"]) == ("CC-BY-4.0", "Example University")
    assert workflow.id == "Snakefile" and "ComputationalWorkflow" in workflow.type
    assert run["instrument"].id == "Snakefile" and run["result"][0].id == TABLE
    assert crate.get("calls.jsonl") in run["object"]
    manifest = json.loads(zipfile.ZipFile(BUNDLE).read("manifest.json"))
    with zipfile.ZipFile(CRATE) as archive:
        for name in manifest["files"].keys() - {"Snakefile"}:
            assert crate.get(name)["sha256"] == sha256(archive.read(name))


def test_a_crate_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(UserError, match="make env EXTRAS=crate"):
        write_crate(Publication())


def refused(content: bytes, message: str, folder: Path) -> None:
    """Neither checked nor unpacked, each with one message; nothing is left behind."""
    file = folder / "b.zip"
    file.write_bytes(content)
    checked = subprocess.run([*CHECK, file], capture_output=True, text=True, check=False)
    assert (checked.returncode, "Traceback" in checked.stderr) == (1, False)
    assert message in checked.stderr
    with pytest.raises(UserError, match=re.escape(message)) as refusal:
        replay(str(file), PROJECT, 1)
    assert "\n" not in str(refusal.value) and not Path("replay").exists()


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_truncated_bundle_is_refused(raw: dict[str, Any], kept: float, tmp_path: Path) -> None:
    content = bundled(raw)[0]
    refused(content[: int(kept * len(content))], "damaged, or not a bundle (BadZipFile", tmp_path)


def test_an_archive_that_says_it_is_encrypted_is_refused(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    content = bytearray(bundled(raw)[0])
    for entry in re.finditer(rb"PK\x01\x02", bytes(content)):
        content[entry.start() + 8] |= 0x41
    refused(bytes(content), "damaged, or not a bundle (NotImplementedError", tmp_path)


def test_nobody_is_named_in_a_bundle_that_does_not_share_people(raw: dict[str, Any]) -> None:
    """Names in the configuration, in records of jobs, in tables and in frozen plans; a table that
    cannot be changed.
    """
    own = {
        name: Path(f"results/{name}")
        for name in ("tables/courtroom/summary.xlsx", "provenance/labels.json")
    }
    own["plan"] = Path("data/frozen/plan-1.yaml")
    for path in own.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps(
                {"from": ["data/annotations/desk-panel-жанна.csv", "person:ann"], "by": "Annabel"}
            )
        )
    before = Path(TABLE).read_text()
    Path(TABLE).write_text("first,second\nhuman:ann,human:жанна\nannul,Ann\n")
    seated = {**raw["experiments"]["asked"], "params": {"seats": {"expert": "person:ann"}}}
    others = {**seated, "params": {"seats": {"expert": "person:жанна"}}}
    with_people = {**raw, "experiments": {**raw["experiments"], "sat": seated, "sat-too": others}}
    files = members(bundled(with_people)[0])
    named = [
        name
        for name, held in files.items()
        if "жанна" in held.decode(errors="replace") or b"\\u0436" in held
    ]
    assert named == [] and not any(re.search(rb":ann\b", held) for held in files.values())
    assert (
        json.loads(files["configuration.json"])["experiments"]["sat"]["params"]["seats"]["expert"]
        == "person:person-1"
    )
    assert files[TABLE].decode() == "first,second\nhuman:person-1,human:person-2\nannul,Ann\n"
    assert not {"data/frozen/plan-1.yaml", "results/tables/courtroom/summary.xlsx"} & files.keys()
    shared = members(bundled({**with_people, "share": {"datasets": ["people"], "people": True}})[0])
    assert (
        b"person:ann" in shared["data/frozen/plan-1.yaml"]
        and "human:жанна" in shared[TABLE].decode()
    )
    for path in own.values():
        path.unlink()
    Path(TABLE).write_text(before)


def test_a_bundle_whose_calls_are_cut_off_is_refused(raw: dict[str, Any], tmp_path: Path) -> None:
    files = members(bundled(raw)[0])
    files["calls.jsonl"] = b"".join(files["calls.jsonl"].splitlines(keepends=True)[:-3])
    refused(packed(forged(files)), "asked/m: reply 7 is not in calls.jsonl (3 missing)", tmp_path)


def test_calls_on_which_no_table_rests_are_refused(raw: dict[str, Any], tmp_path: Path) -> None:
    files = members(bundled(raw)[0])
    manifest = json.loads(files["manifest.json"])
    manifest["calls"]["asked/m"]["shown"] = manifest["calls"]["asked/m"]["shown"][:-2]
    files["manifest.json"] = json.dumps(manifest).encode()
    refused(
        packed(forged(files)),
        "no run names reply 8, so that nothing rests on it (2 such)",
        tmp_path,
    )


def test_an_extension_that_is_missing_or_another_one_is_named(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    mine = Path("mine")
    mine.mkdir()
    (mine / "words.py").write_text("WORDS = 1\n")
    file = tmp_path / "b.zip"
    file.write_bytes(bundled({**raw, "extensions": ["mine"]})[0])
    assert not any(name.startswith("mine") for name in members(file.read_bytes()))
    (mine / "words.py").write_text("WORDS = 2\n")
    with pytest.raises(UserError, match="the extension mine is not as it was"):
        replay(str(file), PROJECT, 1)
    mine.rename(tmp_path / "elsewhere")
    with pytest.raises(
        UserError,
        match=r"made with the extension mine, which is not here\. Get it from whoever made",
    ):
        replay(str(file), PROJECT, 1)
    assert not Path("replay").exists()


def test_of_two_merged_ledgers_the_one_that_went_on_keeps_its_heads(raw: dict[str, Any]) -> None:
    _, before, _ = bundled(raw)
    with closing(Ledger("other")) as other:
        request = '{"messages":[]}'
        entry = Entry(call_id(request, 0), "m", request, 0, Reply(text="an answer"))
        other.store([entry])
        seal(other)
        head = head_of(row.digest for row in read_log(other))
    with closing(Ledger(raw["ledger"])) as ledger:
        ledger.store([entry])
    content, after, _ = bundled(raw)
    files = members(content)
    assert after != before and len(files["log.txt"].split()) == 11
    assert faults(files, before) == faults(files, after) == []
    (fault,) = faults(files, f"{head['replies']}:{head['digest']}")
    assert "its first 1 replies are not those of the published head" in fault
    assert "it is another ledger's (of two merged ones, one keeps its heads)" in fault


@pytest.mark.parametrize("head", ["10", "ten:ff", "-1:ff", "99:ff"])
def test_a_head_that_is_none_is_named(raw: dict[str, Any], head: str) -> None:
    (fault,) = faults(bundled(raw)[0], head)
    assert "replies are not those of the published head" in fault


def test_another_wording_is_refused_before_anything_is_written(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    files = members(bundled(raw)[0])
    (name,) = (name for name in files if name.endswith("prompting/zero_shot.jinja"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for other, held in forged({**files, name: b"other words"}).items():
            archive.writestr(other, held)
    with pytest.raises(UserError, match=f"another wording of {name}"):
        replay(str(tmp_path / "b.zip"), PROJECT, 1)
    assert not Path("replay").exists()


@pytest.mark.parametrize(
    ("share", "message"), [({"datasets": ["peple"]}, "share.datasets: 'peple' is no data set")]
)
def test_a_data_set_that_the_run_has_not_cannot_be_shared(
    raw: dict[str, Any], share: Any, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        bundled({**raw, "share": share})
