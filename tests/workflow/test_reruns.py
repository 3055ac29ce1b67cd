"""What runs again and what does not.

No failed run leaves a stale artifact, and a rule reads only what it names.

Slow: only this test detects a rule whose inputs and parameters leave out something that it reads.
"""

import copy
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import forks
from fault_server import FaultServer
from patience import PATIENCE, wait_until
from project_copy import PROJECT, Workflow

pytestmark = pytest.mark.slow

SHORT_REPLIES = {"max_tokens": 40}
CONFIG = {
    "run": ["trial", "panel", "training", "summary", "appeal", "published"],
    "datasets/people": {"loader": "nlsy97", "source": "synthetic", "rows": 60},
    "datasets/caselaw": {"source": "sample", "baselines": ["majority-class"]},
    "datasets/paragraphs": {
        "loader": "table",
        "path": "data/raw/mine/two.jsonl",
        "text": "text",
        "target": "ending",
        "labels": ["plaintiff", "defendant", "settlement", "dismissed", "not known"],
    },
    "datasets/appeals": {
        "loader": "opinions",
        "source": "local",
        "path": "mine",
        "facts": "opinion",
    },
    "experiments/trial": {
        "protocol": "courtroom",
        "dataset": "people",
        "models": ["fast", "slow"],
        "cases": 2,
    },
    "experiments/panel": {
        "protocol": "panel",
        "dataset": "opinions",
        "models": ["fast", "slow"],
        "cases": 1,
        "params": SHORT_REPLIES,
        "labelers": ["rules", "judge:fast", "human"],
    },
    "experiments/training": {
        "protocol": "feedback",
        "dataset": "caselaw",
        "models": "fast",
        "split": "train",
        "cases": 4,
        "calibration_cases": 2,
        "params": {"debaters": 2, "sides": "opposed", "rounds": 1, **SHORT_REPLIES},
    },
    "experiments/summary": {"protocol": "case_summary", "dataset": "paragraphs", "models": "fast"},
    "experiments/appeal": {
        "protocol": "zero_shot",
        "study": "stance",
        "dataset": "appeals",
        "models": "fast",
    },
    "experiments/published": {
        "source": "recorded",
        "dataset": "nyu-debates",
        "models": "human-judge",
        "params": {"method": "AI consult"},
    },
}
SHEET = "results/annotation_sheets/panel/slow.txt"
TRIAL = (
    "results/tables/courtroom/deferral.csv",
    "results/outcome/courtroom.csv",
    "results/reader/courtroom.html",
)
PANEL = ("results/tables/appellate/agreement.csv",)
SUMMARY = "results/predictions/summary/fast.parquet"
OTHER_TARGETS = (
    SUMMARY,
    "results/figures/recorded/nyu_beliefs.png",
    "results/baselines/caselaw.parquet",
    "results/summaries/summary/fast.jsonl",
    "results/assistants/training/fast/tfidf.skops",
    "results/transcripts/published/human-judge/0.parquet",
    "results/deidentified/appeals.csv",
    "results/export/debates.xlsx",
    "results/reference.md",
    "results/courtroom.html",
)
OPINION = {"name": "Low v. High", "decision_date": "1901-05-03"}
KEEP_JOB = """
import pickle
from pathlib import Path
kept = Path("jobs", snakemake.rule, "-".join(snakemake.wildcards) or "all")
kept.parent.mkdir(parents=True, exist_ok=True)
kept.write_bytes(pickle.dumps((__file__, snakemake)))
"""
RULE = re.compile(r"^ *rule ?(\w*):\n(.*?)(?=^ *rule ?\w*:|\Z)", re.MULTILINE | re.DOTALL)
RULES: list[str] = []
for rule_file in sorted((PROJECT / "rules").glob("*.smk")):
    for rule_name, rule_text in RULE.findall(rule_file.read_text()):
        if (
            rule_name not in ("download", "workbook", "convert_to_inspect")
            and "output:" in rule_text
        ):
            RULES.append(rule_name)
"""Every rule that makes files of files; those without a name of their own are called after it:
tables_..., figures_..., recorded_...
"""
TIMED = ("train_baselines", "train_assistant")
"""Rules whose outputs hold the time of fitting or of packing."""
AFTER_DEBATES = {"run_debates", "predict", "score", "outcome", "reader"}
AFTER_DEBATES |= {"tables_courtroom"}
AFTER_LABELS = {"label_statements", "score", "tables_appellate"}
EDITS = {
    "scores/confidence_scores.py": (AFTER_DEBATES | AFTER_LABELS)
    - {"run_debates", "predict", "label_statements"},
    "llm/chat.py": AFTER_DEBATES | AFTER_LABELS,
}
"""A module to the rules that run again after its edit."""


class Reruns(Workflow):
    """A workflow with two models of different speed, and every kind of stage.

    Its scripts keep what they were called with.
    """

    def __init__(self, folder: Path, servers: tuple[FaultServer, FaultServer]) -> None:
        models = {
            f"models/{name}": {
                "endpoint": "openai",
                "model": name,
                "base_url": server.url,
                "max_tokens": 40,
            }
            for name, server in zip(("fast", "slow"), servers, strict=True)
        }
        self.base: dict[str, Any] = {**models, **CONFIG, "ledger": str(folder / "ledger")}
        super().__init__(folder, "", analyses=("deferral",))
        for script in (self.project / "scripts").glob("*.py"):
            script.write_text(script.read_text() + KEEP_JOB)
        self.opinions = self.work / "data" / "raw" / "mine" / "two.jsonl"
        self.opinions.parent.mkdir(parents=True)
        lines = []
        for number, name in enumerate(("Low", "Brook", "Hale", "Marsh", "Stone")):
            words = f"{name} sued for the price of a horse. The judgment is affirmed."
            record = {"id": number, **OPINION, "text": words, "ending": "not known"}
            lines.append(json.dumps(record))
        self.opinions.write_text("\n".join(lines) + "\n")

    def configure(self, change: dict[str, Any]) -> None:
        super().configure(copy.deepcopy({**self.base, **change}))

    def build_predictions(self, experiment: str) -> None:
        """Build the predictions of both models of an experiment."""
        names = [f"results/predictions/{experiment}/{name}.parquet" for name in ("fast", "slow")]
        process = self.run(*names, "--rerun-incomplete")
        assert process.returncode == 0, process.stdout[-4000:]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[FaultServer, FaultServer]]:
    with FaultServer() as fast, FaultServer(latency=0.2) as slow:
        yield fast, slow


@pytest.fixture(scope="module")
def built(
    servers: tuple[FaultServer, FaultServer], tmp_path_factory: pytest.TempPathFactory
) -> Reruns:
    """A workflow that has built everything, after a person has labelled a statement.

    It ran at two cores.
    """
    workflow = Reruns(tmp_path_factory.mktemp("reruns"), servers)
    process = workflow.run(SHEET)
    assert process.returncode == 0, process.stdout[-4000:]
    written_paths = (workflow.work / SHEET).read_text().splitlines()
    sheet = pd.read_csv(workflow.work / written_paths[0], nrows=1)
    (workflow.work / "data" / "annotations").mkdir()
    sheet.assign(label="AFFIRM").to_csv(
        workflow.work / "data" / "annotations" / "ann.csv", index=False
    )
    process = workflow.run(*TRIAL, *PANEL, *OTHER_TARGETS)
    assert process.returncode == 0, process.stdout[-4000:]
    return workflow


def test_with_nothing_changed_nothing_runs(built: Reruns) -> None:
    """Another model in the catalogue is no change."""
    built.configure({"models/unused": {"model": "another"}})
    assert built.jobs(*TRIAL, *PANEL, *OTHER_TARGETS) == set()
    built.configure({})


RUN_AGAIN = """
import logging, os, pickle, runpy, sys
for job_file, folder in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(job_file, "rb") as file:
        script, job = pickle.load(file)
    os.chdir(folder)
    runpy.run_path(script, {"snakemake": job}, "__main__")
    logging.getLogger("moot").handlers.clear()
"""


def run_again(workflow: Reruns, job_files: list[Path], folder: Path) -> list[tuple[Path, Path]]:
    """Run jobs' scripts, each in a folder that holds only its declared inputs.

    Return the paths of what they wrote then and now.
    """
    (folder / "again.py").write_text(RUN_AGAIN)
    arguments, folders = list[Path](), dict[Path, list[str]]()
    for number, job_file in enumerate(job_files):
        own_folder = folder / str(number)
        _, job = pickle.loads(job_file.read_bytes())
        for path in filter(lambda path: not path.is_absolute(), map(Path, job.input)):
            (own_folder / path).parent.mkdir(parents=True, exist_ok=True)
            (own_folder / path).symlink_to(workflow.work / path)
        for path in map(Path, [*job.output, *job.log]):
            (own_folder / path).parent.mkdir(parents=True, exist_ok=True)
        arguments += [job_file, own_folder]
        folders[own_folder] = job.output
    program = folder / "again.py"
    process = forks.run(program, *arguments, cwd=folder, project=workflow.project)
    assert process.returncode == 0, process.stdout[-4000:]
    pairs = []
    for own_folder, outputs in folders.items():
        for output in outputs:
            assert (own_folder / output).exists(), output
            rebuilt = [own_folder / output, *(own_folder / output).rglob("*")]
            files = [path for path in rebuilt if path.is_file()]
            pairs += [(workflow.work / path.relative_to(own_folder), path) for path in files]
    return pairs


@pytest.mark.parametrize(
    "rule", [*filter(None, RULES), "recorded_", "tables_", "figures_", "courtroom"]
)
def test_a_rule_reads_only_its_inputs(
    rule: str, built: Reruns, servers: tuple[FaultServer, FaultServer], tmp_path: Path
) -> None:
    """The same bytes, for each of two models of different speed, and no call is made."""
    request_counts = [server.count() for server in servers]
    jobs = sorted((built.work / "jobs").glob(f"{rule}*/*" if rule.endswith("_") else f"{rule}/*"))
    assert jobs, "no job of this rule has run: give it an experiment above"
    pairs = run_again(built, jobs, tmp_path)
    changed = [old for old, rebuilt in pairs if old.read_bytes() != rebuilt.read_bytes()]
    assert rule in TIMED or changed == []
    assert [server.count() for server in servers] == request_counts


def test_an_edited_module_reruns_the_rules_that_state_its_folder(built: Reruns) -> None:
    for name, rules in EDITS.items():
        file = built.project / "scripts" / "moot" / name
        text, state = file.read_text(), file.stat()
        file.write_text(f"{text}\nEDITED = True\n")
        assert built.jobs(*TRIAL, *PANEL) == rules
        file.write_text(text)
        # with another time, each later process would import all modules anew
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


@contextmanager
def broken(workflow: Reruns, *scripts: str, by: str = "raise KeyError") -> Iterator[None]:
    """Insert the line `by` into scripts within the block."""
    files = [workflow.project / "scripts" / f"{name}.py" for name in scripts]
    texts = {file: file.read_text() for file in files}
    for file, text in texts.items():
        file.write_text(re.sub(r"( +)with job\(globals\(\)\)", rf"\1{by}\n\g<0>", text))
    yield
    for file, text in texts.items():
        file.write_text(text)


def test_jobs_after_a_failed_stage_are_built_again(built: Reruns) -> None:
    """The stage's code is the same before and after."""
    targets = (*TRIAL, *PANEL, *OTHER_TARGETS)
    with broken(built, "labels", "scores", "summaries"):
        process = built.run(*targets, "--keep-going", "--verbose")
        assert process.returncode == 1, process.stdout[-4000:]
        limit = "'_job_count': 100"  # Snakemake's own, which costs a timer for each job that ends
        assert limit not in process.stdout
    expected = {*AFTER_LABELS, "write_summaries", "tables_courtroom"}
    assert built.jobs(*targets, "--rerun-incomplete") >= expected


def test_jobs_after_a_faulty_user_file_are_built_again(built: Reruns) -> None:
    """The mended file differs from the first, and is older than every artifact.

    It is where the configuration says.
    """
    text = built.opinions.read_text()
    built.opinions.write_text("no JSON\n")
    process = built.run("results/cases/paragraphs.parquet")
    assert process.returncode == 1
    messages = [line for line in process.stdout.splitlines() if " moot: " in line]  # of a job
    assert len(messages) == 1, process.stdout
    assert "two.jsonl" in messages[0]
    assert "Traceback" not in process.stdout
    built.opinions.write_text(text.replace("horse", "cart"))
    os.utime(built.opinions, (0, 0))
    assert built.jobs(SUMMARY, "--rerun-incomplete") == {
        "load_cases",
        "run_debates",
        "predict",
    }


def lose_server(workflow: Reruns, targets: tuple[str, ...], _server: FaultServer) -> None:
    """Run while the model server is down, which ends with one message."""
    address = "http://127.0.0.1:9/v1"
    workflow.configure({"models/fast/base_url": address, "models/fast/attempts": 1})
    process = workflow.run(*targets)
    assert process.returncode == 1, process.stdout[-4000:]
    message = f"{address} gives no answer (Connection refused)"
    assert process.stdout.count(message) == 1, process.stdout
    assert "Traceback" not in process.stdout


def signalled(
    workflow: Reruns, targets: tuple[str, ...], how: int, wait: Callable[[], object]
) -> None:
    """Begin a run, wait, and end it and all of its jobs by a signal."""
    python, address = forks.python_of(workflow.project)
    command = [python, "-m", "snakemake", "--snakefile", str(workflow.project / "Snakefile")]
    command += ["--configfile", "my.yaml", "--workflow-profile", "none", "--cores", "2"]
    running = subprocess.Popen(
        [*command, "--rerun-incomplete", *targets],
        cwd=workflow.work,
        env={**os.environ, **address, "PYTHONDONTWRITEBYTECODE": ""},
        process_group=0,
        stdout=subprocess.DEVNULL,
    )
    wait()
    os.killpg(running.pid, how)
    assert running.wait(PATIENCE) != 0
    shutil.rmtree(workflow.work / ".snakemake" / "locks", ignore_errors=True)


def stop(how: int) -> Callable[[Reruns, tuple[str, ...], FaultServer], None]:
    """End a run by a signal while a call is under way."""

    def end(workflow: Reruns, targets: tuple[str, ...], server: FaultServer) -> None:
        server.reset(faults=["hang"], rate=1.0)
        signalled(workflow, targets, how, lambda: server.wait_for(1))
        server.reset(faults=[], rate=0.0)

    return end


ENDINGS = {
    "the server is down": (TRIAL, lose_server),
    "SIGTERM in debates": (TRIAL, stop(signal.SIGTERM)),
    "SIGKILL in labels": (PANEL, stop(signal.SIGKILL)),
}


def test_jobs_that_depend_on_a_change_are_built_again_after_interrupted_runs(
    built: Reruns, servers: tuple[FaultServer, FaultServer]
) -> None:
    """After a change of the configuration all runs end early.

    None of them takes what stands there for up to date.
    """
    built.base |= {
        "experiments/trial/params": {"max_reason_chars": 100},
        "experiments/panel/labelers": ["rules", "judge:slow"],
    }
    built.configure({})
    built.build_predictions("panel")  # so that a labeler makes the call that hangs
    for targets, end in ENDINGS.values():
        built.configure({})
        end(built, targets, servers[targets == PANEL])
    built.configure({})
    assert built.jobs(*TRIAL, *PANEL, "--rerun-incomplete") == AFTER_DEBATES | AFTER_LABELS


def test_jobs_after_a_kill_in_the_first_stage_are_built_again(built: Reruns) -> None:
    reached = built.work / "reached"

    def wait() -> None:
        wait_until(reached.exists)

    pause = f"from time import sleep; open('{reached}', 'w').close(); sleep(600)"
    with broken(built, "cases", by=pause):
        signalled(built, TRIAL, signal.SIGKILL, wait)
    assert built.jobs(*TRIAL, "--rerun-incomplete") >= {"load_cases", *AFTER_DEBATES}
