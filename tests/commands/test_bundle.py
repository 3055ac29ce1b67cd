"""Test a bundle: an RO-Crate without secrets, of which `replay` refuses every change."""

import hashlib
import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from rocrate.rocrate import ROCrate

from courtroom_runs import PROJECT, configuration, people
from debate_jobs import debate_job
from fault_server import FaultServer
from messages import refusal
from moot.commands.bundling import BUNDLE, METADATA, write_bundle
from moot.commands.replaying import replay
from moot.core.errors import UserError
from moot.jobs.debates import write_transcripts
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan

CASES = Path("results/cases/people.parquet")
TABLE = "results/tables/courtroom/deferral.csv"
KEY = "sk-thisisakeythatnofilemayhold1234"


def raw_configuration(url: str, **keys: Any) -> dict[str, Any]:
    raw = configuration(url, Path(), {})
    raw["models"] = {"m": {"model": "m", "base_url": url, "api_key_env": "BUNDLE_KEY"}}
    raw["experiments"] = {
        "asked": {"protocol": "zero_shot", "dataset": "people", "models": ["m"], "cases": 10}
    }
    return {**raw, "run": [], **keys}


def hold_run() -> dict[str, Any]:
    """Hold a run that shares its cases in the working directory, and return its configuration."""
    os.environ["BUNDLE_KEY"] = KEY
    with FaultServer() as server:
        raw = raw_configuration(server.url, share={"datasets": ["people"]})
        people(CASES, 20)
        CASES.with_name("people_cleaning.csv").write_text(
            "what,count\nrows read,21\nwithout an age,1\n"
        )
        plan = Plan.from_yaml(raw, PROJECT)
        shard = Path("results/transcripts/asked/m/0.parquet")
        write_transcripts(debate_job(plan, "asked", "m", CASES, shard=0), [CASES], shard)
        outputs = (Path(f"results/{kind}/asked/m.parquet") for kind in ("predictions", "calls"))
        write_predictions(plan.config, plan.experiments["asked"], CASES, [shard], *outputs)
    Path(TABLE).parent.mkdir(parents=True)
    Path(TABLE).write_text("accuracy\n0.5\n")
    return raw


def make_bundle(raw: dict[str, Any]) -> tuple[bytes, str]:
    """Write a bundle and return its bytes and the message."""
    message = write_bundle(Plan.from_yaml(raw, PROJECT), raw)
    return BUNDLE.read_bytes(), message


def read_members(content: bytes) -> dict[str, bytes]:
    """Return the files of a bundle."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(files: dict[str, bytes]) -> bytes:
    """Return an archive of files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()


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


def test_a_bundle_is_reproducible_and_holds_no_key(raw: dict[str, Any]) -> None:
    content, report = make_bundle(raw)
    assert make_bundle(raw) == (content, report), "the same ledger gives the same bytes"
    assert "1 files of tables and figures, 10 calls" in report
    files = read_members(content)
    assert files[TABLE] == b"accuracy\n0.5\n" and "results/cases/people.parquet" in files
    assert len(files["calls.jsonl"].splitlines()) == 10
    assert not any(KEY.encode() in content for content in files.values())


def test_a_bundle_is_a_crate_with_a_digest_of_each_file(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    """Read it with the package `rocrate`: the run made the tables from the other files."""
    publication = {"license": "CC-BY-4.0", "creator": "Example University"}
    content, _ = make_bundle({**raw, "publication": publication})
    (tmp_path / "b.zip").write_bytes(content)
    crate = ROCrate(tmp_path / "b.zip")
    run, workflow = crate.get("#run"), crate.mainEntity
    assert (crate.license, crate.creator["name"]) == ("CC-BY-4.0", "Example University")
    assert workflow.id == "Snakefile" and "ComputationalWorkflow" in workflow.type
    assert run["instrument"].id == "Snakefile" and run["result"][0].id == TABLE
    assert crate.get("calls.jsonl") in run["object"]
    for name, text in read_members(content).items():
        if name != METADATA:
            assert crate.get(name)["sha256"] == hashlib.sha256(text).hexdigest()


def test_unshared_cases_are_left_out_with_their_calls(raw: dict[str, Any]) -> None:
    local_data = {"people": {"loader": "nlsy97", "source": "local"}}
    content, report = make_bundle({**raw, "share": {}, "datasets": local_data})
    files = read_members(content)
    assert "the calls of asked/m. 0 of the 1 files do not need these calls" in report
    assert "--config 'share={datasets: [people]}'" in report
    assert files["calls.jsonl"] == b""
    assert not any(name.startswith("results/cases") for name in files)
    assert not any(b"prior arrests" in content for content in files.values())


def test_a_bundle_without_cases_is_checked_though_nothing_can_be_rebuilt(
    raw: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local_data = {"people": {"loader": "nlsy97", "source": "local"}}
    content, _ = make_bundle({**raw, "share": {}, "datasets": local_data})
    monkeypatch.chdir(tmp_path)
    Path("b.zip").write_bytes(content)
    report = replay("b.zip", PROJECT, 1)
    assert "No file of the bundle was changed" in report and "1 depend on withheld" in report


def assert_refused(content: bytes, message: str, folder: Path) -> None:
    """Check that `replay` refuses a bundle in one line and leaves no trace."""
    file = folder / "b.zip"
    file.write_bytes(content)
    with pytest.raises(UserError, match=re.escape(message)) as refusal:
        replay(str(file), PROJECT, 1)
    assert "\n" not in str(refusal.value) and not Path("replay").exists()


@pytest.mark.parametrize(
    "content", [b"not a zip file", pack({METADATA: b"[]"}), pack({"other": b""})]
)
def test_a_file_that_is_no_bundle_is_refused(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(content, "damaged, or not a bundle", tmp_path)


def test_a_bundle_with_a_changed_missing_or_added_file_is_refused(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    files = read_members(make_bundle(raw)[0])
    assert_refused(pack({**files, TABLE: b"accuracy\n0.9\n"}), f"{TABLE} was changed", tmp_path)
    without = {name: text for name, text in files.items() if name != TABLE}
    assert_refused(pack(without), f"{TABLE} is missing", tmp_path)
    assert_refused(pack({**files, "more": b""}), "more is missing, or not a file", tmp_path)


def test_a_call_with_another_request_is_refused(raw: dict[str, Any], tmp_path: Path) -> None:
    """Also if the digest of the file is changed with it."""
    files = read_members(make_bundle(raw)[0])
    calls = files["calls.jsonl"]
    first, _, rest = calls.partition(b"\n")
    call = json.loads(first)
    call["replicate"] += 1
    forged = json.dumps(call).encode() + b"\n" + rest
    old, new = (hashlib.sha256(text).hexdigest().encode() for text in (calls, forged))
    files |= {"calls.jsonl": forged, METADATA: files[METADATA].replace(old, new)}
    assert_refused(pack(files), "calls.jsonl: the request of call", tmp_path)


def test_a_bundle_that_does_not_share_people_contains_no_names(raw: dict[str, Any]) -> None:
    """Cover the configuration, tables, frozen plans and an unreadable table."""
    named_files = {
        "table": Path("results/tables/courtroom/deferral.xlsx"),
        "plan": Path("data/frozen/plan-1.yaml"),
    }
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
            "sat": first_experiment,
            **raw["experiments"],
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
    experiments = json.loads(files["configuration.json"])["experiments"]
    assert experiments["sat"]["params"]["seats"]["expert"] == "person:person-1"
    assert list(experiments) == ["sat", "asked", "sat-too"], "their order is kept"
    assert files[TABLE].decode() == "first,second\nhuman:person-1,human:person-2\nannul,Ann\n"
    assert not {"data/frozen/plan-1.yaml", "results/tables/courtroom/deferral.xlsx"} & files.keys()
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


def test_a_changed_prompt_is_refused_before_anything_is_written(
    raw: dict[str, Any], tmp_path: Path
) -> None:
    files = read_members(make_bundle(raw)[0])
    (name,) = (name for name in files if name.endswith("prompting/zero_shot.jinja"))
    digest = hashlib.sha256(files[name]).hexdigest().encode()
    metadata = files[METADATA].replace(digest, b"0" * 64)
    (tmp_path / "b.zip").write_bytes(pack({**files, METADATA: metadata}))
    with pytest.raises(UserError, match=f"another wording of {name}"):
        replay(str(tmp_path / "b.zip"), PROJECT, 1)
    assert not Path("replay").exists()


@pytest.mark.parametrize("share", [{"datasets": ["peple"]}])
def test_an_unknown_data_set_cannot_be_shared(raw: dict[str, Any], share: Any) -> None:
    with refusal():
        make_bundle({**raw, "share": share})
