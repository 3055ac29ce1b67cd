"""The prompts that the shipped experiments send about one case each, by a digest an experiment.

`PYTHONPATH=scripts python tests/support/prompt_digests.py FILE FOLDER` writes the digests into a
file, and results and prompts into an empty folder. `tests/data/prompt_digests.json` has those of
commit 60e9f997.
"""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from debate_jobs import debate_job
from moot.core.artifacts import read_cases
from moot.core.read_config import merge_over_defaults
from moot.core.shipped_files import default_files
from moot.jobs.debates import write_transcripts
from moot.jobs.load import load_dataset
from moot.jobs.predictions import write_predictions
from moot.llm import client
from moot.llm.request import Reply, Request
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
CASES = 1
CHINESE = {
    f"{protocol}-cail18": {"protocol": protocol, "dataset": "cail18", "models": ["smollm2-135m"]}
    for protocol in ("zero_shot", "cot", "feedback", "four_step_cot", "reflexion")
}
"""Experiments on the shipped Chinese cases, which the default configuration only loads."""


def fill(schema: Mapping[str, Any]) -> Any:  # noqa: PLR0911 - one a type
    """Return a value that fits a JSON schema: the first choice, the least number, one item."""
    if "anyOf" in schema:
        return fill(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: fill(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [fill(schema["items"])] * max(1, int(schema.get("minItems", 1)))
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return True
    return "It bears on the outcome."


class Answerer:
    """An endpoint whose replies depend on nothing but the request; it keeps the prompts."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.prompts: set[str] = set()

    async def complete(self, request: Request) -> Reply:
        messages = [[message.role, message.content] for message in request.messages]
        self.prompts.add(json.dumps(messages, ensure_ascii=False))
        if request.choices:
            logprobs = {choice: -1.0 - place for place, choice in enumerate(request.choices)}
            return Reply(request.choices[0], logprobs=logprobs, finish_reason="stop")
        schema = request.schema or request.reply_schema
        value = json.dumps(fill(schema), ensure_ascii=False) if schema else ""
        text = value or f"The record bears it out.\nConfidence: 60\nThe answer is {self.label}."
        return Reply(text, finish_reason="stop", prompt_tokens=10, completion_tokens=10)

    async def close(self) -> None:
        """Do nothing."""


def collect_prompts(folder: Path) -> dict[str, list[str]]:
    """Return the different prompts of each experiment, whose results are written into a folder."""
    files = default_files(PROJECT)
    configuration = merge_over_defaults({}, files)
    configuration["experiments"].update(CHINESE)
    for entry in configuration["experiments"].values():
        entry["cases"] = CASES
    configuration |= {"run": sorted(configuration["experiments"]), "ledger": str(folder / "ledger")}
    plan = Plan.from_yaml(configuration, PROJECT, files)
    prompts: dict[str, list[str]] = {}
    experiments = plan.experiments.items()
    waiting = {name: entry for name, entry in experiments if entry.config.source == "models"}
    for _ in range(len(waiting)):
        for name, entry in list(waiting.items()):
            model = entry.config.models[0]
            paths = {key: folder / path for key, path in entry.needed_by(model).items()}
            if all(map(Path.exists, paths.values())):
                prompts[name] = ask(plan, name, model, paths, folder)
                del waiting[name]
    return prompts


def ask(plan: Plan, name: str, model: str, artifacts: dict[str, Path], folder: Path) -> list[str]:
    """Hold an experiment's debates, and return the different prompts."""
    dataset = plan.experiments[name].config.dataset
    cases = folder / f"cases/{dataset}.parquet"
    if not cases.exists():
        options, context = plan.datasets[dataset], plan.load_context(dataset)
        others = folder / f"features/{dataset}.parquet", folder / f"cleaning/{dataset}.csv"
        load_dataset(options, context, cases, *others)
    _, task = read_cases(cases)
    answerer = Answerer(task.labels[0].upper())
    client.ENDPOINTS = {"embedded": lambda _config, _threads: answerer}  # type: ignore[assignment]
    job = debate_job(plan, name, model, cases, artifacts=artifacts)
    shard = folder / f"transcripts/{name}/{model}/0.parquet"
    write_transcripts(job, [cases], shard)
    kinds = ("predictions", "calls")
    outputs = [folder / f"{kind}/{name}/{model}.parquet" for kind in kinds]
    write_predictions(plan, name, cases, [shard], *outputs)
    return sorted(answerer.prompts)


def digest(prompts: list[str]) -> str:
    """Return the number of prompts with a digest of all."""
    content = "\n".join(prompts).encode("utf-8", "surrogatepass")
    return f"{len(prompts)} {hashlib.sha256(content).hexdigest()[:32]}"


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    work = Path(sys.argv[2]).resolve()
    os.chdir(PROJECT)
    collected = collect_prompts(work)
    (work / "prompts.json").write_text(json.dumps(collected, ensure_ascii=False, indent=1))
    digests = {name: digest(prompts) for name, prompts in sorted(collected.items())}
    target.write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")
