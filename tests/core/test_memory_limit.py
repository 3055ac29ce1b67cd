"""Test that jobs and Snakemake report insufficient memory in one message."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
PROGRAM = """
import resource, sys, threading
from pathlib import Path
sys.path[:0] = {path!r}
import numpy, pyarrow
import moot.core.artifacts
from moot.core.log import job_log

def start_threads():
    for _ in range(999):
        threading.Thread(target=threading.Event().wait, args=(9,), daemon=True).start()

def raise_group():
    raise ExceptionGroup("of tasks", [ValueError("no"), MemoryError()])

faults = (
    lambda: numpy.zeros(10**9),
    lambda: pyarrow.allocate_buffer(10**12),
    raise_group,
    start_threads,
)
pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (pages + {room}, pages + {room}))
for number, fault in enumerate(faults):
    try:
        with job_log(Path({folder!r}, str(number))):
            fault()
    except SystemExit as end:
        assert end.code == 1
"""


@pytest.mark.skipif(
    sys.platform != "linux", reason="limits of memory are the kernel's, and reported by it"
)
def test_a_job_without_memory_ends_with_one_message(tmp_path: Path) -> None:
    """An array, a table, a group of tasks and threads, each in a job's log."""
    program = PROGRAM.format(path=sys.path, folder=str(tmp_path), room=60_000_000)
    process = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    lines = process.stderr.splitlines()
    assert len(lines) == 4, process.stderr
    for number, line in enumerate(lines):
        assert "moot: not enough memory for this job (" in line
        assert "fewer jobs at once (--cores)" in line
        assert "not enough memory" in (tmp_path / str(number)).read_text()


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
