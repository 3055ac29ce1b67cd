"""Test that Snakemake reports insufficient memory in one message."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def address_space_of_snakemake() -> int:
    """Return the kilobytes that Snakemake takes before it reads the workflow.

    Its plugins and what they import differ by environment.
    """
    program = (
        "import re\n"
        "from snakemake.cli import get_argument_parser\n"
        "get_argument_parser()\n"
        "print(re.search(r'VmPeak:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return int(process.stdout)


@pytest.mark.slow  # Snakemake hangs only in a separate process
def test_snakemake_without_memory_ends_with_one_message(tmp_path: Path) -> None:
    # with 80 MB more, one start in ten ended before it reached the workflow
    kilobytes = max(300_000, address_space_of_snakemake() + 140_000)
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        PROJECT / "Snakefile",
        "--directory",
        tmp_path,
    ]
    process = subprocess.run(
        [*command, "--cores", "2"],
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (1024 * kilobytes, 1024 * kilobytes)
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1
    assert "Traceback" not in process.stderr
    assert (
        f"not enough memory for Snakemake itself: its address space is limited to {kilobytes} kB"
        in process.stderr
    )
    assert "give fewer cores" in process.stderr
