# The resources of jobs that call models, and the priorities of jobs.

from functools import cache

from moot.plan.call_shares import CallShares

# Of a job on another machine, these are the resources that it was submitted with.
LIMITS_OF_USER = {
    name: int(workflow.global_resources[name].value)
    for name in workflow.global_resources
    if isinstance(workflow.global_resources[name].value, int)
}
call_shares = CallShares(plan, CORES, workflow.nodes or CORES, LIMITS_OF_USER)

# Snakemake sets such limits by an option (--resources); a workflow cannot set them publicly.
for name, limit in call_shares.limits().items():
    workflow.register_resource(name, limit)


def call_resources(models_of_job):
    """Return the resources of a job: its share of the calls to each model and each provider.

    `models_of_job` returns the models of an experiment and model.
    """

    @cache
    def resources_of(experiment, model):
        return call_shares.of_job(models_of_job(experiment, model))

    def amount_of(name):
        return lambda wildcards: resources_of(wildcards.experiment, wildcards.model).get(name, 0)

    return {name: amount_of(name) for name in call_shares.resource_names}


def model_threads(models_of_job):
    """Return the processor threads of a job, by the models that it calls."""
    return lambda wildcards: plan.threads(
        models_of_job(wildcards.experiment, wildcards.model), CORES
    )


# Real data come first: preparation, recorded debates, and the results of both. Then come debates by
# models on servers, trained baselines, and last debates by models inside the process.
PREPARATION, RECORDS, AGGREGATION, ELSEWHERE, BASELINES = 50, 40, 30, 20, 10


def debates_priority(wildcards):
    """Return the priority of a job of debates among the jobs that could start."""
    models = plan.models_in_job(wildcards.experiment, wildcards.model).values()
    endpoints = {model.endpoint for model in models}
    return 0 if "embedded" in endpoints else ELSEWHERE
