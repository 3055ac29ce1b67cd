# Checks and messages before the first job of a run and after its last one.

import logging
import time
from types import SimpleNamespace

from moot.core.run_signals import CurrentRun
from moot.core.people_instructions import copy_instructions
from moot.llm.server_check import find_silent_servers
from moot.papers.item_data import fetch_item_data
from moot.plan.plan_cache import keep_for_jobs
from moot.workflow.failed_jobs import (
    UnfinishedJob,
    describe_failed_jobs,
    write_page_after_failure,
)
from moot.workflow.folder import claim_folder, describe_configuration
from moot.workflow.provenance import DIGESTS


def jobs_of_run():
    """Return the jobs that this run's targets depend on, and whether each still has to run."""
    dag = workflow.dag  # private: Snakemake passes no jobs to hooks
    return [(job, dag.needrun(job) and not dag.finished(job)) for job in dag.jobs]


def print_outcome():
    """Print and return the outcome of the finished debates that this run's targets depend on."""
    files = []
    for job, must_run in jobs_of_run():
        if not must_run:
            files += job.output
    predictions = [path for path in files if path.startswith("results/predictions/")]
    labels = [path for path in files if path.startswith("results/labels/")]
    outcome = read_outcome(targets.existing_paths(predictions), targets.existing_paths(labels))
    if len(outcome.debates):
        sys.stderr.write("\n".join(["", *outcome.lines(), "", ""]))
    return outcome


class EarlierOutcome(logging.Handler):
    """Prints what earlier runs left open if this run has nothing to do, and fails if it is a fault.

    Snakemake calls no hook in such a run, but logs a message.
    """

    def emit(self, record):
        """Print and check the outcome at that message."""
        if not record.getMessage().startswith("Nothing to be done"):
            return
        outcome = read_outcome(
            targets.existing_paths(targets.predictions(plan)),
            targets.existing_paths(targets.labels(plan)),
        )
        if not outcome.is_finished:
            sys.stderr.write("\n".join(["", *outcome.lines(), ""]))
            with exit_without_traceback():
                outcome.check()


def write_first_pages():
    """Write the first pages that this run's targets name, after a job has failed."""
    files, pages, unfinished = [], [], []
    for job, must_run in jobs_of_run():
        if not must_run:
            files += map(Path, job.output)
            continue
        unfinished.append(UnfinishedJob(job.rule.name, dict(job.wildcards.items()), job.log))
        pages += [page for page in PAGES if f"results/{page}.html" in job.output]
    sentences = describe_failed_jobs(unfinished, STARTED)
    for page in pages:
        with suppress_user_errors():
            path = write_page_after_failure(plan, page, files, sentences).resolve()
            sys.stderr.write(f"moot: {path} says what failed, and links to all that was built.\n")


@contextmanager
def suppress_user_errors():
    """Write a `UserError` to the terminal and continue."""
    try:
        yield
    except UserError as error:
        sys.stderr.write(f"moot: {error}\n")


def digests_of_job(rule, **wildcards):
    """Return the digests among the parameters of a job, by name."""
    values = SimpleNamespace(**wildcards)
    return {name: getattr(rule.params, name)(values) for name in DIGESTS}


def digests_of_peoples_debates():
    """Return the digests of the debates in which people take part, and of their cases, by path."""
    digests_of_files = {}
    for path in targets.shards_with_people(plan):
        experiment, model, shard = Path(path).with_suffix("").parts[-3:]
        dataset = plan.experiments[experiment].config.dataset
        digests_of_files[path] = digests_of_job(
            rules.run_debates, experiment=experiment, model=model, shard=shard
        )
        digests_of_files[f"results/cases/{dataset}.parquet"] = digests_of_job(
            rules.load_cases, dataset=dataset
        )
    return digests_of_files


def models_to_ask():
    """Return the models that this run may ask, in its debates and for labels of statements."""
    models_of_rule = {
        "run_debates": plan.models_in_job,
        "label_statements": plan.labelling_models,
    }
    names = set()
    for job, must_run in jobs_of_run():
        if must_run and job.rule.name in models_of_rule:
            models_of_job = models_of_rule[job.rule.name]
            names.update(models_of_job(job.wildcards.experiment, job.wildcards.model))
    return names


def check_servers(models):
    """Raise `UserError` if the server of a model gives no answer, before the first job.

    On a cluster only the nodes may reach a server.
    """
    if plan.config.replay or ON_A_CLUSTER:
        return
    entries = [plan.config.models[name] for name in models if name in plan.config.models]
    if problems := find_silent_servers(entries):
        raise UserError(
            "\n".join([*problems, "If the ledger has all replies, --config replay=true asks none."])
        )


def pages_of_items():
    """Return the pages of the papers that this run was asked for."""
    if "papers" not in sys.argv[1:]:
        return []
    papers = dict.fromkeys(item.paper for item in SELECTED_ITEMS) or PAPERS
    return [f"results/papers/{paper}.html" for paper in papers]


def values_to_build(rule_name, wildcard):
    """Return the values of a wildcard in the jobs of a rule that this run executes."""
    return {
        getattr(job.wildcards, wildcard)
        for job, must_run in jobs_of_run()
        if must_run and job.rule.name == rule_name
    }


RUNNING = []
STARTED = time.time()
PAGES = [INDEX, *targets.studies()]


if IS_MAIN and not IS_DRY:
    logging.getLogger("snakemake.logging").addHandler(EarlierOutcome())
    if DESK in os.environ:
        write_plan(Path(os.environ[DESK]), plan, config, digests_of_peoples_debates())


onstart:
    if not ON_A_CLUSTER:
        # Snakemake limits how many jobs start per second. Each job that ends starts a further timer
        # that looks at all ready jobs every second: 100 jobs cost a minute of processor time. On one
        # machine the cores are the limit, and no option removes the limit per second.
        workflow.scheduler.job_rate_limiter = None  # private
    if missing := plan.missing_keys(models_to_ask()):
        sys.exit("\n".join(f"moot: {line}" for line in missing))
    with exit_without_traceback():
        check_servers(models_to_ask())
    if SELECTED_ITEMS:
        for line in EMPTY_ROWS:
            sys.stderr.write(f"moot: stays empty: {line}\n")
        with exit_without_traceback():
            fetch_item_data(
                Path(plan.config.data_root),
                plan.shipped / "data" / "versions.csv",
                values_to_build("download", "loader"),
                item_needs.loaders_without_files(
                    plan, values_to_build("load_cases", "dataset")
                ),
            )
    rules_to_run = {job.rule.name for job, must_run in jobs_of_run() if must_run}
    with exit_without_traceback():
        check_packages(rules_to_run)
    # The outputs of these rules replace the results of another configuration.
    if any(re.match("tables_|figures_|outcome", name) for name in rules_to_run):
        with exit_without_traceback():
            claim_folder(describe_configuration(plan, DEFAULTS), plan.config.replace_results)
    keep_for_jobs(plan, config)
    copy_instructions(plan.config.people)
    RUNNING.append(CurrentRun(Path("results"), ON_A_CLUSTER))


onsuccess:
    outcome = print_outcome()
    for job, _ in jobs_of_run():
        for path in job.output:
            if re.fullmatch(r"results/[^/]+\.html", path):
                page = Path(path).resolve()  # the folder of a project or a rehearsal
                sys.stderr.write(
                    f"moot: {page} has the questions and answers, and links to all that was built.\n"
                )
            elif path.endswith(".xlsx"):
                sys.stderr.write(f"moot: {Path(path).resolve()} is written.\n")
    for run in RUNNING:
        run.end()
    with exit_without_traceback():
        outcome.check()
        for page in pages_of_items():
            sys.stderr.write(f"moot: {Path(page).resolve()} has the items.\n")
        if EMPTY_ROWS:
            lines = "\n".join(f"  {line}" for line in EMPTY_ROWS)
            raise UserError(f"papers: some rows stay empty.\n{lines}")


onerror:
    outcome = print_outcome()
    sys.stderr.writelines(f"moot: {fault}\n" for fault in outcome.unreadable)
    for run in RUNNING:
        if message := run.end():
            sys.exit(f"moot: {message}")
    if not STORE:
        write_first_pages()
    sys.stderr.write("moot: not done, for the reason above. What is done stays done.\n")
