"""A run of ten debates with a table, and its bundle."""

import io
import os
import zipfile
from pathlib import Path
from typing import Any

from courtroom_runs import PROJECT, configuration, people
from fault_server import FaultServer
from moot.commands.bundling import BUNDLE, write_bundle
from moot.core.artifacts import read_cases
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan

CASES = Path("results/cases/people.parquet")
TABLE = "results/tables/courtroom/deferral.csv"
KEY = "sk-thisisakeythatnofilemayhold1234"


def raw_configuration(url: str, **keys: Any) -> dict[str, Any]:
    raw = configuration(url, Path(), {})
    raw["models"] = {"m": {"model": "m", "base_url": url, "api_key_env": "BUNDLE_KEY"}}
    raw["experiments"] = {
        "asked": {"protocol": "zero_shot", "dataset": "people", "models": ["m"], "cases": 10}
    }
    return {**raw, "run": [], **keys}


def hold_run() -> dict[str, Any]:
    """Hold a run that shares its cases in the working directory, and return its configuration."""
    os.environ["BUNDLE_KEY"] = KEY
    with FaultServer() as server:
        raw = raw_configuration(server.url, share={"datasets": ["people"]})
        people(CASES, 20)
        CASES.with_name("people_cleaning.csv").write_text(
            "what,count\nrows read,21\nwithout an age,1\n"
        )
        plan = Plan.from_yaml(raw, PROJECT)
        shard = Path("results/transcripts/asked/m/0.parquet")
        write_transcripts(plan, Job("asked", "m", *read_cases(CASES), shard=0), [CASES], shard)
        outputs = (Path(f"results/{kind}/asked/m.parquet") for kind in ("predictions", "calls"))
        write_predictions(plan, "asked", CASES, [shard], *outputs)
    Path(TABLE).parent.mkdir(parents=True)
    Path(TABLE).write_text("accuracy\n0.5\n")
    return raw


def make_bundle(raw: dict[str, Any]) -> tuple[bytes, str]:
    """Write a bundle and return its bytes and the message."""
    message = write_bundle(Plan.from_yaml(raw, PROJECT), raw)
    return BUNDLE.read_bytes(), message


def read_members(content: bytes) -> dict[str, bytes]:
    """Return the files of a bundle."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(files: dict[str, bytes]) -> bytes:
    """Return an archive of files."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in files.items():
            file.writestr(name, content)
    return archive.getvalue()
