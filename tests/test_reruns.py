"""What runs again and what does not: no failed run leaves a stale artifact, and a rule reads only what it names."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fault_server import FaultServer
from moot.artifacts import read_metadata
from test_workflow import Workflow

SMALL = {"max_tokens": 40}
CONFIG = {
    "run": ["trial", "panel", "meeting", "training", "summary"],
    "datasets/people": {"loader": "nlsy97", "source": "synthetic", "rows": 60, "baselines": ["majority-class"]},
    "datasets/paragraphs": {"loader": "cap", "source": "local"},
    "experiments/trial": {"protocol": "courtroom", "dataset": "people", "models": ["fast", "slow"], "cases": 2},
    "experiments/panel": {
        "protocol": "panel", "dataset": "opinions", "models": ["fast", "slow"], "cases": 1, "params": SMALL,
        "labelers": ["rules", "judge:fast"],
    },
    "experiments/meeting": {
        "protocol": "conference", "dataset": "conference", "models": "fast", "study": "courtroom",
        "params": {"rounds": 1, **SMALL, "form_tokens": 180},
    },
    "experiments/training": {
        "protocol": "feedback", "dataset": "caselaw", "models": "fast", "study": "courtroom", "split": "train",
        "cases": 4, "calibration_cases": 2, "params": {"debaters": 2, "sides": "opposed", "rounds": 1, **SMALL},
    },
    "experiments/summary": {
        "protocol": "case_summary", "dataset": "paragraphs", "models": "fast", "study": "courtroom",
    },
}  # fmt: skip
MORE = ("results/assistants/training/fast/tfidf.skops", "results/summaries/summary/fast.jsonl")
OPINION = {"name_abbreviation": "Low v. High", "decision_date": "1901-05-03"}


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[FaultServer, FaultServer]]:
    with FaultServer() as fast, FaultServer(latency=0.2) as slow:
        yield fast, slow


class Reruns(Workflow):
    """A workflow with two models of different speed, and every kind of stage."""

    def __init__(self, folder: Path, servers: tuple[FaultServer, FaultServer]) -> None:
        models = {
            f"models/{name}": {"endpoint": "openai", "model": name, "base_url": server.url, "max_tokens": 40}
            for name, server in zip(("fast", "slow"), servers, strict=True)
        }
        self.base = {**models, **CONFIG, "ledger": str(folder / "ledger")}
        super().__init__(folder, "")
        opinions = self.work / "data" / "raw" / "opinions" / "cap_illinois_sample.jsonl"
        opinions.parent.mkdir(parents=True)
        bodies = [{"opinions": [{"text": f"{name} sued for the price of a horse."}]} for name in ("Low", "Brook")]
        lines = [json.dumps({"id": number, **OPINION, "casebody": body}) for number, body in enumerate(bodies)]
        opinions.write_text("\n".join(lines) + "\n")

    def configure(self, change: dict[str, object]) -> None:
        super().configure({**self.base, **change})

    def outputs(self) -> dict[str, bytes]:
        """The bytes of everything below results/ but logs, records, and what holds times (of fitting, of packing)."""
        root = self.work / "results"
        files = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
        named = {str(path.relative_to(root)): path for path in files}
        kept = {name for name in named if not name.startswith(("logs/", "provenance/", "baselines/", "assistants/"))}
        return {name: named[name].read_bytes() for name in sorted(kept)}


@pytest.fixture(scope="module")
def built(servers: tuple[FaultServer, FaultServer], tmp_path_factory: pytest.TempPathFactory) -> Reruns:
    workflow = Reruns(tmp_path_factory.mktemp("reruns"), servers)
    done = workflow.run("all", *MORE)
    assert done.returncode == 0, done.stdout[-4000:]
    assert "artifacts follow from the configuration as it stands" in done.stdout
    return workflow


def test_nothing_but_the_check_runs_again(built: Reruns) -> None:
    assert built.jobs("all") == {"all"}


def test_every_rule_reads_only_what_it_names(
    built: Reruns, servers: tuple[FaultServer, FaultServer], tmp_path: Path
) -> None:
    """`shadow: "minimal"` runs each job in a folder that holds links to its inputs and nothing else."""
    alone = Reruns(tmp_path, servers)
    shutil.copytree(built.work.parent / "ledger", tmp_path / "ledger")
    for file in (alone.project / "rules").glob("*.smk"):
        text = re.sub(r"^( +)script:", r'\1shadow: "minimal"\n\1script:', file.read_text(), flags=re.MULTILINE)
        file.write_text(text)
    asked = [server.count() for server in servers]
    done = alone.run("tables", "figures", "reading", "minutes", "labels", "baselines", *MORE)
    assert done.returncode == 0, done.stdout[-4000:]
    assert [server.count() for server in servers] == asked
    ours = built.outputs()
    assert {name: ours.get(name) == content for name, content in alone.outputs().items()} == dict.fromkeys(ours, True)


@contextmanager
def broken(workflow: Reruns, *scripts: str) -> Iterator[None]:
    """While the block runs these scripts fail; afterwards they do something else than before."""
    files = [workflow.project / "scripts" / f"{name}.py" for name in scripts]
    texts = [file.read_text() for file in files]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text.replace("with job(snakemake) as plan:\n", "with job(snakemake) as plan:\n        1 / 0\n"))
    yield
    for file, text in zip(files, texts, strict=True):
        file.write_text(f"{text}\nMENDED = True\n")


def start(workflow: Reruns, *targets: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "snakemake", *targets, "--snakefile", str(workflow.project / "Snakefile")]
    command += ["--configfile", "my.yaml", "--workflow-profile", "none", "--cores", "2"]
    return subprocess.Popen(command, cwd=workflow.work, start_new_session=True, stdout=subprocess.DEVNULL)


def stopped(how: int) -> Callable[[Reruns, FaultServer], None]:
    """End a run by a signal while its first call is under way."""

    def end(workflow: Reruns, server: FaultServer) -> None:
        server.reset(faults=["hang"], rate=1.0)
        running = start(workflow, "courtroom")
        server.wait_for(1, seconds=60)
        os.killpg(running.pid, how)
        running.wait(timeout=60)
        server.reset(faults=[], rate=0.0)
        if how == signal.SIGKILL:
            assert workflow.run("courtroom", "--unlock").returncode == 0

    return end


def refused(**change: object) -> Callable[[Reruns, FaultServer], None]:
    """End a run by a configuration with which no call can be made."""

    def end(workflow: Reruns, _server: FaultServer) -> None:
        given = workflow.base
        workflow.base = {**given, **{path.replace("__", "/"): value for path, value in change.items()}}
        workflow.configure({})
        done = workflow.run("courtroom")
        assert done.returncode == 1, done.stdout[-4000:]
        workflow.base = given

    return end


ENDINGS = {
    "the server is down": refused(models__fast__base_url="http://127.0.0.1:9/v1", models__fast__attempts=1),
    "the key is missing": refused(models__fast__api_key_env="MOOT_NO_SUCH_KEY"),
    "the budget is spent": refused(budget={"calls": 1}),
    "Ctrl-C": stopped(signal.SIGINT),
    "SIGKILL": stopped(signal.SIGKILL),
}
AFTER_TRIAL = {"hold_debates", "predict", "render_transcripts", "score", "tables_courtroom_tables"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_after_a_run_that_failed_all_that_depends_on_the_change_is_built_again(
    ending: str, built: Reruns, servers: tuple[FaultServer, FaultServer]
) -> None:
    """A change of temperature, a run that cannot make the calls, and the same command once the cause is mended."""
    built.base = {**built.base, "models/fast/temperature": 0.1 + 0.1 * list(ENDINGS).index(ending)}
    built.configure({})
    ENDINGS[ending](built, servers[0])
    built.configure({})
    assert built.jobs("courtroom", "--rerun-incomplete") >= AFTER_TRIAL


def test_what_is_stale_is_named_until_it_is_built_again(built: Reruns) -> None:
    """The digests inside the artifacts are those of the configuration, once the check passes."""
    built.base = {**built.base, "models/fast/temperature": 0.9}
    built.configure({})
    told = built.run("verify")
    assert told.returncode == 1
    assert (
        "results/tables/courtroom/table5_courtroom.csv: the configuration or a file of yours has changed" in told.stdout
    )
    done = built.run("courtroom", "results/labels/panel/slow.parquet", "--rerun-incomplete")
    assert done.returncode == 0, done.stdout[-4000:]
    assert "artifacts follow from the configuration as it stands" in done.stdout
    for file in sorted((built.work / "results" / "provenance").rglob("*.parquet.json")):
        record = json.loads(file.read_text())
        for output in (path for path in record["outputs"] if path.endswith(".parquet")):
            inside = read_metadata(built.work / output)
            assert {name: inside[name] for name in record["digests"]} == record["digests"], output


FAULTS_OF_CODE = {
    "predictions": {"predict", "score", "render_transcripts", "tables_courtroom_tables"},
    "scores": {"score", "tables_courtroom_tables", "figures_courtroom_figures"},
    "labels": {"label_statements", "score", "tables_appellate_tables"},
    "cases": {"load_cases", "hold_debates", "predict", "score", "tables_courtroom_tables"},
}


@pytest.mark.parametrize("script", FAULTS_OF_CODE)
def test_after_a_stage_that_failed_all_that_follows_from_it_is_built_again(script: str, built: Reruns) -> None:
    with broken(built, script):
        done = built.run("tables", "reading")
        assert done.returncode == 1, done.stdout[-4000:]
    assert built.jobs("tables", "reading", "--rerun-incomplete") >= FAULTS_OF_CODE[script]


def test_after_a_bad_file_of_the_user_all_that_follows_from_it_is_built_again(built: Reruns) -> None:
    """The mended file differs from the first and is older than every artifact."""
    file = built.work / "data" / "raw" / "opinions" / "cap_illinois_sample.jsonl"
    text = file.read_text()
    file.write_text("no JSON\n")
    done = built.run("results/reading/summary/fast.md")
    assert done.returncode == 1
    assert "cap_illinois_sample.jsonl" in done.stdout
    file.write_text(text.replace("horse", "cart"))
    os.utime(file, (0, 0))
    jobs = built.jobs("results/reading/summary/fast.md", "--rerun-incomplete")
    assert jobs == {"load_cases", "hold_debates", "predict", "render_transcripts"}
