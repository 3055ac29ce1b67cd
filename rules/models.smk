# The resources of jobs that call models, and the priorities of jobs.

# Jobs that read recorded answers make no call, so only the number of cores limits them.
CALLED_MODELS = [
    model for model in plan.models_used if plan.config.models[model].endpoint != RECORDED
]

# Snakemake sets such limits by an option (--resources); a workflow cannot set them publicly.
for model in CALLED_MODELS:
    slots = plan.jobs_at_once(model, workflow.cores)
    workflow.register_resource(f"model_{model}", slots)


def model_slots(models_of_job):
    """Return the resources of a job: one slot of each model that it calls, and the GPUs of its servers.

    `models_of_job` returns the models of an experiment and model.
    """

    def slots_of(model):
        return lambda wildcards: int(model in models_of_job(wildcards.experiment, wildcards.model))

    def gpus(wildcards):
        return plan.gpus(models_of_job(wildcards.experiment, wildcards.model))

    slots = {f"model_{model}": slots_of(model) for model in CALLED_MODELS}
    return slots | ({"gpu": gpus} if plan.gpus(CALLED_MODELS) else {})


def model_threads(models_of_job):
    """Return the processor threads of a job, by the models that it calls."""
    return lambda wildcards: plan.threads(
        models_of_job(wildcards.experiment, wildcards.model), workflow.cores
    )


# Real data come first: preparation, recorded debates, and the results of both. Then come debates by
# models on servers, trained baselines, and last debates by models inside the process.
PREPARATION, RECORDS, AGGREGATION, ELSEWHERE, BASELINES = 50, 40, 30, 20, 10


def debates_priority(wildcards):
    """Return the priority of a job of debates among the jobs that could start."""
    models = plan.models_in_job(wildcards.experiment, wildcards.model).values()
    endpoints = {model.endpoint for model in models}
    if endpoints == {RECORDED}:
        return RECORDS
    return 0 if "embedded" in endpoints else ELSEWHERE
