"""What a process of the workflow imports.

Slow: only this test detects jobs that run the code of another copy of moot.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow


def test_jobs_import_the_running_copy_despite_another_in_the_environment(
    tmp_path: Path,
) -> None:
    """`make test` once put the checkout on PYTHONPATH.

    Copies of it ran the checkout's code, and no test saw it.
    """
    workflow = Workflow(tmp_path, "http://127.0.0.1:9", analyses=())
    (tmp_path / "moot").mkdir()
    (tmp_path / "moot" / "__init__.py").write_text("raise ImportError('another copy of moot')\n")
    process = workflow.run("results/cases/people.parquet", PYTHONPATH=str(tmp_path))
    assert process.returncode == 0, process.stdout[-4000:]


def test_starting_snakemake_loads_no_heavy_library() -> None:
    """Every registry is read at each start, so a second there is a second on every command."""
    code = (
        "import sys; from moot.plan.plan import Plan; from moot.report import FIGURES, TABLES;from"
        " moot.protocols import PROTOCOLS; from moot.datasets import LOADERS; from"
        " moot.training.baselines import BASELINES;[list(registry) for registry in (FIGURES,"
        " TABLES, PROTOCOLS, LOADERS, BASELINES)];heavy = {'huggingface_hub',"
        " 'inspect_ai', 'matplotlib', 'openai', 'ollama', 'scipy', 'sklearn', 'skops', 'xgboost',"
        " 'xllamacpp','moot.studies.appellate.masking',"
        " 'moot.studies.appellate.legal.patterns'};sys.exit(', '.join(sorted(heavy &"
        " set(sys.modules))) or 0)"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "scripts")}
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
