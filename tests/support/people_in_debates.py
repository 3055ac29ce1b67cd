"""Debates with people in some seats, who answer by files.

The debates are held in the working directory, with real calls and a real ledger.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, people
from debate_jobs import debate_job
from moot.jobs.debates import write_transcripts
from moot.jobs.load import load_dataset
from moot.llm.stand_in import fill_schema
from moot.plan.plan import Plan
from moot.protocols.forms import read_answer, write_answer

WORDS = "\n\n".join(f"Judge {number}: I affirm, as said by hand." for number in (1, 2, 3))
"""The text of a person for every field of a form that takes a text."""


def plan_debates(url: str, protocol: str, seats: dict[str, str], **entry: Any) -> Plan:
    """Return a plan of one experiment with people in some seats.

    `entry` holds fields of the experiment; its entry `keys` holds keys of the configuration.
    """
    keys, params = entry.pop("keys", {}), {**entry.pop("params", {}), "seats": seats}
    cases = 1 if entry.get("dataset") == "conference" else 2
    experiment = {"protocol": protocol, "cases": cases, "params": params, **entry}
    raw = configuration(url, Path.cwd(), {"max_tokens": 40}, experiment=experiment, **keys)
    samples = {
        name: {"source": "sample"} for name in ("opinions", "conference", "agreement", "caselaw")
    }
    return Plan.from_yaml({**raw, "datasets": {**raw["datasets"], **samples}}, PROJECT)


def cases_of(plan: Plan, dataset: str) -> Path:
    path = Path("results/cases") / f"{dataset}.parquet"
    if not path.exists() and dataset == "people":
        return people(path, 8)
    if not path.exists():
        side_tables = (Path(f"{dataset}.{name}") for name in ("features", "cleaning"))
        load_dataset(plan.datasets[dataset], plan.load_context(dataset), path, *side_tables)
    return path


def hold(plan: Plan) -> pd.DataFrame:
    experiment = plan.experiments[EXPERIMENT]
    cases, output = cases_of(plan, experiment.config.dataset), Path("results/transcripts/0.parquet")
    write_transcripts(debate_job(plan, EXPERIMENT, MODEL, cases, shard=0), [cases], output)
    return pd.read_parquet(output)


def open_questions() -> list[Path]:
    questions = sorted(Path("data/inbox").rglob("*.question.json"))
    return [path for path in questions if not answer_file(path).exists()]


def answer_file(question: Path) -> Path:
    return question.with_name(question.name.replace(".question.json", ".answer.txt"))


def fill_in(form: dict[str, Any]) -> dict[str, Any]:
    """Return the smallest answer to a form, with `WORDS` as every text and without empty lists."""
    instance: dict[str, Any] = fill_schema(form)
    answer = {name: value for name, value in instance.items() if value != []}
    return {name: WORDS if value == "text" else value for name, value in answer.items()}


def answer_all() -> int:
    """Answer all open questions, and return their number."""
    questions = open_questions()
    for question in questions:
        form = json.loads(question.read_text())["form"]
        answer = fill_in(form)
        text = write_answer(answer, form)
        assert read_answer(text, form, question) == answer
        answer_file(question).write_text(text)
    return len(questions)


def statuses(rows: pd.DataFrame) -> list[str]:
    conclusions = rows.loc[rows["kind"] == "conclusion", "parsed"]
    return [json.loads(parsed)["status"] for parsed in conclusions]
