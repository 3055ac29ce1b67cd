"""The workflow as a user runs it: a copy of the project, another working directory, a model server
on this machine.

Slow: only this test detects rules, scripts and configuration that do not fit together.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fault_server import FaultServer
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

CLAIMS = Path("claim_stance", "claim_stance_dataset_v1.csv")

DEBATE_TARGETS = ("results/scores/trial.parquet", "results/scores/single.parquet")
TARGETS = (
    *DEBATE_TARGETS,
    "results/tables/courtroom/deferral.csv",
    "results/figures/comparison/deferral.png",
)


@pytest.fixture(scope="module")
def built(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    """A workflow that has run once."""
    workflow = Workflow(tmp_path_factory.mktemp("workflow"), server.url, analyses=("deferral",))
    process = workflow.run(*TARGETS)
    assert process.returncode == 0, process.stdout[-4000:]
    return workflow


def test_jobs_import_the_running_copy_despite_another_in_the_environment(
    tmp_path: Path,
) -> None:
    """`make test` once put the checkout on PYTHONPATH: copies of it ran the checkout's code, and no
    test saw it.
    """
    workflow = Workflow(tmp_path, "http://127.0.0.1:9", analyses=())
    (tmp_path / "moot").mkdir()
    (tmp_path / "moot" / "__init__.py").write_text("raise ImportError('another copy of moot')\n")
    process = workflow.run("results/cases/people.parquet", PYTHONPATH=str(tmp_path))
    assert process.returncode == 0, process.stdout[-4000:]


EDITS = {
    "scripts/moot/scores/confidence_scores.py": {"score", "tables_courtroom", "figures_courtroom"},
    "scripts/moot/llm/chat.py": {
        "run_debates",
        "predict",
        "score",
        "tables_courtroom",
        "figures_courtroom",
    },
}


def test_an_edited_module_reruns_the_rules_that_state_its_folder(built: Workflow) -> None:
    for name, rules in EDITS.items():
        file = built.project / name
        text, state = file.read_text(), file.stat()
        file.write_text(f"{text}\nEDITED = True\n")
        assert built.jobs(*TARGETS) == rules
        file.write_text(text)
        # with another time, each later process would import all modules anew
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def test_another_model_in_the_catalogue_reruns_nothing(built: Workflow) -> None:
    built.configure({"models/unused": {"model": "another"}})
    assert built.jobs(*TARGETS) == set()
    built.configure({})


def test_an_edited_local_file_is_loaded_again(built: Workflow) -> None:
    built.configure({"datasets/filed": {"loader": "claim_stance", "source": "local"}})
    table = built.work / "data" / "raw" / CLAIMS
    table.parent.mkdir(parents=True)
    shutil.copy(built.project / "data" / "samples" / CLAIMS, table)
    cases = "results/cases/filed.parquet"
    process = built.run(cases)
    assert process.returncode == 0, process.stdout[-4000:]
    table.write_text("".join(table.read_text().splitlines(keepends=True)[:-1]))
    assert built.jobs(cases) == {"load_cases"}
    built.configure({})


def test_a_preview_counts_the_remaining_calls_without_a_call(
    built: Workflow, server: FaultServer
) -> None:
    request_count = server.count()
    built.configure({"experiments/trial/cases": 5})
    process = built.run("preview")
    built.configure({})
    assert process.returncode == 0, process.stdout[-4000:]
    row = next(
        line.split() for line in process.stdout.splitlines() if line.strip().startswith("trial")
    )
    calls = ["trial", "5", "48", "32"]
    assert row[:4] == calls, "16 calls a debate, three debates in the ledger"
    assert server.count() == request_count


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
