"""Run all benchmarks, or one: `python benchmarks/run.py [NAME.py [ARGUMENTS]]`.

A benchmark imports moot and helpers of the tests; this script puts both on its path. `--smoke`
without a name runs each benchmark at a small size.
"""

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


def run_benchmark(script: str, arguments: list[str]) -> None:
    """Run one benchmark in a process of its own, and end with its exit status if it fails."""
    import_path = os.pathsep.join([str(PROJECT / "scripts"), str(PROJECT / "tests" / "support")])
    process = subprocess.run(
        [sys.executable, PROJECT / "benchmarks" / script, *arguments],
        env={**os.environ, "PYTHONPATH": import_path},
        check=False,
    )
    if process.returncode:
        sys.exit(process.returncode)


def main() -> None:
    """Run the benchmark that the command line names, or all of them."""
    if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
        run_benchmark(sys.argv[1], sys.argv[2:])
        return
    for script, arguments_of_smoke in SCRIPTS.items():
        print(f"\n{script}\n", flush=True)
        run_benchmark(script, arguments_of_smoke if "--smoke" in sys.argv else [])


if __name__ == "__main__":
    main()
