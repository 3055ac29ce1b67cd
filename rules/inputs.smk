# Input functions: the inputs of rules where the set of files depends on the plan.

from moot.labels import HUMAN
from moot.plan.experiments import artifact_files
from moot.plan.plan_steps import artifacts_of_dataset, check_dataset_source
from moot.workflow.user_files import annotation_files, answer_files, frozen_files


def cases_of_experiment(wildcards):
    """Return the file of the cases that an experiment debates."""
    return f"results/cases/{plan.experiments[wildcards.experiment].config.dataset}.parquet"


def shards_of_run(wildcards):
    """Return the transcripts of one experiment and model, one file for each shard."""
    return targets.shards(plan, wildcards.experiment, wildcards.model)


# Data


def download_record(wildcards):
    """Return the record of a data set's download, if its files are downloaded."""
    options = plan.datasets[wildcards.dataset]
    loader = options.loader or wildcards.dataset
    return [f"results/downloads/{loader}.csv"] if options.source == "download" else []


def local_files(wildcards):
    """Return the user's files that a data set is read from."""
    return user_files(plan.local_files(wildcards.dataset))


def generated_files(wildcards):
    """Return the artifacts of debates that a data set is made from."""
    with as_workflow_error():
        check_dataset_source(wildcards.dataset, plan.datasets, plan.experiments, plan.files)
    files = []
    for path in artifacts_of_dataset(plan.datasets, wildcards.dataset).values():
        files += [f"results/{file}" for file in artifact_files(path, plan.config.shards)]
    return files


# Debates and labels


def source_artifacts(wildcards):
    """Return the further inputs of debates: debates of another experiment, trained models."""
    artifacts = plan.experiments[wildcards.experiment].needed_by(wildcards.model)
    return [f"results/{path}" for path in artifacts.values()]


def answers_of_people(wildcards):
    """Return the answers of people who take part in the debates of one experiment and model."""
    return user_files(answer_files(wildcards.experiment, wildcards.model))


def annotations_of_people(wildcards):
    """Return the annotation sheets that people have filled in."""
    return user_files(annotation_files())


def annotated_shards(wildcards):
    """Return the transcripts of other labelled runs, to which annotations may refer."""
    files, run_of_job = [], f"{wildcards.experiment}/{wildcards.model}"
    for run in targets.labelled_runs(plan) if annotation_files() else ():
        if run != run_of_job:
            files += targets.shards(plan, *run.split("/"))
    return files


# Results


def results_of_experiment(wildcards):
    """Return the results of the experiment that the wildcards name."""
    return results_of(wildcards.experiment)


def results_of(experiment):
    """Return the cases, predictions, transcripts and labels of all models of an experiment."""
    config = plan.experiments[experiment].config
    runs = [f"{experiment}/{model}" for model in config.models]
    files = [f"results/cases/{config.dataset}.parquet"]
    files += [f"results/predictions/{run}.parquet" for run in runs]
    for model in config.models:
        files += targets.shards(plan, experiment, model)
    if config.labelers:
        files += [f"results/labels/{run}.parquet" for run in runs]
    return files


def results_of_study(wildcards):
    """Return all results and calls of a study's experiments."""
    files = []
    for name, experiment in plan.experiments.items():
        if experiment.study == wildcards.study:
            files += results_of(name)
    files += [f"results/calls/{run}.parquet" for run in targets.runs(plan, wildcards.study)]
    return list(dict.fromkeys(files))


def predictions_of_study(wildcards):
    """Return the predictions of a study's experiments."""
    return targets.predictions(plan, wildcards.study)


def labels_of_study(wildcards):
    """Return the labels of a study's experiments."""
    return targets.labels(plan, wildcards.study)


# The inputs of a job of tables or figures; `study` may also be the comparison of all studies.


def presented_results(study):
    """Return the results of a study's experiments, trial runs, controls and baselines."""
    presented = [*plan.experiments_of(study), *plan.trials_of(study), *plan.controls_of(study)]
    names = {experiment.name for experiment in plan.experiments_of(study)}
    files = []
    for experiment in presented:
        files += results_of(experiment.name)
    for run in targets.labelled_runs(plan):
        if run.partition("/")[0] in names:
            files.append(f"results/annotations/{run}.parquet")
    for dataset in plan.trained_datasets_of(study):
        files.append(f"results/baselines/{dataset}_predictions.parquet")
    return list(dict.fromkeys(files))


def scores_of_study(study):
    """Return the scores of a study's experiments."""
    return [
        f"results/scores/{experiment.name}.parquet" for experiment in plan.experiments_of(study)
    ]


def baselines_of_study(study):
    """Return the scores of the baselines that a study shows."""
    return [f"results/baselines/{dataset}.parquet" for dataset in plan.trained_datasets_of(study)]


def frozen_plans(studies):
    """Return the frozen plans, if the studies test contrasts."""
    has_contrasts = any(plan.contrasts_of(study) for study in studies)
    return user_files(frozen_files()) if has_contrasts else []
