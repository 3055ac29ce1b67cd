"""The workflow with a user's modules and wordings, in the user's folder.

Slow: only this test detects an extension that works in a process and not in Snakemake's jobs.
"""

import shutil
import subprocess
from copy import deepcopy
from pathlib import Path

import pandas as pd
import pytest
import yaml

import forks
from fault_server import FaultServer
from project_copy import Workflow

pytestmark = pytest.mark.slow

OWN_EXTENSION = Path(__file__).resolve().parents[1] / "support" / "own"
FIRM = '{% extends "courtroom/base.jinja" %}{% block instruction %}Decide now.{% endblock %}\n'
CONFIG = {
    "run": ["coins", "trial"],
    "extensions": "own",
    "models/echo": {"endpoint": "echo", "model": "echo"},
    "datasets/coins": {"source": "synthetic", "coins": 40, "baselines": ["own", "majority-class"]},
    "experiments/coins": {
        "protocol": "ask",
        "dataset": "coins",
        "models": "echo",
        "params": {"tone": "kind"},
        "labelers": ["rules"],
    },
    "experiments/trial": {
        "protocol": "courtroom",
        "dataset": "people",
        "models": "served",
        "cases": 2,
        "grid": {"prompts": ["", "wordings/firm"]},
    },
}
TARGETS = (
    "results/tables/own/letters.csv",
    "results/figures/own/letters.png",
    "results/baselines/coins.parquet",
    "results/tables/courtroom/deferral.csv",
    "results/cases/vast.parquet",
)


@pytest.fixture(scope="module")
def built(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Workflow:
    workflow = Workflow(tmp_path_factory.mktemp("extended"), server.url, analyses=("deferral",))
    shutil.copytree(
        OWN_EXTENSION, workflow.work / "own", ignore=shutil.ignore_patterns("__pycache__")
    )
    wording = workflow.work / "wordings" / "firm" / "courtroom" / "verdict.jinja"
    wording.parent.mkdir(parents=True)
    wording.write_text(FIRM)
    workflow.configure(deepcopy(CONFIG))
    process = workflow.run(*TARGETS)
    assert process.returncode == 0, process.stdout[-6000:]
    return workflow


def read_result(workflow: Workflow, path: str) -> pd.DataFrame:
    return pd.read_parquet(workflow.work / "results" / path)


def test_what_the_user_registers_works_like_moots_own(built: Workflow) -> None:
    assert set(read_result(built, "predictions/coins/echo.parquet")["prediction"]) == {
        "heads",
        "tails",
    }
    assert (
        "Be kind, and think of 2." in read_result(built, "calls/coins/echo.parquet")["request"][0]
    )
    assert set(read_result(built, "labels/coins/echo.parquet")["labeler"]) == {"rules"}
    leaders = read_result(built, "baselines/coins.parquet")
    assert set(leaders.loc[leaders["baseline"] == "first", "status"]) == {"ok"}
    assert "coins" in (built.work / TARGETS[0]).read_text()


def test_two_wordings_are_two_experiments_and_share_the_calls_that_are_the_same(
    built: Workflow, server: FaultServer
) -> None:
    assert server.count() == 2 * 16 + 2, (
        "two debates of 16 calls, and two verdicts in another wording"
    )
    paired = pd.read_csv(built.work / TARGETS[3])
    assert {"trial-prompts=none", "trial-prompts=wordings-firm"} <= set(
        paired.astype(str).to_numpy().ravel()
    )


def test_an_edit_reruns_only_dependent_jobs(built: Workflow) -> None:
    wording = built.work / "wordings" / "firm" / "courtroom" / "verdict.jinja"
    wording.write_text(FIRM.replace("now", "at once"))
    reworded = "results/scores/trial-prompts=wordings-firm.parquet"
    assert built.jobs(reworded) == {"run_debates", "predict", "score"}
    assert (
        built.jobs("results/scores/trial-prompts=none.parquet", "results/scores/coins.parquet")
        == set()
    )
    wording.write_text(FIRM)

    helper = built.work / "own" / "counting.py"
    text = helper.read_text()
    helper.write_text(f"{text}\nEDITED = True\n")
    assert {
        "load_cases",
        "run_debates",
        "label_statements",
        "score",
        "train_baselines",
        "tables_own",
    } <= (built.jobs(*TARGETS))
    assert built.jobs("results/cases/people.parquet", "results/cases/vast.parquet") == set()
    helper.write_text(text)


TAKEN_NAME = 'from moot.scores import scorer\nscorer("classification")(print)\n'
LATE = {"protocol": "late", "dataset": "coins", "models": "echo"}


def test_a_name_that_exists_is_one_message(built: Workflow) -> None:
    (built.work / "taken").mkdir()
    (built.work / "taken" / "more.py").write_text(TAKEN_NAME)
    change = {"extensions": ["own", "taken"], "experiments/late": LATE}
    built.configure(deepcopy({**CONFIG, **change}))
    process = built.run(*TARGETS, "--dry-run")
    built.configure(deepcopy(CONFIG))
    assert process.returncode == 1
    message = "moot.extensions.taken.more: the scorer 'classification' exists already"
    assert process.stdout.count(message) == 1, process.stdout
    assert process.stdout.count("moot: ") == 1, "nothing that follows from it"
    assert "Traceback" not in process.stdout and "registry.py" not in process.stdout


def test_another_configuration_takes_the_folder_only_when_asked(built: Workflow) -> None:
    table = built.work / TARGETS[0]
    table_bytes = table.read_bytes()
    other_config = yaml.safe_load((built.work / "my.yaml").read_text())
    other_config["experiments"]["others"] = other_config["experiments"].pop("coins")
    other_config["run"] = ["others"]
    (built.work / "other.yaml").write_text(yaml.safe_dump(other_config))
    options = ["--workflow-profile", "none", "--cores", "2", "--configfile", "other.yaml"]
    process = built.snakemake(TARGETS[0], *options)
    assert process.returncode == 1
    message = (
        "results/ shows 3 experiments (coins, trial-prompts=none,"
        " trial-prompts=wordings-firm) of my.yaml"
    )
    assert process.stdout.count(message) == 1, process.stdout
    assert "Traceback" not in process.stdout
    assert table.read_bytes() == table_bytes
    assert built.jobs(*TARGETS) == set()
    process = built.snakemake(TARGETS[0], *options, "--config", "replace_results=true")
    assert process.returncode == 0, process.stdout[-4000:]
    assert "others" in table.read_text()


MODULE = """
configfile: "my.yaml"

module moot:
    snakefile: {snakefile!r}
    config: config

use rule * from moot as moot_*

rule mine:
    default_target: True
    input: "results/tables/own/letters.csv"
    output: "mine.txt"
    shell: "cp {{input}} {{output}}"
"""


def test_moot_is_a_module_of_another_workflow(built: Workflow) -> None:
    (built.work / "Snakefile").write_text(MODULE.format(snakefile=str(built.project / "Snakefile")))
    (built.work / "mine.txt").unlink(missing_ok=True)
    command = ["-m", "snakemake", "--cores", "2"]
    process = forks.run(*command, cwd=built.work, project=built.project)
    assert process.returncode == 0, process.stdout[-4000:]
    assert "coins" in (built.work / "mine.txt").read_text()
    dry_run = forks.run(*command, "--dry-run", cwd=built.work, project=built.project)
    assert "Nothing to be done" in dry_run.stdout


DEPLOYED = """
configfile: "config/config.yaml"

module moot:
    snakefile:
        github("someone/moot", path="Snakefile", tag="v1")
    config:
        config

use rule * from moot
"""
CLONES = "snakemake/snakemake/source-cache/snakemake-git-cache/github.com/someone"


def test_moot_is_deployed_from_a_repository_as_snakedeploy_does(
    built: Workflow, tmp_path: Path
) -> None:
    """The repository stands in Snakemake's cache of clones already, so that nothing is fetched."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(built.project)]
    for arguments in (
        ["init", "--quiet"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "-m", "x"],
        ["tag", "v1"],
    ):
        subprocess.run([*git, *arguments], check=True)
    clone = tmp_path / "cache" / CLONES / "moot"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", str(built.project), str(clone)], check=True
    )
    work = tmp_path / "deployed"
    shutil.copytree(built.project / "config", work / "config")
    shutil.copytree(built.project / "profiles", work / "profiles")
    (work / "workflow").mkdir()
    (work / "workflow" / "Snakefile").write_text(DEPLOYED)
    models = work / "config" / "models.yaml"
    models.write_text(models.read_text().replace("smollm2-135m:", "renamed:", 1))
    command = ["-m", "snakemake", "--cores", "1", "results/cases/conference.parquet"]
    cache = str(tmp_path / "cache")
    process = forks.run(*command, cwd=work, XDG_CACHE_HOME=cache)
    assert process.returncode == 0, process.stdout[-4000:]
    models.write_text(models.read_text().replace("endpoint: embedded", "endpint: embedded", 1))
    output = forks.run(*command, cwd=work, XDG_CACHE_HOME=cache).stdout
    assert "config/models.yaml: models.renamed.endpint: unknown key 'endpint'" in output


LOAD = """
from pathlib import Path
import pandas as pd
from moot.core.extensions import load_extensions
from moot.training.stored_baselines import load
load_extensions(["own"])
print(load(Path("results/models/coins/first.skops")).predict(pd.DataFrame({"text": ["x"]})))
"""


def test_a_stored_model_of_the_users_own_class_is_read(built: Workflow, tmp_path: Path) -> None:
    program = tmp_path / "load.py"
    program.write_text(LOAD)
    scripts = str(built.project / "scripts")
    process = forks.run(program, cwd=built.work, project=built.project, PYTHONPATH=scripts)
    assert "tails" in process.stdout, process.stdout
