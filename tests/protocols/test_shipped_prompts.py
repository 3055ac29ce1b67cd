"""The shipped experiments send the recorded prompts and forms, byte by byte.

`pytest --write-messages` records their digests anew in `tests/data/prompt_digests.json`. Each
experiment is held on one case; left out are those that need a trained assistant or recorded
debates.
"""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from in_process import RESULTS, default_configuration, hold_experiments
from moot.core.experiment_config import RECORDED
from moot.llm import client
from moot.llm.request import Reply, Request
from moot.llm.stand_in import fill_schema
from moot.plan.plan import Plan
from project_copy import PROJECT

RECORD = PROJECT / "tests/data/prompt_digests.json"
CHINESE = ("zero_shot", "cot", "feedback", "four_step_cot", "reflexion")
"""Protocols on the shipped Chinese cases, which the default configuration only loads."""


class Answerer:
    """An endpoint whose replies depend on what is asked for alone."""

    async def complete(self, request: Request) -> Reply:
        if request.choices:
            logprobs = {choice: -1.0 - place for place, choice in enumerate(request.choices)}
            return Reply(request.choices[0], logprobs=logprobs, finish_reason="stop")
        schema = request.schema or request.reply_schema
        label = request.labels[0] if request.labels else "left open"
        text = f"The record bears it out.\nConfidence: 60\nThe answer is {label}."
        reply = json.dumps(fill_schema(schema), ensure_ascii=False) if schema else text
        return Reply(reply, finish_reason="stop", prompt_tokens=10, completion_tokens=10)

    async def close(self) -> None:
        """Do nothing."""


def make_plan() -> Plan:
    """Return the plan of the shipped experiments, each with one case and one model."""
    config = default_configuration({})
    experiments = config["experiments"]
    for protocol in CHINESE:
        entry = {"protocol": protocol, "dataset": "cail18", "models": ["smollm2-135m"]}
        experiments[f"{protocol}-cail18"] = entry
    for entry in experiments.values():
        entry["cases"] = 1
    recorded = {name for name in experiments if experiments[name].get("source") == RECORDED}
    names = []
    for name in sorted(experiments.keys() - recorded):
        params = experiments[name].get("params", {})
        if not params.get("assistant") and params.get("source_experiment") not in recorded:
            names.append(name)
    return Plan.from_yaml({**config, "run": names, "ledger": "ledger"}, PROJECT)


def test_shipped_experiments_send_what_they_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(client, "ENDPOINTS", {"embedded": lambda *_: Answerer()})
    list(hold_experiments(make_plan()))
    digests = {}
    for path in sorted((RESULTS / "calls").rglob("*.parquet")):
        prompts = set()
        for text in pd.read_parquet(path)["request"]:
            sent = json.loads(text)
            prompts.add(json.dumps([sent["messages"], sent["schema"]]))
        digest = hashlib.sha256("\n".join(sorted(prompts)).encode()).hexdigest()[:32]
        digests[path.parent.name] = f"{len(prompts)} {digest}"
    if request.config.getoption("write_messages"):
        RECORD.write_text(json.dumps(digests, indent=2) + "\n", "utf-8")
    assert digests == json.loads(RECORD.read_text("utf-8"))
