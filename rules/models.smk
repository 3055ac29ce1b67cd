# What jobs that speak with models take, and which jobs come first.

# Recorded answers are read by as many jobs at once as there are cores; no call is made.
ASKED = [model for model in plan.models_used if plan.config.models[model].endpoint != RECORDED]

# Snakemake has an option for such limits (--resources), and no directive by which a configuration could set them.
for model in ASKED:
    slots = plan.jobs_at_once(model, workflow.cores)
    workflow.register_resource(f"model_{model}", slots)


def model_slots(models_of_job):
    """One slot of each model that a job asks, and the graphics processors of the servers that it starts; `models_of_job`
    names the models by experiment and model.
    """

    def speaks_with(model):
        return lambda wildcards: int(model in models_of_job(wildcards.experiment, wildcards.model))

    def gpus(wildcards):
        return plan.gpus(models_of_job(wildcards.experiment, wildcards.model))

    slots = {f"model_{model}": speaks_with(model) for model in ASKED}
    return slots | ({"gpu": gpus} if plan.gpus(ASKED) else {})


def model_threads(models_of_job):
    """The processor threads of a job, by the models that it speaks with."""
    return lambda wildcards: plan.threads(
        models_of_job(wildcards.experiment, wildcards.model), workflow.cores
    )


# What is real comes first: data, recorded debates and what follows from them, trained models, then debates that a model
# holds here. A model on a server need not wait; one inside the process of a trial run shows least, and comes last.
PREPARATION, RECORDS, AGGREGATION, ELSEWHERE, BASELINES = 50, 40, 30, 20, 10


def debates_priority(wildcards):
    """When debates are held, relative to the other jobs that could start."""
    models = plan.models_in_job(wildcards.experiment, wildcards.model).values()
    endpoints = {model.endpoint for model in models}
    if endpoints == {RECORDED}:
        return RECORDS
    return 0 if "embedded" in endpoints else ELSEWHERE
