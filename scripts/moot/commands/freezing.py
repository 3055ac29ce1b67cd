"""Freezing a plan: contrasts, cases, prompts and code are recorded before the run.

A frozen plan is a YAML file in `data/frozen/`, which is never overwritten, next to a page in
Markdown.
"""

import json
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

import yaml

from moot import __version__
from moot.commands.plan_page import write_plan_page
from moot.commands.preview import count_stored_replies
from moot.core.errors import UserError
from moot.core.experiment_config import RECORDED
from moot.core.types import JsonObject
from moot.jobs.frozen_plans import (
    CASES,
    FrozenPlan,
    chain_faults,
    describe_plan,
    differences,
    digest_of,
    planned_experiments,
    read_chain,
    read_frozen,
)
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.reply_chain import head_of, read_log, seal
from moot.plan.plan import Plan
from moot.workflow.user_files import FROZEN


def freeze(plan: Plan, results: Path, frozen_at: datetime) -> str:
    """Freeze a plan, and return a description of it.

    Nothing is written if the same plan is already frozen.

    Raises:
        UserError: no contrast of this run can be tested, or the clock is behind the last frozen
            plan.
    """
    if not planned_experiments(plan):
        reasons = "".join(f"\n  {contrast.name}: {contrast.missing}" for contrast in plan.contrasts)
        raise UserError(
            "freeze: no contrast of the configuration can be tested in this"
            f" run.{reasons or ' Name some.'}"
        )
    description, chain = describe_plan(plan, results), read_chain()
    head, changes = _head_of_ledger(plan, chain)
    previous_plan = chain[-1] if chain else None
    if previous_plan and frozen_at < datetime.fromisoformat(previous_plan.frozen_at):
        raise UserError(
            f"freeze: it is {frozen_at.isoformat(timespec='seconds')} by this machine's clock; "
            f"{previous_plan.path} was frozen at {previous_plan.frozen_at}. Correct the clock, so "
            "that the order of plans is visible."
        )
    differing_parts = (
        list(differences(previous_plan.plan, description, ("before", "now")))
        if previous_plan
        else []
    )
    if previous_plan and not differing_parts:
        lines = [
            f"The plan is frozen already, since {previous_plan.frozen_at}: {previous_plan.path}"
        ]
    else:
        recorded_names, debated_names = _split_by_source(plan)
        content = {
            "frozen_at": frozen_at.isoformat(timespec="seconds"),
            "moot_version": __version__,
            "previous": previous_plan.digest if previous_plan else None,
            "replies_of_runs": count_stored_replies(plan, results, debated_names),
            "recorded": recorded_names,
            "deviation": plan.config.deviation,
            "ledger": head,
            "plan": description,
        }
        path = FROZEN / f"plan-{previous_plan.number + 1 if previous_plan else 1}.yaml"
        FROZEN.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:  # another frozen plan is never overwritten
            file.write(_as_yaml({**content, "digest": digest_of(content)}))
        frozen = read_frozen(path)
        lines = list(_announcement(frozen, previous_plan, differing_parts))
        lines.append(f"To read and to register: {write_plan_page(frozen, differing_parts)}")
    return "\n".join([*lines, *changes, *chain_faults(read_chain())]) + "\n"


def _as_yaml(content: JsonObject) -> str:
    """Return a plan as YAML text, without references between equal parts."""
    plain = json.loads(json.dumps(content))
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=math.inf)


def _announcement(
    frozen: FrozenPlan, previous_plan: FrozenPlan | None, changed: Collection[str]
) -> Iterator[str]:
    yield f"Frozen at {frozen.frozen_at}: {frozen.path}, {frozen.replies_before()}"
    for name, entry in frozen.plan["contrasts"].items():
        yield (
            f"  {name}: {entry['first']} against {entry['second']}, {entry['metric']},"
            f" {entry['direction']}"
        )
    yield from (
        f"  {name}: {entry[CASES]} cases" for name, entry in frozen.plan["experiments"].items()
    )
    if previous_plan:
        yield (
            f"It differs from the plan frozen at {previous_plan.frozen_at} ({previous_plan.path}),"
            " which stays:"
        )
        yield from (f"  {change}" for change in changed)


def _split_by_source(plan: Plan) -> tuple[list[str], list[str]]:
    """Split the planned experiments into those with recorded debates and those that call models."""
    kinds: tuple[list[str], list[str]] = [], []
    for name in planned_experiments(plan):
        kinds[plan.experiments[name].config.protocol != RECORDED].append(name)
    return kinds


def _head_of_ledger(plan: Plan, chain: Sequence[FrozenPlan]) -> tuple[JsonObject, list[str]]:
    """Return the head of the ledger's log, and the earlier plans that no longer match it.

    Such a plan was frozen with replies with which the log does not begin.
    """
    with closing(Ledger(plan.config.ledger)) as ledger:
        seal(ledger)
        digests = [row.digest for row in read_log(ledger)]
    changed = [
        f"The ledger is not the one that {frozen.path} was frozen with: some of its "
        f"{frozen_head['replies']} replies at that time were changed or removed, or `ledger` "
        "names another ledger."
        for frozen in chain
        if head_of(digests[: (frozen_head := frozen.content["ledger"])["replies"]]) != frozen_head
    ]
    return dict(head_of(digests)), changed
