# What is said before the first job starts and after the last one has ended.

import sys
import time

from moot.core.errors import RunStoppedError
from moot.core.stopping import Run
from moot.report.outcome import read_outcome
from moot.plan.kept import keep
from moot.workflow.folder import configured, take_folder


def study_predictions(study):
    """The predictions of a study's experiments; of `comparison`, of all."""
    return [
        f"results/predictions/{experiment.name}/{model}.parquet"
        for experiment in plan.asked_in(study)
        for model in experiment.config.models
    ]


def study_labels(study):
    """The labels of a study's experiments; their metadata says what is wrong in the files of annotators."""
    asked = {experiment.name for experiment in plan.asked_in(study)}
    return [
        f"results/labels/{experiment}/{model}.parquet"
        for experiment, model in LABELLED
        if experiment in asked
    ]


def existing_paths(paths):
    return [Path(path) for path in paths if Path(path).exists()]


def time_if_unfinished(wildcards):
    """The time, as long as debates wait or all of an experiment failed: then no run ends without saying so again."""
    predictions, labels = study_predictions(wildcards.study), study_labels(
        wildcards.study
    )
    return (
        0
        if read_outcome(existing_paths(predictions), existing_paths(labels)).is_finished
        else time.time()
    )


def outcome_so_far():
    """The outcome of the debates that this run's targets rest on, of those that are up to date."""
    built = [
        path
        for job in workflow.dag.jobs
        if workflow.dag.finished(job) or not workflow.dag.needrun(job)
        for path in job.output
    ]
    folders = "results/predictions/", "results/labels/"
    return read_outcome(
        *(
            existing_paths(path for path in built if path.startswith(folder))
            for folder in folders
        )
    )


def print_outcome(outcome):
    if len(outcome.debates):
        sys.stderr.write("\n".join(["", *outcome.lines(), "", ""]))


def models_to_ask():
    """The models that this run's jobs may ask: those of its debates, and those that label statements."""
    asking = {
        "run_debates": plan.models_in_job,
        "label_statements": plan.labelling_models,
    }
    return {
        name
        for job in workflow.dag.needrun_jobs()
        if job.rule.name in asking
        for name in asking[job.rule.name](job.wildcards.experiment, job.wildcards.model)
    }


def shows_experiments(rule):
    """Whether a rule's outputs show what the configuration's experiments came to, and so take the place of another's."""
    return rule.startswith(("tables_", "figures_")) or rule == "outcome"


def pages_built():
    """The first pages among the targets of this run."""
    pages = [job for job in workflow.dag.jobs if job.rule.name == "front_page"]
    return [job.output.page for job in pages]


RUNNING = []


onstart:
    if missing := plan.missing_keys(models_to_ask()):
        raise WorkflowError("\n".join(missing))
    if any(shows_experiments(job.rule.name) for job in workflow.dag.needrun_jobs()):
        try:
            take_folder(configured(stages, DEFAULTS), plan.config.replace_results)
        except UserError as error:
            raise WorkflowError(str(error)) from None
    keep(plan, config)
    RUNNING.append(Run(Path("results"), ON_A_CLUSTER))


onsuccess:
    outcome = outcome_so_far()
    print_outcome(outcome)
    for page in pages_built():
        sys.stderr.write(
            f"moot: {page} has the questions and answers, and links to all that was built.\n"
        )
    for run in RUNNING:
        run.end()
    try:
        outcome.check()
    except RunStoppedError as error:
        raise WorkflowError(str(error)) from None


onerror:
    outcome = outcome_so_far()
    print_outcome(outcome)
    sys.stderr.writelines(f"moot: {fault}\n" for fault in outcome.unreadable)
    for run in RUNNING:
        if stopped := run.end():
            sys.exit(f"moot: {stopped}")
