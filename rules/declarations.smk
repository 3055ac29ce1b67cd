# How rules state their inputs and everything else that their jobs depend on.

from dataclasses import asdict

from moot.core.code_digest import digest_of
from moot.workflow.job_digests import JobDigests

jobs = JobDigests()
PUBLISHED = plan.shipped / "data" / "published"


def any_of(names):
    """Return a pattern that matches only these names, so that other targets have no rule."""
    return "|".join(map(re.escape, names)) or "(?!)"


def storage_path(path):
    """Return paths as Snakemake stores them: an object store keeps only paths below `results/`."""
    if not STORE:
        return path
    if not isinstance(path, str):
        return [storage_path(item) for item in path]
    return path if path.startswith("results/") else local(path)


def inputs(rule_name, **files):
    """Register and return the inputs of a rule: paths with wildcards, or functions of wildcards.

    The digests of the rule's jobs cover the jobs that build these files.
    """
    jobs.add_inputs(rule_name, files)
    return {name: storage_input(paths) for name, paths in files.items()}


def storage_input(paths):
    """Return an input in the form that Snakemake reads; its errors have no traceback."""
    if not callable(paths):
        return storage_path(paths)

    def input_function(wildcards):
        with as_workflow_error():
            return storage_path(paths(wildcards))

    return input_function


def digests(rule_name, code, options=None, prompts="", outputs=()):
    """Return parameters that rerun a job when something that it depends on has changed.

    The digests cover the rule's inputs, down to the configuration, so that no failed run leaves a
    stale artifact.

    Args:
        code: source folders and files below `scripts/moot`, as `digest_of` reads them.
        options: what the job depends on in the configuration and in files of the user.
        prompts: a digest of the prompts that the job renders.
        outputs: the files of a rule without wildcards.

    `code`, `options` and `prompts` are values or functions of the wildcards.
    """
    jobs.add_rule(
        rule_name,
        options=as_function(options),
        prompts=as_function(prompts),
        code=lambda wildcards: digest_of(*as_function(code)(wildcards)),
        outputs=outputs,
    )

    def digest_named(name):
        return lambda wildcards: getattr(jobs.of(rule_name, **dict(wildcards.items())), name)

    return {name: digest_named(name) for name in DIGESTS}


def as_function(value):
    """Return `value` if it is a function, else a function of the wildcards that returns it."""
    return value if callable(value) else lambda wildcards: value


def digests_by_path(paths):
    """Return the digests of files and of all files that they depend on, by path."""
    return {path: asdict(value) for path, value in jobs.of_files(paths).items()}


# The code that reads results and presents them.
RESULTS_CODE = (
    *(
        "core",
        "jobs/job_results.py",
        "jobs/frozen_plans.py",
        "labels",
        "protocols",
        "report",
        "scores",
    ),
    *("llm/identity.py", "llm/parsing", "llm/prompts.py", "llm/request.py"),
    *("plan/as_published.py", "plan/wording.py", "stats"),
)
CASES = [f"results/cases/{dataset}.parquet" for dataset in plan.datasets_used]
