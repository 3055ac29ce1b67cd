# A simulated voice answers so fast that most of a job would be its start: what else is a job for each model, and the
# scores, are one job for each experiment of a rehearsal. The job does what theirs would do, one after the other.

from snakemake.iocontainers import Wildcards


def as_its_script_sees_it(rule, **wildcards):
    """A rule's job in plain values: its script, and what that finds in `snakemake`."""
    found, named = workflow.get_rule(rule), Wildcards(fromdict=wildcards)
    inputs, outputs = found.expand_input(named)[0], found.expand_output(named)[0]
    params = found.expand_params(named, inputs, outputs, None)[0]
    return {
        "rule": rule,
        "script": Path(found.script).name,
        "wildcards": wildcards,
        "input": (list(map(str, inputs)), dict(inputs._get_names())),
        "output": (list(map(str, outputs)), dict(outputs._get_names())),
        "params": dict(params.items()),
        "log": str(found.expand_log(named)[0]),
    }


SHOWN = {found.name for found in plan.of_study(COMPARISON)}


def kind_of_rehearsed(experiment):
    """What the job of an experiment builds: for which models, whether pages to read, whether scores."""
    config = plan.experiments[experiment].config
    scored = experiment in SHOWN and not config.labelers
    return tuple(config.models), has_words(experiment), scored


def jobs_of_rehearsed(wildcards):
    """The jobs that the job of an experiment does, in their order."""
    experiment = wildcards.experiment
    models, worded, scored = kind_of_rehearsed(experiment)
    named = [{"experiment": experiment, "model": model} for model in models]
    jobs = []
    for one in named:
        jobs.append(as_its_script_sees_it("run_debates", shard="0", **one))
        jobs.append(as_its_script_sees_it("predict", **one))
        if worded:
            jobs.append(as_its_script_sees_it("render_transcripts", **one))
    return jobs + (
        [as_its_script_sees_it("score", experiment=experiment)] if scored else []
    )


def needed_before_rehearsed(wildcards):
    """The artifacts that the debates of an experiment need, for any of its models."""
    found = plan.experiments[wildcards.experiment]
    needed = [found.needed_by(model).values() for model in found.config.models]
    return sorted({f"results/{path}" for paths in needed for path in paths})


def rehearsed_outputs(models, worded, scored):
    """What the job of an experiment builds."""
    return [
        *collect("results/transcripts/{{experiment}}/{model}/0.parquet", model=models),
        *collect("results/predictions/{{experiment}}/{model}.parquet", model=models),
        *collect("results/calls/{{experiment}}/{model}.parquet", model=models),
        *(
            collect("results/rendered/{{experiment}}/{model}.md", model=models)
            if worded
            else []
        ),
        *(["results/scores/{experiment}.parquet"] if scored else []),
    ]


REHEARSED = {}
for experiment in plan.experiments if plan.config.rehearsal else ():
    REHEARSED.setdefault(kind_of_rehearsed(experiment), []).append(experiment)
