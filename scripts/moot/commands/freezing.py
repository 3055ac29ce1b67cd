"""Freezing a plan: contrasts, cases, prompts and code are recorded before the run.

A frozen plan is a YAML file in `data/frozen/` with the digest of its content; it is never
overwritten.
"""

import json
import math
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import yaml

from moot import __version__
from moot.commands.preview import preview_rows
from moot.core.errors import UserError
from moot.core.experiment_config import RECORDED
from moot.core.types import JsonObject
from moot.jobs.frozen_plans import (
    CASES,
    FrozenPlan,
    describe_plan,
    differences,
    digest_of,
    last_frozen,
    planned_experiments,
    read_frozen,
)
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan
from moot.workflow.user_files import FROZEN


def freeze(plan: Plan, results: Path, frozen_at: datetime) -> str:
    """Freeze a plan, and return a description of it.

    Nothing is written if the same plan is already frozen.

    Raises:
        UserError: no contrast of this run can be tested.
    """
    if not planned_experiments(plan):
        reasons = "".join(f"\n  {contrast.name}: {contrast.missing}" for contrast in plan.contrasts)
        raise UserError(
            "freeze: no contrast of the configuration can be tested in this"
            f" run.{reasons or ' Name some.'}"
        )
    description, previous_plan = describe_plan(plan, results), last_frozen()
    if previous_plan and not list(differences(previous_plan.plan, description)):
        return (
            f"The plan is frozen already, since {previous_plan.frozen_at}: {previous_plan.path}\n"
        )
    recorded_names, debated_names = _split_by_source(plan)
    with closing(Ledger(plan.config.ledger)) as ledger:
        reply_count = ledger.read_totals().calls
    content = {
        "frozen_at": frozen_at.isoformat(timespec="seconds"),
        "moot_version": __version__,
        "replies": reply_count,
        "replies_of_runs": {
            f"{row['experiment']}/{row['model']}": row.get("calls_in_ledger")
            for row in preview_rows(plan, results)
            if row["experiment"] in debated_names
        },
        "recorded": recorded_names,
        "deviation": plan.config.deviation,
        "plan": description,
    }
    path = FROZEN / f"plan-{previous_plan.number + 1 if previous_plan else 1}.yaml"
    FROZEN.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:  # another frozen plan is never overwritten
        file.write(_as_yaml({**content, "digest": digest_of(content)}))
    return "\n".join(_announcement(read_frozen(path), previous_plan)) + "\n"


def _as_yaml(content: JsonObject) -> str:
    """Return a plan as YAML text, without references between equal parts."""
    plain = json.loads(json.dumps(content))
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=math.inf)


def _announcement(frozen: FrozenPlan, previous_plan: FrozenPlan | None) -> Iterator[str]:
    yield f"Frozen at {frozen.frozen_at}: {frozen.path}, {frozen.replies_before()}"
    for name, entry in frozen.plan["contrasts"].items():
        yield (
            f"  {name}: {entry['first']} against {entry['second']}, {entry['metric']},"
            f" {entry['direction']}"
        )
    yield from (
        f"  {name}: {entry[CASES]} cases" for name, entry in frozen.plan["experiments"].items()
    )
    yield f"Its digest, to publish before the run: {frozen.content['digest']}"
    if previous_plan:
        yield (
            f"It differs from the plan frozen at {previous_plan.frozen_at} ({previous_plan.path}),"
            " which stays:"
        )
        changes = differences(previous_plan.plan, frozen.plan)
        yield from (f"  {change}" for change in changes)


def _split_by_source(plan: Plan) -> tuple[list[str], list[str]]:
    """Split the planned experiments into those with recorded debates and those that call models."""
    kinds: tuple[list[str], list[str]] = [], []
    for name in planned_experiments(plan):
        kinds[plan.experiments[name].config.protocol != RECORDED].append(name)
    return kinds
