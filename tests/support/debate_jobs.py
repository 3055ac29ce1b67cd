"""Jobs of debates, from a plan and the file of their cases."""

from collections.abc import Mapping
from pathlib import Path

from moot.core.artifacts import read_cases
from moot.jobs.debates import Job
from moot.plan.plan import Plan


def debate_job(
    plan: Plan,
    experiment: str,
    model: str,
    cases: Path,
    shard: int | None = None,
    artifacts: Mapping[str, Path] | None = None,
) -> Job:
    """Return the job of an experiment's debates by a model."""
    models = plan.models_in_job(experiment, model)
    run_part = (plan.config, plan.experiments[experiment], models)
    return Job(*run_part, *read_cases(cases), shard, artifacts=artifacts or {})
