# What a run reports before the first job starts and after the last one has ended.

from moot.core.stopping import Run
from moot.desk.instructions import copy_instructions
from moot.plan.kept import keep
from moot.workflow.folder import configured, take_folder


def jobs_of_run():
    """The jobs that this run's targets rest on, each with whether it runs; hooks are told of none otherwise."""
    dag = workflow.dag  # private: Snakemake passes no jobs to hooks
    return [(job, dag.needrun(job) and not dag.finished(job)) for job in dag.jobs]


def outcome_so_far():
    """The outcome of the debates that this run's targets rest on, of those that are up to date; printed."""
    built = [path for job, runs in jobs_of_run() if not runs for path in job.output]
    folders = "results/predictions/", "results/labels/"
    known = ([path for path in built if path.startswith(one)] for one in folders)
    outcome = read_outcome(*map(targets.existing, known))
    if len(outcome.debates):
        sys.stderr.write("\n".join(["", *outcome.lines(), "", ""]))
    return outcome


def models_to_ask():
    """The models that this run's jobs may ask: those of its debates, and those that label statements."""
    asking = {"run_debates": plan.models_in_job, "label_statements": plan.labelling_models}
    return {
        name
        for job, runs in jobs_of_run()
        if runs and job.rule.name in asking
        for name in asking[job.rule.name](job.wildcards.experiment, job.wildcards.model)
    }


RUNNING = []


if IS_MAIN and not IS_DRY and DESK in os.environ:
    shards_with_people = targets.shards_with_people(plan)
    keep_in(Path(os.environ[DESK]), plan, config, digests_by_path(shards_with_people))


onstart:
    if missing := plan.missing_keys(models_to_ask()):
        sys.exit("\n".join(f"moot: {line}" for line in missing))
    rules_that_run = {job.rule.name for job, runs in jobs_of_run() if runs}
    # Their outputs show the configuration's experiments, and so take the place of another's.
    if any(re.match("tables_|figures_|outcome", name) for name in rules_that_run):
        with exit_without_traceback():
            take_folder(configured(jobs, plan, DEFAULTS), plan.config.replace_results)
    keep(plan, config)
    copy_instructions(plan.config.people)
    RUNNING.append(Run(Path("results"), ON_A_CLUSTER))


onsuccess:
    outcome = outcome_so_far()
    outputs = [path for job, _ in jobs_of_run() for path in job.output]
    for page in filter(re.compile(r"results/[^/]+\.html").fullmatch, outputs):
        sys.stderr.write(
            f"moot: {page} has the questions and answers, and links to all that was built.\n"
        )
    for run in RUNNING:
        run.end()
    with exit_without_traceback():
        outcome.check()


onerror:
    outcome = outcome_so_far()
    sys.stderr.writelines(f"moot: {fault}\n" for fault in outcome.unreadable)
    for run in RUNNING:
        if stopped := run.end():
            sys.exit(f"moot: {stopped}")
    if should_write_stage_lines():
        sys.stderr.write("moot: not done, for the reason above. What is done stays done.\n")
