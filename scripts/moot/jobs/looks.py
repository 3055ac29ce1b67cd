"""Whether a look is held: what the tables would say of the looks before it decides."""

from collections.abc import Sequence
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from moot.core.log import LOG
from moot.jobs.debates import Job
from moot.jobs.predictions import write_predictions
from moot.plan.plan import Plan
from moot.scores.results import ExperimentResults
from moot.scores.stopping import all_stop, stopping


def is_stopped(plan: Plan, job: Job, cases: Path, earlier: Sequence[Path]) -> bool:
    """Whether the debates of a look are left out.

    The decision rests on the transcripts of earlier looks and the ledger alone, so that each job of
    a look, and each run that goes on, comes to the same.

    Args:
        plan: the checked configuration.
        job: the look's.
        cases: `cases/{dataset}.parquet`.
        earlier: the transcripts of all looks before it, of all runs that the contrasts compare.
    """
    if not job.shard:
        return False
    looks = plan.looks[job.experiment]
    with TemporaryDirectory() as folder:
        results = Path(folder)
        (results / "cases").mkdir()
        copyfile(cases, results / "cases" / cases.name)
        models: dict[str, list[str]] = {}
        for experiment, model in looks.runs:
            shards = [path for path in earlier if path.parts[-3:-1] == (experiment, model)]
            outputs = [
                results / kind / experiment / f"{model}.parquet"
                for kind in ("predictions", "calls")
            ]
            write_predictions(plan, experiment, cases, shards, *outputs)
            models.setdefault(experiment, []).append(model)
        seed = plan.config.seed
        found = {
            name: ExperimentResults(results, name, plan.view(name, mine), seed)
            for name, mine in models.items()
        }
        reached = {one.name: stopping(one, one.stop, found) for one in looks.contrasts if one.stop}
    for name, one in reached.items():
        LOG.info(
            "contrast %s after %d of %d looks, %d cases: %s",
            name,
            one.looks,
            one.planned_looks,
            one.cases,
            one.reason,
        )
    return all_stop(reached.values())
