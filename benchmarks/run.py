"""All benchmarks, one after the other; `--smoke` runs each at a small size, to see that it runs."""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SCRIPTS = {
    "house.py": [],
    "throughput.py": ["--rounds", "2", "--repeats", "1", "--concurrency", "4", "--latency", "0.01"],
    "debates.py": ["--smoke"],
    "jobs.py": ["--debates", "4", "--repeats", "1", "--jobs", "1", "2"],
    "ledger.py": ["2000"],
    "scale.py": ["40", "--a-shard", "20"],
    "dry_run.py": [],
    "kills.py": ["--kills", "2"],
    "reader.py": ["100"],
    "coverage_differences.py": ["--repetitions", "2"],
    "coverage_components.py": ["--worlds", "2"],
    "coverage_deferral.py": ["--worlds", "20"],
    "coverage_panels.py": ["--worlds", "2"],
    "coverage_ratings.py": ["--worlds", "2"],
    "coverage_sequential.py": ["--orders", "2"],
    "coverage_grid.py": ["--worlds", "2"],
    "fuzz_bundle.py": ["100"],
}


def main() -> None:
    """Run every benchmark in a process of its own; one that fails ends all."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(
            map(str, (PROJECT / "scripts", PROJECT / "tests" / "support"))
        ),
    }
    for script, arguments_of_smoke in SCRIPTS.items():
        print(f"\n{script}\n", flush=True)
        arguments = arguments_of_smoke if "--smoke" in sys.argv else []
        subprocess.run(
            [sys.executable, PROJECT / "benchmarks" / script, *arguments],
            env=environment,
            check=True,
        )


if __name__ == "__main__":
    main()
