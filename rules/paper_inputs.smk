# The inputs of the papers' pages, for rules/papers.smk.

from itertools import chain

from moot.jobs import item_needs
from moot.jobs.earlier_items import earlier_files, record_path
from moot.jobs.item_designs import describe_sizes
from moot.papers.items import items_file, read_papers
from moot.papers.page import paper_files
from moot.papers.selection import needed_experiments, selected_items
from moot.plan.papers_of_run import designs_of

PAPERS = read_papers(items_file(plan.shipped))
DESIGNS = designs_of(plan).values()
SELECTED_ITEMS = selected_items(config, plan.shipped)
FILLS_ITEMS = SELECTED_ITEMS and "papers" in sys.argv[1:]
EMPTY_ROWS = []
"""The rows of the selected items that stay empty in this run, with the reasons."""


def experiments_of_paper(plan, paper):
    """Return the experiments of a paper's studies in a plan, including trial runs."""
    experiments = {}
    for study in PAPERS[paper].studies:
        for entry in (*plan.experiments_of(study), *plan.trials_of(study)):
            experiments[entry.name] = entry
    return experiments


def needed_runs():
    """Return the experiments and models that the selected items need."""
    needed = set(needed_experiments(SELECTED_ITEMS, DESIGNS))
    entries = [entry for entry in plan.experiments.values() if entry.entry in needed]
    return [(entry.name, model) for entry in entries for model in entry.config.models]


# A server is asked once, before the first job; the processes of jobs read what was found.
if SELECTED_ITEMS and IS_MAIN and not IS_DRY and FILLS_ITEMS:
    sizes = describe_sizes(plan.config.experiments, DESIGNS)
    sys.stderr.writelines(f"moot: papers: {line}\n" for line in sizes)
    with exit_without_traceback():
        open_runs = [run for run in needed_runs() if not item_needs.has_predictions(*run)]
        is_asking = not (plan.config.replay or plan.config.rehearsal)
        missing = item_needs.find_missing_models(plan, open_runs) if is_asking else {}
        item_needs.keep_missing(missing)
        baselines = item_needs.find_missing_baselines(SELECTED_ITEMS)
        EMPTY_ROWS += item_needs.describe_missing(
            plan, SELECTED_ITEMS, open_runs, missing, baselines
        )
        runnable = [run for run in needed_runs() if item_needs.can_run(plan, *run, missing)]
        item_needs.check_something_can_be_filled(SELECTED_ITEMS, EMPTY_ROWS, runnable, baselines)


def required_results(paper):
    """Return the results that the page of a paper requires, of the run or of selected items."""
    names = experiments_of_paper(plan, paper)
    datasets = [name for study in PAPERS[paper].studies for name in plan.trained_datasets_of(study)]
    if SELECTED_ITEMS:
        items = [item for item in SELECTED_ITEMS if item.paper == paper]
        needed = set(needed_experiments(items, DESIGNS))
        names = {name: entry for name, entry in names.items() if entry.entry in needed}
        trained = set(chain.from_iterable(item.datasets for item in items))
        datasets = [name for name in datasets if name in trained]
    files = [f"results/baselines/{name}.parquet" for name in dict.fromkeys(datasets)]
    missing = item_needs.read_missing() if SELECTED_ITEMS else {}
    for entry in names.values():
        models = [
            model
            for model in entry.config.models
            if not missing or item_needs.can_run(plan, entry.name, model, missing)
        ]
        files += results_of_run(plan, entry, models)
        if not plan.is_trial(entry) and len(models) == len(entry.config.models):
            files.append(f"results/scores/{entry.name}.parquet")
    cases = [f"results/cases/{name}.parquet" for name in dict.fromkeys(datasets)]
    return list(dict.fromkeys([*files, *cases]))


def results_of_run(plan, entry, models):
    """Return cases, predictions, transcripts, labels and calls of an experiment and models."""
    runs = [f"{entry.name}/{model}" for model in models]
    files = [f"results/cases/{entry.config.dataset}.parquet"]
    for kind in ("predictions", "calls", *(["labels"] if entry.config.labelers else [])):
        files += [f"results/{kind}/{run}.parquet" for run in runs]
    for model in models:
        files += targets.shards(plan, entry.name, model)
    return files


def standing_results(paper):
    """Return the existing results of earlier runs that the page also shows."""
    required = set(required_results(paper))
    return [path for path in earlier_files(paper) if path not in required]


def options_of_paper(paper):
    """Return a function that returns the configuration on which the page of a paper depends."""

    def options(wildcards):
        items = [item.name for item in SELECTED_ITEMS if item.paper == paper]
        presented = [
            dependencies.presentation_options(plan, study) for study in PAPERS[paper].studies
        ]
        return [presented, items, standing_results(paper)]

    return options
