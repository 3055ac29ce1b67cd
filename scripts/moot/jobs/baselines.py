"""From a data set's artifacts to its leaderboard, test predictions and stored models."""

import os
from pathlib import Path

from moot.core.artifacts import describe, read_cases, read_frame, write_frame
from moot.plan.plan import Plan
from moot.training.baselines import rebalance, select
from moot.training.baselines.tabpfn import FOLDER_VARIABLE
from moot.training.evaluation import evaluate
from moot.training.examples import examples
from moot.training.stored_baselines import store


def train_baselines(
    plan: Plan,
    dataset: str,
    inputs: tuple[Path, Path],
    outputs: tuple[Path, Path, Path],
    threads: int,
    **digests: str,
) -> None:
    """Evaluate the baselines that a data set's configuration names, and write the results.

    Args:
        plan: the checked configuration.
        dataset: a name under `datasets`.
        inputs: the cases and the features artifact.
        outputs: the paths of the leaderboard, of the test split's predictions, and of the folder of
            models.
        threads: the number of folds fitted at once.
        digests: the job's digests, for the artifacts' metadata.
    """
    cases_path, features_path = inputs
    leaderboard, predictions, models = outputs
    os.environ.setdefault(FOLDER_VARIABLE, str(Path(plan.config.data_root) / "tabpfn"))
    cases, task = read_cases(cases_path)
    features = read_frame(features_path)
    has_features = len(features.columns) > len({"case_id", "split", "label"})
    data = examples(cases, task, features if has_features else None)
    options = plan.datasets[dataset]
    baselines = select(options.baselines)
    if options.rebalance:
        baselines += [rebalance(entry) for entry in baselines if entry.kind == "tabular"]
    evaluation = evaluate(data, baselines, seed=plan.config.seed, threads=threads)
    metadata = describe(sources=inputs, dataset=dataset, **digests)
    write_frame(leaderboard, "baselines", evaluation.leaderboard, metadata)
    write_frame(predictions, "baseline_predictions", evaluation.predictions, metadata)
    models.mkdir(parents=True, exist_ok=True)
    for entry in baselines:
        if entry.stored and entry.name in evaluation.models:
            store(models / f"{entry.name}.skops", evaluation.models[entry.name], task.labels)
