"""Decide from the results of earlier jobs of an experiment whether further debates are needed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from moot.hooks import Schedule
from moot.jobs.debates import Job
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.scores.results import ExperimentResults


def is_complete(plan: Plan, job: Job, cases: Path, transcripts: Sequence[Path]) -> bool:
    """Return whether the debates of a job are left out.

    The decision depends only on the transcripts of earlier jobs and on the ledger. Therefore all
    jobs of a stage, and all continued runs, decide equally.

    Args:
        plan: the checked configuration.
        job: of an experiment with a schedule.
        cases: `cases/{dataset}.parquet`.
        transcripts: of all earlier jobs of the runs that the schedule names.
    """
    if not job.shard:
        return False
    schedule = plan.schedules[job.experiment]
    with TemporaryDirectory() as folder:
        results = _results_so_far(plan, schedule, Path(folder), cases, transcripts)
        return schedule.is_complete(results)


def _results_so_far(
    plan: Plan, schedule: Schedule, folder: Path, cases: Path, transcripts: Sequence[Path]
) -> Mapping[str, ExperimentResults]:
    """Return the results of the runs of a schedule, by experiment; predictions are written to a
    folder.
    """
    (folder / "cases").mkdir()
    copyfile(cases, folder / "cases" / cases.name)
    models: dict[str, list[str]] = {}
    for experiment, model in schedule.runs:
        shards = [path for path in transcripts if path.parts[-3:-1] == (experiment, model)]
        outputs = [
            folder / kind / experiment / f"{model}.parquet" for kind in ("predictions", "calls")
        ]
        write_predictions(plan, experiment, cases, shards, *outputs)
        models.setdefault(experiment, []).append(model)
    return {
        name: ExperimentResults(folder, name, plan.view(name, names), plan.config.seed)
        for name, names in models.items()
    }
