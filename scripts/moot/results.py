"""From a plan to the views that scores, tables and figures read: an experiment's results and a study's."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from moot.artifacts import describe, read_frame, read_frames, write_rows
from moot.as_published import compare_with_papers
from moot.plan import Plan
from moot.present import StudyResults
from moot.present.published import read_published
from moot.scores import ExperimentResults, no_scores, score_experiment

if TYPE_CHECKING:
    from snakemake.script import Snakemake

RESULTS = Path("results")


def experiment_results(plan: Plan, experiment: str, models: Sequence[str] | None = None) -> ExperimentResults:
    """The results of one experiment of a plan, all or some of its models; parameters have their defaults filled in."""
    found = plan.experiments[experiment]
    models = found.config.models if models is None else tuple(models)
    config = found.config.model_copy(update={"params": found.params.model_dump(), "models": models})
    return ExperimentResults(RESULTS, experiment, config, plan.config.seed, plan.config.shards)


def write_scores(path: Path, plan: Plan, experiment: str, sources: Sequence[Path]) -> None:
    """Score an experiment with every registered scorer and write `scores/{experiment}.parquet`.

    A model whose every debate waits for a person has no rows.
    """
    ended = experiment_results(plan, experiment).predictions["model"].unique().tolist()
    scores = score_experiment(experiment_results(plan, experiment, ended)) if len(ended) else no_scores()
    rows = ({str(name): value for name, value in row.items()} for row in scores.to_dict("records"))
    write_rows(path, "scores", rows, describe(experiment, sources))


def study_results(
    plan: Plan, study: str, scores: Sequence[Path], baselines: Sequence[Path], published: Path
) -> StudyResults:
    """All that a study's tables and figures may show: the experiments and models that have scores.

    Args:
        plan: the checked configuration.
        study: the study's name.
        scores: `scores/{experiment}.parquet` of its experiments.
        baselines: `baselines/{dataset}.parquet` of its data sets.
        published: `data/published/published_results.csv`.
    """
    figures = read_published(published)
    frame = read_frames(scores) if scores else no_scores()
    scored = {
        found.name: [
            model for model in found.config.models if model in set(frame["model"][frame["experiment"] == found.name])
        ]
        for found in plan.of_study(study)
    }
    return StudyResults(
        study=study,
        experiments={name: experiment_results(plan, name, models) for name, models in scored.items() if models},
        scores=frame,
        baselines={path.stem: read_frame(path) for path in baselines},
        published=figures[figures["study"] == study],
        comparable=compare_with_papers(plan),
    )


def results_of_job(job: "Snakemake") -> StudyResults:
    """What the job of a table or figure shows, by the inputs and the wildcard that its rule names."""
    plan = Plan.from_yaml(job.config, Path(job.scriptdir).parent)
    scores, baselines = ([Path(path) for path in paths] for paths in (job.input.scores, job.input.baselines))
    return study_results(plan, job.wildcards.study, scores, baselines, Path(job.input.published))
