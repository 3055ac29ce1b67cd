"""Freezing a plan: what is to be compared, on which cases, by which prompts and code, written down before the run.

A frozen plan is a JSON file in `data/frozen/`, which is never overwritten. The report compares the run with the newest.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from moot import __version__
from moot.core.artifacts import read_cases
from moot.core.errors import UserError
from moot.llm.ledger import Ledger
from moot.stages.debated_cases import choose_debated_cases
from moot.stages.digests import FROZEN, Stages, frozen_files
from moot.stages.plan import Plan

NOT_FROZEN = (
    "No plan was frozen (`snakemake freeze`): nothing shows that these comparisons were chosen before the debates."
)


@dataclass(frozen=True)
class Frozen:
    """A frozen plan.

    Attributes:
        path: its file.
        frozen_at: when, ISO 8601.
        replies: how many replies the ledger held then.
        existing: runs of the plan whose predictions stood in `results/` then.
        plan: what was frozen, as `describe_plan` gives it.
    """

    path: Path
    frozen_at: str
    replies: int
    existing: tuple[str, ...]
    plan: Mapping[str, Any]


def read_frozen(path: Path) -> Frozen:
    """A frozen plan from its file.

    Raises:
        UserError: the file is none that `snakemake freeze` wrote.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        existing = tuple(content["existing"])
        return Frozen(path, content["frozen_at"], content["replies_in_ledger"], existing, dict(content["plan"]))
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise UserError(
            f"{path}: not a frozen plan ({type(error).__name__}: {error}); expected the file that `snakemake freeze` "
            "wrote. Restore it, or move it away."
        ) from None


def planned_experiments(plan: Plan, study: str | None = None) -> list[str]:
    """The experiments that the run's contrasts compare, of one study or of all."""
    sides = [side for one in plan.contrasts if not one.missing and study in (None, one.family) for side in one.sides]
    return sorted({side.experiment for side in sides})


def describe_plan(plan: Plan, results: Path, study: str | None = None) -> dict[str, Any]:
    """All that the answer to a plan's contrasts depends on, as plain values.

    Args:
        plan: the checked configuration.
        results: the folder with `cases/`.
        study: whose contrasts; none: all that this run tests.
    """
    stages, names = Stages(plan), planned_experiments(plan, study)
    contrasts = [one for one in plan.contrasts if not one.missing and study in (None, one.family)]
    models = sorted({used for name in names for used in _models(plan, name)})
    return {
        "seed": plan.config.seed,
        "contrasts": {
            one.name: {**plan.config.contrasts[one.name].model_dump(mode="json"), "study": one.family}
            for one in contrasts
        },
        "experiments": {name: _experiment(plan, name) for name in names},
        "cases": {name: _cases(plan, results, name) for name in names},
        "prompts": {name: sorted({found.prompts for found in _debates(stages, plan, name)}) for name in names},
        "models": {name: stages.replies_depend_on(name) for name in models},
        "code": {
            "analysis": stages.analysis_code(),
            "debates": {name: sorted({found.code for found in _debates(stages, plan, name)}) for name in names},
        },
    }


def _models(plan: Plan, experiment: str) -> set[str]:
    jobs = [(experiment, model) for model in plan.experiments[experiment].config.models]
    return {used for job in jobs for used in (*plan.models_in_job(*job), *plan.labelling_models(*job))}


def _debates(stages: Stages, plan: Plan, experiment: str) -> list[Any]:
    models = plan.experiments[experiment].config.models
    return [stages.of("run_debates", experiment=experiment, model=model) for model in models]


def _experiment(plan: Plan, name: str) -> dict[str, Any]:
    found = plan.experiments[name]
    stated = found.config.model_dump(mode="json", exclude={"params", "prompts", "grid", "study", "arms"})
    return {**stated, "params": found.params.model_dump(mode="json")}


def _cases(plan: Plan, results: Path, name: str) -> dict[str, Any]:
    experiment = plan.experiments[name]
    cases, _ = read_cases(results / "cases" / f"{experiment.config.dataset}.parquet")
    chosen = choose_debated_cases(experiment, cases, plan.config.seed)
    content = sorted((case.case_id, case.split, case.text, case.target) for case in chosen)
    digest = hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
    return {"number": len(chosen), "digest": digest[:16]}


def differences(frozen: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """In what a plan differs from a frozen one, in words; only what both could hold is compared."""
    found = [f"seed: frozen {frozen['seed']}, now {now['seed']}"] if frozen["seed"] != now["seed"] else []
    found += _changes("contrast", frozen["contrasts"], now["contrasts"])
    found += _changes("experiment", frozen["experiments"], now["experiments"])
    found += [
        f"cases of {name}: others (frozen {frozen['cases'][name]['number']}, now {cases['number']})"
        for name, cases in now["cases"].items()
        if frozen["cases"].get(name, cases) != cases
    ]
    found += _changes("model", frozen["models"], now["models"])
    changed = [name for name, digest in now["prompts"].items() if frozen["prompts"].get(name, digest) != digest]
    found += [f"prompts of {', '.join(changed)}: another wording"] if changed else []
    was, code = frozen["code"], now["code"]
    found += ["the code of the analysis was changed"] if was["analysis"] != code["analysis"] else []
    changed = [name for name, digest in code["debates"].items() if was["debates"].get(name, digest) != digest]
    return found + ([f"the code behind the debates of {', '.join(changed)} was changed"] if changed else [])


def _changes(kind: str, frozen: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{kind} {name}: added" for name in now if name not in frozen)
    yield from (f"{kind} {name}: not in this run" for name in frozen if name not in now)
    for name in (name for name in now if name in frozen):
        for path, was, value in _changed_values(frozen[name], now[name]):
            yield f"{kind} {name}, {path}: frozen {_words(was)}, now {_words(value)}"


def _changed_values(was: Any, now: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*was, *now]):
            yield from _changed_values(was.get(key), now.get(key), f"{path}.{key}".strip("."))
    elif was != now:
        yield path, was, now


def _words(value: object) -> str:
    return "none" if value in (None, "", [], {}) else json.dumps(value, ensure_ascii=False).strip('"')


def freeze(plan: Plan, results: Path, now: datetime) -> str:
    """Freeze a plan, and say in words what was frozen and where; nothing is written where it is frozen already.

    Raises:
        UserError: no contrast of this run can be tested.
    """
    if not planned_experiments(plan):
        reasons = "".join(f"\n  {one.name}: {one.missing}" for one in plan.contrasts)
        raise UserError(
            f"freeze: no contrast of the configuration can be tested in this run.{reasons or ' Name some.'}"
        )
    described, files = describe_plan(plan, results), frozen_files()
    before = read_frozen(files[-1]) if files else None
    changed = differences(before.plan, described) if before else []
    if before and not changed:
        return f"The plan is frozen already, since {before.frozen_at}: {before.path}\n"
    path = FROZEN / f"plan-{len(files) + 1}.json"
    content = {
        "frozen_at": now.isoformat(timespec="seconds"),
        "moot_version": __version__,
        "replies_in_ledger": _replies(plan),
        "existing": _existing(plan, results),
        "plan": described,
    }
    FROZEN.mkdir(parents=True, exist_ok=True)
    with path.open("x", encoding="utf-8") as file:  # another freeze is never overwritten
        file.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return "\n".join(_announcement(path, content, before, changed)) + "\n"


def _announcement(
    path: Path, content: Mapping[str, Any], before: Frozen | None, changed: Collection[str]
) -> Iterator[str]:
    plan = content["plan"]
    yield f"Frozen at {content['frozen_at']}: {path}"
    for name, one in plan["contrasts"].items():
        yield f"  {name}: {one['first']} against {one['second']}, {one['metric']}, {one['direction']}"
    yield from (f"  {name}: {cases['number']} cases" for name, cases in plan["cases"].items())
    yield f"The ledger holds {content['replies_in_ledger']} replies."
    if content["existing"]:
        yield f"Results stand already of {', '.join(content['existing'])}: the report says so."
    if before:
        yield f"It differs from the plan frozen at {before.frozen_at} ({before.path}), which stays:"
        yield from (f"  {change}" for change in changed)


def _replies(plan: Plan) -> int:
    place = plan.config.ledger
    if "://" not in place and not (Path(place) / "ledger.sqlite").exists():
        return 0
    with closing(Ledger(place)) as ledger:
        return ledger.spent().calls


def _existing(plan: Plan, results: Path) -> list[str]:
    runs = [f"{name}/{model}" for name in planned_experiments(plan) for model in plan.experiments[name].config.models]
    return [run for run in runs if (results / "predictions" / f"{run}.parquet").exists()]


def compare_with_frozen(plan: Plan, results: Path, path: Path | None, study: str | None = None) -> str:
    """Whether a run is the frozen plan, in one paragraph; "" in a rehearsal.

    Args:
        plan: the checked configuration.
        results: the folder with `cases/`.
        path: the newest frozen plan, if any.
        study: whose contrasts are compared; none: all.
    """
    if plan.config.rehearsal:
        return ""
    if path is None:
        return NOT_FROZEN
    frozen = read_frozen(path)
    now = describe_plan(plan, results, study)
    changed = differences(_part(frozen.plan, now, study) if study else frozen.plan, now)
    since = f"{frozen.frozen_at} ({frozen.path}), when the ledger held {frozen.replies} replies"
    if frozen.existing:
        since += f" and results of {', '.join(frozen.existing)} stood already"
    if not changed:
        return f"This run is the plan that was frozen at {since}."
    return f"This run is not the plan that was frozen at {since}. It differs: {'; '.join(changed)}."


def _part(frozen: Mapping[str, Any], now: Mapping[str, Any], study: str) -> dict[str, Any]:
    """A frozen plan without what the contrasts of other studies need."""
    contrasts = {name: one for name, one in frozen["contrasts"].items() if one["study"] == study}
    named = {one[side].partition("/")[0] for one in contrasts.values() for side in ("first", "second")}
    experiments = {name: one for name, one in frozen["experiments"].items() if name in named}
    models = {name: one for name, one in frozen["models"].items() if name in now["models"]}
    return {**frozen, "contrasts": contrasts, "experiments": experiments, "models": models}
