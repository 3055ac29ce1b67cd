"""Test the contents of a bundle and its independent check, which detects every change."""

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

from bundled_runs import KEY, TABLE, hold_run, make_bundle
from changed_bundles import find_bundle_faults, forge_manifest, missed_changes, pack, read_members
from courtroom_runs import PROJECT
from moot.commands.bundling import BUNDLE
from moot.commands.crate import CRATE, write_crate
from moot.commands.replaying import replay
from moot.core.config import Publication
from moot.core.errors import UserError
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.ledger.reply_chain import head_of, read_log, seal
from moot.llm.request import Reply, call_id
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.workflow import targets
from moot.workflow.empty_outputs import LIST
from verify_bundle import sha256

CHECK = [sys.executable, "-I", str(PROJECT / "scripts" / "verify_bundle.py")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bundle")


@pytest.fixture(scope="module")
def raw(folder: Path) -> dict[str, Any]:
    """Return the configuration of a run of ten debates with a table, which shares its cases."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return hold_run()


@pytest.fixture(autouse=True)
def run_in_folder(folder: Path, raw: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_a_bundle_is_consistent_and_reproducible(raw: dict[str, Any]) -> None:
    content, head, report = make_bundle(raw)
    assert make_bundle(raw) == (content, head, report), "the same ledger gives the same bytes"
    assert "1 files of tables and figures, 10 calls" in report
    files = read_members(content)
    assert not find_bundle_faults(files, head)
    check_with_head = subprocess.run(
        [*CHECK, BUNDLE, "--expected-head", head], capture_output=True, text=True, check=False
    )
    assert (check_with_head.returncode, check_with_head.stdout) == (0, run_path(CHECK[-1])["SOUND"])
    assert (
        "The manifest lists the replies behind each table; only `replay` proves tables."
        in check_with_head.stdout
    )
    check_without_head = subprocess.run(
        [*CHECK, BUNDLE], capture_output=True, text=True, check=False
    )
    assert (
        "Without --expected-head a bundle that its author made again is not detected."
        in check_without_head.stdout
    )
    assert (
        files[TABLE] == b"accuracy\n0.5\n"
        and "verify_bundle.py" in files
        and "results/cases/people.parquet" in files
    )
    assert not any(KEY.encode() in content for content in files.values())


HEADER = "method,accuracy\n"
EMPTY_FIGURE, DRAWN_FIGURE = "<svg><dc:description>nothing to draw", "<svg><path/></svg>"


@pytest.mark.parametrize("remaining_list", [None, "[]", '["tables/courtroom/paired_tests"]'])
@pytest.mark.parametrize(
    ("kind", "text", "is_bundled"),
    [
        ("tables", HEADER, False),
        ("tables", "\ufeff" + HEADER, False),
        ("tables", '"a header\nof two lines",b\n', False),
        ("tables", "", False),
        ("tables", HEADER + "debate,0.5\n", True),
        ("figures", EMPTY_FIGURE, False),
        ("figures", DRAWN_FIGURE, True),
    ],
)
def test_a_bundle_leaves_out_what_is_empty_and_changes_no_file(
    raw: dict[str, Any], kind: str, text: str, is_bundled: bool, remaining_list: str | None
) -> None:
    plan = Plan.from_yaml(raw, PROJECT)
    registry, files_of = (
        (TABLES, targets.table_files) if kind == "tables" else (FIGURES, targets.figure_files)
    )
    names = targets.names_by_job(plan, registry)["courtroom"]
    name = next(name for name in names if f"results/tables/{name}.csv" != TABLE)
    paths = [*map(Path, files_of([name])), Path(f"results/captions/{kind}/{name}.rst")]
    if remaining_list is not None:
        LIST.write_text(remaining_list)
        paths.append(LIST)
    for path in set(paths) - {LIST}:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    contents = files_of_run()
    try:
        members = read_members(make_bundle(raw)[0])
        assert files_of_run() == contents
    finally:
        for path in paths:
            path.unlink()
    assert {path in members for path in files_of([name])} == {is_bundled}
    assert TABLE in members


def files_of_run() -> dict[str, bytes]:
    """Return the content of each file in `results`, except the bundle."""
    paths = [path for path in Path("results").rglob("*") if path.is_file() and path != BUNDLE]
    return {str(path): path.read_bytes() for path in paths}


def test_the_configuration_keeps_the_order_of_experiments(
    raw: dict[str, Any],
) -> None:
    experiment = raw["experiments"]["asked"]
    files = read_members(
        make_bundle(
            {
                **raw,
                "experiments": {"later": experiment, **raw["experiments"], "before": experiment},
            }
        )[0]
    )
    assert list(json.loads(files["configuration.json"])["experiments"]) == [
        "later",
        "asked",
        "before",
    ]


def test_unshared_cases_are_left_out_with_their_calls(raw: dict[str, Any]) -> None:
    local_data = {"people": {"loader": "nlsy97", "source": "local"}}
    content, head, report = make_bundle({**raw, "share": {}, "datasets": local_data})
    files = read_members(content)
    assert not find_bundle_faults(files, head)
    assert "the calls of asked/m. 0 of the 1 files do not need these calls" in report
    assert files["calls.jsonl"] == b"" and len(files["log.txt"].split()) == 10
    assert not any(name.startswith("results/cases") for name in files)
    assert not any(b"prior arrests" in content for content in files.values())
    assert json.loads(files["manifest.json"])["calls"]["asked/m"]["withheld"] == list(range(10))


def test_every_change_of_a_bundle_is_detected(raw: dict[str, Any]) -> None:
    """`benchmarks/fuzz_bundle.py` draws 10,000 changes."""
    content, head, _ = make_bundle(raw)
    assert missed_changes(content, head, 1000) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not a zip file", "damaged, or not a bundle"),
        ({"manifest.json": b'{"schema": 1}'}, "schema 1"),
        ({"manifest.json": b"[]"}, "damaged, or not a bundle"),
        ({"other": b""}, "damaged, or not a bundle"),
    ],
)
def test_an_invalid_bundle_is_refused_in_one_message(
    content: bytes | dict[str, bytes], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "b.zip"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        with zipfile.ZipFile(file, "w") as archive:
            for name, member in content.items():
                archive.writestr(name, member)
    with pytest.raises(UserError, match=message):
        replay(str(file), PROJECT, 1)
    process = subprocess.run([*CHECK, file], capture_output=True, text=True, check=False)
    assert process.returncode == 1 and "Traceback" not in process.stderr
    assert message in process.stderr


def test_a_bundle_contains_a_datasheet_of_each_data_set(raw: dict[str, Any]) -> None:
    sheet = read_members(make_bundle(raw)[0])["datasheets/people.md"].decode()
    for words in (
        "- test, no: 10",
        "- without an age: 1",
        "`source: synthetic`",
        "A case is the person.",
    ):
        assert words in sheet
    assert "https://" not in sheet, "generated cases have no publication"


def test_a_bundle_becomes_a_crate_of_a_workflow_run(raw: dict[str, Any], tmp_path: Path) -> None:
    """Each file has its digest; the run made the tables from the other files."""
    crates = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")
    make_bundle(raw)
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


def assert_refused(content: bytes, message: str, folder: Path) -> None:
    """Check that a bundle is refused by check and replay with one message, without traces."""
    file = folder / "b.zip"
    file.write_bytes(content)
    process = subprocess.run([*CHECK, file], capture_output=True, text=True, check=False)
    assert (process.returncode, "Traceback" in process.stderr) == (1, False)
    assert message in process.stderr
    with pytest.raises(UserError, match=re.escape(message)) as refusal:
        replay(str(file), PROJECT, 1)
    assert "\n" not in str(refusal.value) and not Path("replay").exists()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_bundle_is_refused(raw: dict[str, Any], share: float, tmp_path: Path) -> None:
    content = make_bundle(raw)[0]
    assert_refused(
        content[: int(share * len(content))], "damaged, or not a bundle (BadZipFile", tmp_path
    )


def test_an_archive_with_the_encryption_flag_is_refused(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    content = bytearray(make_bundle(raw)[0])
    for entry in re.finditer(rb"PK\x01\x02", bytes(content)):
        content[entry.start() + 8] |= 0x41
    assert_refused(bytes(content), "damaged, or not a bundle (NotImplementedError", tmp_path)


def test_a_bundle_that_does_not_share_people_contains_no_names(raw: dict[str, Any]) -> None:
    """Cover the configuration, records of jobs, tables, frozen plans and an unreadable table."""
    named_files = {
        name: Path(f"results/{name}")
        for name in ("tables/courtroom/paired_tests.xlsx", "provenance/labels.json")
    }
    named_files["plan"] = Path("data/frozen/plan-1.yaml")
    for path in named_files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            json.dumps(
                {"from": ["data/annotations/desk-panel-жанна.csv", "person:ann"], "by": "Annabel"}
            )
        )
    table_text = Path(TABLE).read_text()
    Path(TABLE).write_text("first,second\nhuman:ann,human:жанна\nannul,Ann\n")
    first_experiment = {
        **raw["experiments"]["asked"],
        "params": {"seats": {"expert": "person:ann"}},
    }
    second_experiment = {**first_experiment, "params": {"seats": {"expert": "person:жанна"}}}
    with_people = {
        **raw,
        "experiments": {
            **raw["experiments"],
            "sat": first_experiment,
            "sat-too": second_experiment,
        },
    }
    files = read_members(make_bundle(with_people)[0])
    files_with_name = [
        name
        for name, content in files.items()
        if "жанна" in content.decode(errors="replace") or b"\\u0436" in content
    ]
    assert files_with_name == [] and not any(
        re.search(rb":ann\b", content) for content in files.values()
    )
    assert (
        json.loads(files["configuration.json"])["experiments"]["sat"]["params"]["seats"]["expert"]
        == "person:person-1"
    )
    assert files[TABLE].decode() == "first,second\nhuman:person-1,human:person-2\nannul,Ann\n"
    assert (
        not {"data/frozen/plan-1.yaml", "results/tables/courtroom/paired_tests.xlsx"} & files.keys()
    )
    shared = read_members(
        make_bundle({**with_people, "share": {"datasets": ["people"], "people": True}})[0]
    )
    assert (
        b"person:ann" in shared["data/frozen/plan-1.yaml"]
        and "human:жанна" in shared[TABLE].decode()
    )
    for path in named_files.values():
        path.unlink()
    Path(TABLE).write_text(table_text)


def test_a_bundle_with_missing_calls_is_refused(raw: dict[str, Any], tmp_path: Path) -> None:
    files = read_members(make_bundle(raw)[0])
    files["calls.jsonl"] = b"".join(files["calls.jsonl"].splitlines(keepends=True)[:-3])
    assert_refused(
        pack(forge_manifest(files)), "asked/m: reply 7 is not in calls.jsonl (3 missing)", tmp_path
    )


def test_calls_that_no_table_uses_are_refused(raw: dict[str, Any], tmp_path: Path) -> None:
    files = read_members(make_bundle(raw)[0])
    manifest = json.loads(files["manifest.json"])
    manifest["calls"]["asked/m"]["shown"] = manifest["calls"]["asked/m"]["shown"][:-2]
    files["manifest.json"] = json.dumps(manifest).encode()
    assert_refused(
        pack(forge_manifest(files)),
        "no run uses reply 8 (2 unused replies)",
        tmp_path,
    )


def test_a_missing_or_changed_extension_is_named(raw: dict[str, Any], tmp_path: Path) -> None:
    extension = Path("mine")
    extension.mkdir()
    (extension / "words.py").write_text("WORDS = 1\n")
    file = tmp_path / "b.zip"
    file.write_bytes(make_bundle({**raw, "extensions": ["mine"]})[0])
    assert not any(name.startswith("mine") for name in read_members(file.read_bytes()))
    (extension / "words.py").write_text("WORDS = 2\n")
    with pytest.raises(UserError, match="the extension mine has changed"):
        replay(str(file), PROJECT, 1)
    extension.rename(tmp_path / "elsewhere")
    with pytest.raises(
        UserError,
        match=r"made with the extension mine, which is missing here\. Ask the author of",
    ):
        replay(str(file), PROJECT, 1)
    assert not Path("replay").exists()


def test_the_continued_ledger_of_two_merged_ones_keeps_its_heads(raw: dict[str, Any]) -> None:
    _, old_head, _ = make_bundle(raw)
    with closing(Ledger("other")) as merged_ledger:
        request = '{"messages":[]}'
        entry = Entry(call_id(request, 0), "m", request, 0, Reply(text="an answer"))
        merged_ledger.store([entry])
        seal(merged_ledger)
        head = head_of(row.digest for row in read_log(merged_ledger))
    with closing(Ledger(raw["ledger"])) as ledger:
        ledger.store([entry])
    content, new_head, _ = make_bundle(raw)
    files = read_members(content)
    assert new_head != old_head and len(files["log.txt"].split()) == 11
    assert find_bundle_faults(files, old_head) == find_bundle_faults(files, new_head) == []
    (fault,) = find_bundle_faults(files, f"{head['replies']}:{head['digest']}")
    assert "its first 1 replies differ from the published head" in fault
    assert (
        "the head is from another ledger (if two ledgers are merged, only one keeps its heads)"
        in fault
    )


@pytest.mark.parametrize("head", ["10", "ten:ff", "-1:ff", "99:ff"])
def test_an_invalid_head_is_named(raw: dict[str, Any], head: str) -> None:
    (fault,) = find_bundle_faults(make_bundle(raw)[0], head)
    assert "replies differ from the published head" in fault


def test_a_changed_prompt_is_refused_before_anything_is_written(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    files = read_members(make_bundle(raw)[0])
    (name,) = (name for name in files if name.endswith("prompting/zero_shot.jinja"))
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for member, text in forge_manifest({**files, name: b"other words"}).items():
            archive.writestr(member, text)
    with pytest.raises(UserError, match=f"another wording of {name}"):
        replay(str(tmp_path / "b.zip"), PROJECT, 1)
    assert not Path("replay").exists()


@pytest.mark.parametrize(
    ("share", "message"), [({"datasets": ["peple"]}, "share.datasets: 'peple' is not a data set")]
)
def test_an_unknown_data_set_cannot_be_shared(
    raw: dict[str, Any], share: Any, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        make_bundle({**raw, "share": share})
