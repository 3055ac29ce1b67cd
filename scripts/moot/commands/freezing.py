"""Freezing a plan: what is to be compared, on which cases, by which prompts and code, written down
before the run.

A frozen plan is a YAML file in `data/frozen/`, which is never overwritten, with a page in Markdown
beside it.
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
from moot.commands.preview import replies_held
from moot.core.errors import UserError
from moot.core.experiment_config import RECORDED
from moot.core.types import JsonObject
from moot.jobs.frozen_plans import (
    CASES,
    Frozen,
    describe_plan,
    differences,
    digest_of,
    faults,
    planned_experiments,
    read_chain,
    read_frozen,
)
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.log import head_of, read_log, seal
from moot.plan.plan import Plan
from moot.workflow.user_files import FROZEN


def freeze(plan: Plan, results: Path, now: datetime) -> str:
    """Freeze a plan, and say in words what was frozen and where; nothing is written where it is
    frozen already.

        Raises:
            UserError: no contrast of this run can be tested, or the clock is behind the last frozen
                plan.
    """
    if not planned_experiments(plan):
        reasons = "".join(f"\n  {one.name}: {one.missing}" for one in plan.contrasts)
        raise UserError(
            "freeze: no contrast of the configuration can be tested in this"
            f" run.{reasons or ' Name some.'}"
        )
    described, chain = describe_plan(plan, results), read_chain()
    head, changes = _head_of_ledger(plan, chain)
    before = chain[-1] if chain else None
    if before and now < datetime.fromisoformat(before.frozen_at):
        raise UserError(
            f"freeze: it is {now.isoformat(timespec='seconds')} by this machine's clock;"
            f" {before.path} was frozen at {before.frozen_at}. Set the clock, so that the order of"
            " plans shows."
        )
    changed = list(differences(before.plan, described, ("before", "now"))) if before else []
    if before and not changed:
        said = [f"The plan is frozen already, since {before.frozen_at}: {before.path}"]
    else:
        recorded, debated = _by_kind(plan)
        content = {
            "frozen_at": now.isoformat(timespec="seconds"),
            "moot_version": __version__,
            "previous": before.digest if before else None,
            "replies_of_runs": replies_held(plan, results, debated),
            "recorded": recorded,
            "deviation": plan.config.deviation,
            "ledger": head,
            "plan": described,
        }
        path = FROZEN / f"plan-{before.number + 1 if before else 1}.yaml"
        FROZEN.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:  # another freeze is never overwritten
            file.write(_as_yaml({**content, "digest": digest_of(content)}))
        frozen = read_frozen(path)
        said = list(_announcement(frozen, before, changed))
        said.append(f"To read and to register: {write_plan_page(frozen, changed)}")
    return "\n".join([*said, *changes, *faults(read_chain())]) + "\n"


def _as_yaml(content: JsonObject) -> str:
    """The text of a plan's file, without YAML's references between equal parts."""
    plain = json.loads(json.dumps(content))
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=math.inf)


def _announcement(frozen: Frozen, before: Frozen | None, changed: Collection[str]) -> Iterator[str]:
    yield f"Frozen at {frozen.frozen_at}: {frozen.path}, {frozen.replies_before()}"
    for name, one in frozen.plan["contrasts"].items():
        yield (
            f"  {name}: {one['first']} against {one['second']}, {one['metric']}, {one['direction']}"
        )
    yield from (f"  {name}: {one[CASES]} cases" for name, one in frozen.plan["experiments"].items())
    if before:
        yield f"It differs from the plan frozen at {before.frozen_at} ({before.path}), which stays:"
        yield from (f"  {change}" for change in changed)


def _by_kind(plan: Plan) -> tuple[list[str], list[str]]:
    """The planned experiments whose debates are recorded, and those that ask models."""
    kinds: tuple[list[str], list[str]] = [], []
    for name in planned_experiments(plan):
        kinds[plan.experiments[name].config.protocol != RECORDED].append(name)
    return kinds


def _head_of_ledger(plan: Plan, chain: Sequence[Frozen]) -> tuple[JsonObject, list[str]]:
    """The head of the ledger's log, and which earlier plans were frozen with replies that it no
    longer begins with.
    """
    with closing(Ledger(plan.config.ledger)) as ledger:
        seal(ledger)
        digests = [row.digest for row in read_log(ledger)]
    changed = [
        f"The ledger is not the one that {frozen.path} was frozen with: of its {then['replies']}"
        " replies of then, some were changed or removed, or `ledger` names another."
        for frozen in chain
        if head_of(digests[: (then := frozen.content["ledger"])["replies"]]) != then
    ]
    return dict(head_of(digests)), changed
