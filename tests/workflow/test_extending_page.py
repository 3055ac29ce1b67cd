"""Follow docs/extending.md from top to bottom in an empty folder.

Every block is a whole file, which is written under the name before the block, or commands, which
run and print the lines of the block. A server that invents replies replaces the packaged model,
except where the page shows this model's results.

Slow: only this test detects instructions on the page that do not work.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
import yaml

import forks
from fault_server import FaultServer
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

PAGE = (PROJECT / "docs/extending.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?P<before>[^\n]*)\n\n```\w*\n(?P<content>.*?)\n```(?=\n)", re.DOTALL)
NAME = re.compile(r"`((?:[\w-]+/)*(?:[\w-]+\.(?:yaml|py|jinja|csv)|Snakefile))`")
SCORES_PATH = "results/scores/tenants.parquet"


@dataclass(frozen=True)
class Walk:
    """A folder in which the page is followed, and what its commands printed."""

    folder: Path
    project: Path
    served: str

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
        """What a command prints;
        Snakemake's has a server for a model, save where the page shows what the model says.
        """
        command = command.replace("/path/to/moot", shlex.quote(str(self.project)))
        python, address = forks.python_of(self.project)
        if command.startswith("snakemake "):
            rest = command.removeprefix("snakemake ")
            served = "" if SCORES_PATH in command else f" {self.served}"
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
        (workflow.work.parent / "served.yaml").write_text(
            yaml.safe_dump({"models": {"smollm2-135m": served}})
        )
        walk = Walk(workflow.work, workflow.project, "../served.yaml")
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
    assert set(leaders.loc[leaders["status"] == "ok", "baseline"]) == {"first", "majority-class"}
    assert (
        len(pd.read_parquet(walked.folder / "results/predictions/tosses/smollm2-135m.parquet")) == 6
    )
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
