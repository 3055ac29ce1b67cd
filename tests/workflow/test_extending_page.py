"""Follow docs/extending.md from top to bottom in an empty folder.

Every block is a whole file, which is written under the name before the block, or commands, which
run and print the lines of the block. A server that invents replies, or the page's own endpoint,
replaces the packaged model, except where the page shows this model's results.

Slow: only this test detects instructions on the page that do not work, and an extension that works
in a process and not in Snakemake's jobs.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

import forks
from fault_server import FaultServer
from project_copy import PROJECT, Workflow, rules_to_run

pytestmark = pytest.mark.slow

PAGE = (PROJECT / "docs/extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?P<before>[^\n]*)\n\n```\w*\n(?P<content>.*?)\n```(?=\n)", re.DOTALL)
NAME = re.compile(r"`((?:[\w-]+/)*(?:[\w-]+\.(?:yaml|py|jinja|csv)|Snakefile))`")
SCORES_PATH = "results/scores/tenants.parquet"
WORDING_FILES = ("my.yaml", "worded.yaml", "../served.yaml")
EXTENSION_FILES = ("my.yaml", "own.yaml", "../own_served.yaml")
STUDY_FILES = ("coinage/study.yaml", "../served.yaml")
OWN_CLASS = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from moot.training.baselines import baseline

class Last(ClassifierMixin, BaseEstimator):
    def fit(self, inputs, targets):
        self.classes_ = np.unique(targets)
        return self

    def predict(self, inputs):
        return np.full(len(inputs), self.classes_[-1])

@baseline("last", "Always the last", family="own", kind="text")
def last(seed, threads):
    return Last()
"""
"""A model of a class of the user's own, beside what the page registers: the processes that fit
folds and read the stored model must find it.
"""


@dataclass(frozen=True)
class Walk:
    """A folder in which the page is followed."""

    workflow: Workflow

    @property
    def folder(self) -> Path:
        return self.workflow.work

    @property
    def project(self) -> Path:
        return self.workflow.project

    def start(self, *arguments: str, files: Collection[str]) -> "subprocess.CompletedProcess[str]":
        """Start Snakemake with some configuration files."""
        options = ("--workflow-profile", "none", "--cores", "2", "--configfile", *files)
        return self.workflow.snakemake(*arguments, *options)

    def dry_run(self, *targets: str, files: Collection[str]) -> "subprocess.CompletedProcess[str]":
        """Let Snakemake list the jobs that a run of these files would execute now."""
        options = ("--config", "replace_results=true", "--dry-run", "--quiet", "host")
        return self.start(*targets, *options, files=files)

    def follow(self, intro: str, content: str) -> None:
        """Write the file that a block shows, or run its commands."""
        if content.startswith("$ "):
            for command, printed in commands(content):
                assert self.run(command).endswith(printed), command
            return
        names = NAME.findall(intro)
        assert intro.endswith(":") and names, f"neither a file nor a command:\n{content}"
        for name in names:
            path = self.folder / name
            if path.exists():  # copied by the page's first command
                assert path.read_text().startswith(content), name
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content.replace("/path/to/moot", str(self.project)))

    def run(self, command: str) -> str:
        """What a command prints.

        Snakemake's has a server for a model, save where the page shows what the model says.
        """
        command = command.replace("/path/to/moot", shlex.quote(str(self.project)))
        python, address = forks.python_of(self.project)
        if command.startswith("snakemake "):
            rest = command.removeprefix("snakemake ")
            served = EXTENSION_FILES[-1] if "own.yaml" in command else WORDING_FILES[-1]
            served = "" if SCORES_PATH in command else f" {served}"
            command = f"{python} -m snakemake --workflow-profile none {rest}{served}"
        environment = {**os.environ, **address, "PYTHONDONTWRITEBYTECODE": ""}
        process = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert process.returncode == 0, process.stdout[-6000:]
        return process.stdout


def commands(content: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with what the block shows of its output."""
    for part in content.removeprefix("$ ").split("\n$ "):
        command, _, printed = part.partition("\n")
        yield command, printed


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walk]:
    with FaultServer() as server:
        workflow = Workflow(tmp_path_factory.mktemp("walked"), server.url, analyses=())
        shutil.rmtree(workflow.work)
        workflow.work.mkdir()
        served = {"endpoint": "openai", "model": "test", "base_url": server.url, "max_tokens": 50}
        extension = {
            "models": {"echo": {"endpoint": "echo", "model": "echo"}},
            "experiments": {"heard": {"models": "echo"}},
            "datasets": {"coins": {"baselines": ["first", "last", "majority-class"]}},
        }
        models = {"models": {"smollm2-135m": served}}
        (workflow.work / WORDING_FILES[-1]).write_text(yaml.safe_dump(models))
        (workflow.work / EXTENSION_FILES[-1]).write_text(yaml.safe_dump(extension))
        (workflow.work / "own").mkdir()
        (workflow.work / "own/last.py").write_text(OWN_CLASS)
        walk = Walk(workflow)
        for block in BLOCK.finditer(PAGE):
            walk.follow(block["before"], f"{block['content']}\n")
        yield walk


def test_every_block_is_found() -> None:
    assert PAGE.count("```") == 2 * len(BLOCK.findall(PAGE))
    assert PAGE.count("\n$ snakemake") == 4


def test_the_commands_build_the_files_that_the_page_names(walked: Walk) -> None:
    tables = walked.folder / "results/tables"
    [row] = pd.read_csv(tables / "courtroom/contrasts.csv").to_dict("records")
    assert row["first"].startswith("worded-prompts=wordings-firm")
    assert row["second"].startswith("worded-prompts=none")
    assert "heard" in (tables / "own/letters.csv").read_text()
    assert (walked.folder / "results/figures/own/letters.png").is_file()
    assert set(pd.read_parquet(walked.folder / "results/labels/heard")["labeler"]) == {"rules"}
    leaders = pd.read_parquet(walked.folder / "results/baselines/coins.parquet")
    assert set(leaders.loc[leaders["status"] == "ok", "baseline"]) == {
        "first",
        "last",
        "majority-class",
    }
    tosses = pd.read_parquet(walked.folder / "results/predictions/tosses/smollm2-135m.parquet")
    assert len(tosses) == 6
    share = (tosses["prediction"] == "heads").mean()
    heads = pd.read_csv(tables / "coinage/heads.csv")
    assert heads["value"].tolist() == pytest.approx([share], nan_ok=True)
    assert (
        "<!-- Share of heads -->"
        in (walked.folder / "results/figures/coinage/heads.svg").read_text()
    ), "an axis's name"


def test_the_packaged_model_gets_the_scores_on_the_page(walked: Walk) -> None:
    scores = pd.read_parquet(walked.folder / SCORES_PATH)
    rows = re.findall(
        r"^\| ([\w-]+) \| (\w+) \| (\w*) ?\| (0\.\d+) \| (0\.\d+) \| (0\.\d+) \| (\d+) \|$",
        PAGE,
        re.M,
    )
    assert len(rows) == 4
    for model, metric, average, *values in rows:
        is_named_row = (
            (scores["model"] == model)
            & (scores["metric"] == metric)
            & (scores["average"].fillna("") == average)
        )
        [row] = scores.loc[
            is_named_row & (scores["group"] == "overall"), ["value", "ci_low", "ci_high", "n"]
        ].to_numpy()
        assert row == pytest.approx([float(value) for value in values], abs=0.0006), (model, metric)


def test_two_wordings_share_the_calls_that_are_the_same(walked: Walk) -> None:
    first, second = (
        pd.read_parquet(walked.folder / f"results/calls/worded-prompts={name}/smollm2-135m.parquet")
        for name in ("none", "wordings-firm")
    )
    assert len(second) == len(first) > 1
    assert len(set(second["call_id"]) - set(first["call_id"])) == 1, "the verdict"


def test_an_edit_reruns_only_dependent_jobs(walked: Walk) -> None:
    default, changed = (
        f"results/scores/worded-prompts={name}.parquet" for name in ("none", "wordings-firm")
    )
    wording = walked.folder / "wordings/firm/courtroom/verdict.jinja"
    text = wording.read_text()
    wording.write_text(text.replace("now", "at once"))
    process = walked.dry_run(changed, default, files=WORDING_FILES)
    assert rules_to_run(process) == {"run_debates", "predict", "score"}
    assert default not in process.stdout
    wording.write_text(text)

    module = walked.folder / "own/coins.py"
    text = module.read_text()
    module.write_text(f"{text}\nEDITED = True\n")
    cases = "results/cases/disputes.parquet"
    targets = ("results/tables/own/letters.csv", "results/baselines/coins.parquet", cases)
    rules = {"run_debates", "label_statements", "score", "train_baselines", "tables_own"}
    process = walked.dry_run(*targets, files=EXTENSION_FILES)
    assert {"load_cases", *rules} <= rules_to_run(process)
    assert f"output: {cases}" not in process.stdout
    module.write_text(text)


def test_another_configuration_takes_the_folder_only_when_asked(walked: Walk) -> None:
    table = walked.folder / "results/tables/courtroom/contrasts.csv"
    table_bytes = table.read_bytes()
    process = walked.start("results/tables/courtroom/contrasts.csv", files=WORDING_FILES[:2])
    assert process.returncode == 1
    message = "results/ shows 1 experiment (tosses) of study.yaml, served.yaml"
    assert process.stdout.count(message) == 1, process.stdout
    assert "Traceback" not in process.stdout
    assert table.read_bytes() == table_bytes
    assert rules_to_run(walked.dry_run("coinage", files=STUDY_FILES)) == set()


MODULE = """
configfile: "coinage/study.yaml"
configfile: "../served.yaml"

module moot:
    snakefile: {snakefile!r}
    config: config

use rule * from moot as moot_*

rule mine:
    default_target: True
    input: "results/tables/coinage/heads.csv"
    output: "mine.txt"
    shell: "cp {{input}} {{output}}"
"""


def test_moot_is_a_module_of_another_workflow(walked: Walk) -> None:
    snakefile = str(walked.project / "Snakefile")
    (walked.folder / "Snakefile").write_text(MODULE.format(snakefile=snakefile))
    command = ["-m", "snakemake", "--cores", "2"]
    process = forks.run(*command, cwd=walked.folder, project=walked.project)
    assert process.returncode == 0, process.stdout[-4000:]
    assert "tosses" in (walked.folder / "mine.txt").read_text()
    dry_run = forks.run(*command, "--dry-run", cwd=walked.folder, project=walked.project)
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
    walked: Walk, tmp_path: Path
) -> None:
    """The repository stands in Snakemake's cache of clones already, so that nothing is fetched."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(walked.project)]
    for arguments in (
        ["init", "--quiet"],
        ["add", "--all", "--force"],
        ["commit", "--quiet", "-m", "x"],
        ["tag", "v1"],
    ):
        subprocess.run([*git, *arguments], check=True)
    clone = tmp_path / "cache" / CLONES / "moot"
    subprocess.run(
        ["git", "clone", "--quiet", "--bare", str(walked.project), str(clone)], check=True
    )
    work = tmp_path / "deployed"
    shutil.copytree(walked.project / "config", work / "config")
    shutil.copytree(walked.project / "profiles", work / "profiles")
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
print(load(Path("results/models/coins/last.skops")).predict(pd.DataFrame({"text": ["x"]})))
"""


def test_a_stored_model_of_the_users_own_class_is_read(walked: Walk, tmp_path: Path) -> None:
    program = tmp_path / "load.py"
    program.write_text(LOAD)
    scripts = str(walked.project / "scripts")
    process = forks.run(program, cwd=walked.folder, project=walked.project, PYTHONPATH=scripts)
    assert "heads" in process.stdout, process.stdout
