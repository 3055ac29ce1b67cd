"""Run all benchmarks, or one: `python benchmarks/run.py [NAME.py [ARGUMENTS]]`.

A benchmark imports moot and helpers of the tests; this script adds both to its path. `--smoke`
without a name runs each benchmark at a small size. The benchmarks of an analysis are the modules
`benchmark_*` among its tests. Those with a constant SMOKE, the arguments for a small size, run with
all others.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SCRIPTS = {
    "house.py": ["HEAD"],
    "faults.py": [],
    "throughput.py": ["--rounds", "2", "--repeats", "1", "--concurrency", "4", "--latency", "0.01"],
    "debates.py": ["--smoke"],
    "jobs.py": ["--debates", "4", "--repeats", "1", "--jobs", "1", "2"],
    "ledger.py": ["2000"],
    "scale.py": ["40", "--a-shard", "20"],
    "dry_run.py": [],
    "kills.py": ["--kills", "2"],
    "reader.py": ["100"],
    "interval_coverage.py": ["--worlds", "2"],
}
IMPORTED_FOLDERS = ("scripts", "tests/support", "benchmarks")


def analyses_benchmarks() -> Iterator[tuple[Path, list[str] | None]]:
    """Yield the benchmarks of analyses, each with its arguments at a small size, if it has any."""
    for path in sorted(PROJECT.glob("tests/analyses/*/benchmark_*.py")):
        arguments = None
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SMOKE":
                arguments = ast.literal_eval(node.value)
        yield path, arguments


def find_benchmark(name: str) -> Path:
    """Return the file of a benchmark, here or among the tests of an analysis."""
    paths = [path for path, _ in analyses_benchmarks() if path.name == name]
    return paths[0] if paths else PROJECT / "benchmarks" / name


def run_benchmark(path: Path, arguments: list[str]) -> None:
    """Run one benchmark in a separate process, and exit with its status if it fails."""
    import_path = os.pathsep.join(str(PROJECT / folder) for folder in IMPORTED_FOLDERS)
    process = subprocess.run(
        [sys.executable, path, *arguments],
        env={**os.environ, "PYTHONPATH": import_path},
        check=False,
    )
    if process.returncode:
        sys.exit(process.returncode)


def main() -> None:
    """Run the benchmark that the command line names, or all of them."""
    if len(sys.argv) > 1 and sys.argv[1].endswith(".py"):
        run_benchmark(find_benchmark(sys.argv[1]), sys.argv[2:])
        return
    benchmarks = [(find_benchmark(name), arguments) for name, arguments in SCRIPTS.items()]
    for path, smoke_arguments in [*benchmarks, *analyses_benchmarks()]:
        if smoke_arguments is not None:
            print(f"\n{path.name}\n", flush=True)
            run_benchmark(path, smoke_arguments if "--smoke" in sys.argv else [])


if __name__ == "__main__":
    main()
