"""The recording that ships with moot: its tables are rebuilt byte for byte, and no model is loaded.

Slow: only this test detects a recording that no longer answers every request of the shipped
configuration.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import forks
from project_copy import PROJECT, unedited_copy

pytestmark = pytest.mark.slow

RECORDING = PROJECT / "data" / "recording"
TABLES = ("table4.csv", "table5.csv", "scores.csv")


def replay(folder: Path) -> Path:
    """Rebuild the recorded tables in a folder from the recording alone.

    Return the folder that they are in.
    """
    importer = [
        sys.executable,
        PROJECT / "scripts" / "import_calls.py",
        "--ledger",
        folder / "ledger",
        RECORDING,
    ]
    environment = {"PYTHONPATH": str(PROJECT / "scripts"), "PATH": ""}
    subprocess.run(importer, env=environment, check=True, stdout=subprocess.DEVNULL)
    config = yaml.safe_load((RECORDING / "tables.yaml").read_text(encoding="utf-8"))
    config["ledger"] = str(folder / "ledger")
    (folder / "replay.yaml").write_text(yaml.safe_dump(config))
    page = "results/papers/courtroom.html"
    run_snakemake(folder, page, "--configfile", PROJECT / "config" / "replay.yaml", "replay.yaml")
    return folder / "results" / "papers" / "courtroom"


def run_snakemake(folder: Path, *arguments: str | Path) -> str:
    """What Snakemake said in a folder."""
    project = unedited_copy()
    options = "--snakefile", project / "Snakefile", "--workflow-profile", "none", "--cores", "2"
    process = forks.run("-m", "snakemake", *arguments, *options, cwd=folder, project=project)
    assert process.returncode == 0, process.stdout[-4000:]
    return process.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return replay(tmp_path_factory.mktemp("replay"))


def test_the_shipped_recording_rebuilds_its_tables_byte_for_byte(built: Path) -> None:
    for table in TABLES:
        assert (built / table).read_bytes() == (RECORDING / "tables" / table).read_bytes(), table


def test_a_bundle_rebuilds_its_tables_byte_for_byte_in_an_empty_folder(
    built: Path, tmp_path: Path
) -> None:
    """One experiment of the recording is bundled, and rebuilt where nothing else is.

    The script inside checks the bundle.
    """
    folder = built.parents[2]
    files = "--configfile", PROJECT / "config" / "replay.yaml", "replay.yaml"
    run_snakemake(
        folder, "bundle", *files, "--config", "run=zero-shot-nlsy97", "replace_results=true"
    )
    file = folder / "results" / "bundle.zip"
    output = run_snakemake(tmp_path, "replay", "--config", f"bundle={file}")
    rebuilt = int(
        re.search(
            r"(\d+) of \1 files of tables and figures are byte for byte the bundle's", output
        )[1]
    )
    assert rebuilt > len(TABLES)
    assert (tmp_path / "replay/results/papers/courtroom/table4.csv").stat().st_size > 0
