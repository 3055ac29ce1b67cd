# How rules state everything that their jobs depend on besides their inputs.

from moot.core.code_digest import digest_of

PUBLISHED = plan.shipped / "data" / "published"


def any_of(names):
    """Return a pattern that matches only these names, so that other targets have no rule."""
    return "|".join(map(re.escape, names)) or "(?!)"


def user_file(path):
    """Return a file outside `results/`, which an object store does not keep."""
    return local(str(path)) if STORE else str(path)


def user_files(paths):
    """Return some files outside `results/`."""
    return [user_file(path) for path in paths]


def digests(code, options=None, prompts=""):
    """Return parameters that rerun a job when its code, configuration or prompts have changed.

    Args:
        code: source folders and files below `scripts/moot`, as `digest_of` reads them.
        options: what the job depends on in the configuration and in files of the user.
        prompts: a digest of the prompts that the job renders.

    Each is a value, or a function of the wildcards.
    """
    return {
        "options": lambda wildcards: dependencies.digest_of_options(value_of(options, wildcards)),
        "prompts": lambda wildcards: value_of(prompts, wildcards),
        "code": lambda wildcards: digest_of(*value_of(code, wildcards)),
    }


def value_of(declared, wildcards):
    """Return a declared value, or what a declared function returns for the wildcards."""
    return declared(wildcards) if callable(declared) else declared


# The code that reads results and presents them.
RESULTS_CODE = (
    *(
        "core",
        "datasets/reading",
        "jobs/job_results.py",
        "jobs/frozen_plans.py",
        "labels",
        "protocols",
        "report",
        "scores",
    ),
    *("llm/identity.py", "llm/parsing", "llm/prompts.py", "llm/request.py"),
    *("papers/as_published.py", "papers/wording.py", "plan/papers_of_run.py", "stats"),
)
CASES = [f"results/cases/{dataset}.parquet" for dataset in plan.datasets_used]
