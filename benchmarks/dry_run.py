"""Measure a dry run of the papers' configuration: the number of jobs, and the seconds."""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Print one line."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            PROJECT / "Snakefile",
            "--directory",
            folder,
        ]
        command += [
            "--configfile",
            *sorted((PROJECT / "config" / "papers").glob("*.yaml")),
            PROJECT / "config" / "beyond.yaml",
            "--cores",
            "2",
            "--dry-run",
            "--quiet",
            "rules",
        ]
        start = time.perf_counter()
        process = subprocess.run([*command], capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - start
    total = re.search(r"^total\s+(\d+)", process.stdout + process.stderr, re.MULTILINE)
    if process.returncode or not total:
        sys.exit(f"the dry run failed:\n{process.stdout[-2000:]}{process.stderr[-2000:]}")
    print(f"- dry run of the papers and what moot adds: {total[1]} jobs, {seconds:.1f} s")


if __name__ == "__main__":
    main()
