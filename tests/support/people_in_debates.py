"""Debates in which people sit: held through real calls and a real ledger in the working directory,
answered by files.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, people
from moot.commands.preview import smallest_instance
from moot.core.artifacts import read_cases
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.load import load_dataset
from moot.plan.plan import Plan
from moot.protocols.forms import read_answer, write_answer

WORDS = "\n\n".join(f"Judge {number}: I affirm, as said by hand." for number in (1, 2, 3))
"""What a person says wherever a text is asked for."""


def planned(url: str, protocol: str, seats: dict[str, str], **entry: Any) -> Plan:
    """A plan of one experiment with people in some seats;
    `keys` are further keys of the configuration.
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
        others = (Path(f"{dataset}.{name}") for name in ("features", "cleaning"))
        load_dataset(plan.dataset_options(dataset), plan.load_context(dataset), path, *others)
    return path


def hold(plan: Plan) -> pd.DataFrame:
    experiment = plan.experiments[EXPERIMENT]
    cases, output = cases_of(plan, experiment.config.dataset), Path("results/transcripts/0.parquet")
    write_transcripts(plan, Job(EXPERIMENT, MODEL, *read_cases(cases), shard=0), [cases], output)
    return pd.read_parquet(output)


def open_questions() -> list[Path]:
    asked = sorted(Path("data/inbox").rglob("*.question.json"))
    return [path for path in asked if not answer_file(path).exists()]


def answer_file(question: Path) -> Path:
    return question.with_name(question.name.replace(".question.json", ".answer.txt"))


def filled_in(form: dict[str, Any]) -> dict[str, Any]:
    """The smallest answer with words of a person's in every text, and without empty lists."""
    found: dict[str, Any] = smallest_instance(form)
    return {
        name: WORDS if value == "text" else value for name, value in found.items() if value != []
    }


def answer_all() -> int:
    """Answer what is open, as a person would by hand; how many questions there were."""
    asked = open_questions()
    for question in asked:
        form = json.loads(question.read_text())["form"]
        answer = filled_in(form)
        text = write_answer(answer, form)
        assert read_answer(text, form, question) == answer
        answer_file(question).write_text(text)
    return len(asked)


def statuses(rows: pd.DataFrame) -> list[str]:
    return [
        json.loads(parsed)["status"] for parsed in rows.loc[rows["kind"] == "conclusion", "parsed"]
    ]
