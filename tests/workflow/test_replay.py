"""The recording that ships with moot: its tables are rebuilt byte for byte, and no model is loaded."""

import subprocess
import sys
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[2]
RECORDING = PROJECT / "data" / "recording"
TABLES = ("table5_courtroom.csv", "summary.csv")
EXPERIMENTS = ["courtroom-nlsy97", "courtroom-likelihood-nlsy97", "zero-shot-nlsy97"]


def replay(folder: Path) -> Path:
    """Rebuild the recorded tables in a folder, from the recording alone, and give the folder that they are in."""
    importer = [sys.executable, PROJECT / "scripts" / "import_calls.py", "--ledger", folder / "ledger", RECORDING]
    environment = {"PYTHONPATH": str(PROJECT / "scripts"), "PATH": ""}
    subprocess.run(importer, env=environment, check=True, stdout=subprocess.DEVNULL)
    config = {"ledger": str(folder / "ledger"), "run": EXPERIMENTS, "datasets": {"nlsy97": {"baselines": []}}}
    (folder / "replay.yaml").write_text(yaml.safe_dump(config))
    targets = [f"results/tables/courtroom/{table}" for table in TABLES]
    command = [sys.executable, "-m", "snakemake", *targets, "--snakefile", PROJECT / "Snakefile"]
    command += [
        "--configfile",
        PROJECT / "config" / "replay.yaml",
        "replay.yaml",
        "--workflow-profile",
        "none",
        "--cores",
        "2",
    ]
    done = subprocess.run(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-4000:]
    return folder / "results" / "tables" / "courtroom"


def test_the_shipped_recording_rebuilds_its_tables_byte_for_byte(tmp_path: Path) -> None:
    built = replay(tmp_path)
    for table in TABLES:
        assert (built / table).read_bytes() == (RECORDING / "tables" / table).read_bytes(), table
