"""The results of an experiment or study, from a plan and a job's inputs.

Scores, tables and figures read them.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from moot.core.artifacts import describe, read_frame, read_frames, write_rows
from moot.core.experiment_config import COMPARISON
from moot.core.registry import Registry
from moot.core.types import JsonObject
from moot.jobs.frozen_plans import compare_with_frozen
from moot.papers.as_published import confirm_served
from moot.plan.papers_of_run import compare_with_papers
from moot.plan.plan import Plan
from moot.report.content import Figure, Table
from moot.report.notes import REHEARSAL_NOTE
from moot.report.published import read_published
from moot.report.study_results import StudyResults
from moot.scores import no_scores, score_experiment
from moot.scores.results import ExperimentResults

if TYPE_CHECKING:
    from snakemake.script import Snakemake

RESULTS = Path("results")
Item = TypeVar("Item", Table, Figure)


def load_experiment_results(
    plan: Plan,
    experiment: str,
    models: Sequence[str] | None = None,
    files: Collection[Path] | None = None,
) -> ExperimentResults:
    """Load the results of one experiment of a plan.

    Its parameters include the defaults.

    Args:
        plan: the checked configuration.
        experiment: its name.
        models: the models whose results are read; () for all of the experiment.
        files: the files that may be read; None for all files of the folder.
    """
    return ExperimentResults(
        RESULTS, experiment, plan.view(experiment, models), plan.config.seed, files
    )


def load_model_results(plan: Plan, job: "Snakemake") -> ExperimentResults:
    """Return the results of the experiment and model that a job is about."""
    view = plan.view(job.wildcards.experiment, [job.wildcards.model])
    experiment = job.wildcards.experiment
    return ExperimentResults(
        RESULTS, experiment, view, plan.config.seed, _files(job), _notes(plan, experiment)
    )


def load_study_debates(plan: Plan, job: "Snakemake") -> dict[str, ExperimentResults]:
    """Load the results of every experiment of a job's study, by name.

    Trial runs and controls are included.
    """
    study, files = job.wildcards.study, _files(job)
    return {
        name: ExperimentResults(
            RESULTS, name, plan.view(name), plan.config.seed, files, _notes(plan, name)
        )
        for name, config in plan.experiments.items()
        if config.study == study
    }


def _notes(plan: Plan, experiment: str) -> list[str]:
    """Return remarks that readers of an experiment's debates need."""
    rehearsal = [REHEARSAL_NOTE] if plan.config.rehearsal else []
    return [*rehearsal, *plan.made_up_inputs(experiment).notes]


def write_scores(
    path: Path, plan: Plan, experiment: str, sources: Sequence[Path], **digests: str
) -> None:
    """Score an experiment with every registered scorer and write `scores/{experiment}.parquet`.

    A model whose every debate waits has no rows.
    """
    results = load_experiment_results(plan, experiment, files=sources)
    scored_models = results.predictions["model"].unique().tolist()
    if scored_models != list(results.config.models):
        results = load_experiment_results(plan, experiment, scored_models, sources)
    scores = score_experiment(results) if scored_models else no_scores()
    rows = cast("list[JsonObject]", scores.to_dict("records"))
    write_rows(path, "scores", rows, describe(experiment, sources, **digests))


def load_study_results(plan: Plan, job: "Snakemake", study: str) -> StudyResults:
    """Load the results that a study's tables and figures may show.

    They cover the experiments and models that have scores.

    Args:
        plan: the checked configuration.
        job: a job whose inputs are the study's scores, leaderboards and published values, and for
            tables frozen plans.
        study: its name.
    """
    files, contrasts = _files(job), plan.contrasts_of(study)
    published = read_published(Path(job.input.published))
    frame = read_frames(map(Path, job.input.scores)) if job.input.scores else no_scores()
    scored = {}
    for experiment in plan.experiments_of(study):
        scored_models = set(frame["model"][frame["experiment"] == experiment.name])
        models = [model for model in experiment.config.models if model in scored_models]
        if models:
            scored[experiment.name] = models
    return StudyResults(
        study=study,
        experiments={
            name: load_experiment_results(plan, name, models, files)
            for name, models in scored.items()
        },
        scores=frame,
        baselines={Path(path).stem: read_frame(Path(path)) for path in job.input.baselines},
        published=published[published["study"] == study],
        paper_matches=confirm_served(compare_with_papers(plan), frame, plan.config.models),
        trials={
            experiment.name: load_experiment_results(plan, experiment.name, files=files)
            for experiment in plan.trials_of(study)
        },
        controls={
            experiment.name: load_experiment_results(plan, experiment.name, files=files)
            for experiment in plan.controls_of(study)
        },
        is_rehearsal=plan.config.rehearsal,
        contrasts=contrasts,
        power=plan.config.power,
        plan_history=(
            compare_with_frozen(plan, RESULTS, None if study == COMPARISON else study)
            if contrasts and hasattr(job.input, "frozen")
            else ()
        ),
    )


def write_registered(
    plan: Plan,
    job: "Snakemake",
    registry: Registry[Item],
    write: Callable[[Item, StudyResults, Mapping[str, Path]], None],
) -> None:
    """Write the tables or figures of a job, with their captions.

    An example of a path is `results/tables/{study}/{name}.csv`.
    """
    outputs: defaultdict[str, defaultdict[str, dict[str, Path]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for path in map(Path, job.output):
        name, _, ending = path.name.partition(".")
        outputs[path.parent.name][name][ending] = path
    for study, paths_by_name in outputs.items():
        results = load_study_results(plan, job, study)
        for name, paths in paths_by_name.items():
            item = registry[f"{study}/{name}"]
            paths.pop("rst").write_text(item.caption + "\n", encoding="utf-8")
            write(item, results, paths)


def _files(job: "Snakemake") -> list[Path]:
    return [Path(path) for path in job.input]
