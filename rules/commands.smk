# Commands: targets that make no artifact of a run. They write a first configuration, check it,
# estimate calls, cost and power, freeze the plan, rehearse the run, and bundle its results.


# On a cluster, commands run where Snakemake was started: they ask, and judge this machine.
localrules:
    init,
    doctor,
    preview,
    drift,
    prompts,
    freeze,
    power,
    rehearse,
    bundle,
    crate,
    replay,
    reference,


rule init:
    log:
        "results/logs/init.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/init.py"


rule doctor:
    log:
        "results/logs/doctor.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/doctor.py"


rule preview:
    input:
        CASES,
    log:
        "results/logs/preview.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/preview.py"


# Asks a sample of the recorded calls again; builds no debate.
rule drift:
    log:
        "results/logs/drift.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/drift.py"


# Takes the papers' own prompts from a paper that the user has.
rule prompts:
    log:
        "results/logs/prompts.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/prompts.py"


# Writes the plan down before the run, in data/frozen/, where earlier ones stay.
rule freeze:
    input:
        CASES,
    log:
        "results/logs/freeze.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/freeze.py"


# Reads the predictions of a pilot or a rehearsal as far as they are there; holds no debates.
rule power:
    input:
        CASES,
    log:
        "results/logs/power.log",
    conda:
        "../envs/presentation.yaml"
    script:
        "../scripts/power.py"


rule rehearse:
    log:
        "rehearsal/rehearsal.log",
    conda:
        "../envs/debates.yaml"
    threads: workflow.cores
    script:
        "../scripts/rehearse.py"


rule bundle:
    input:
        without_removed(targets.page_contents(plan)),
        targets.bundle_contents(plan),  # an object store fetches only inputs
    log:
        "results/logs/bundle.log",
    conda:
        "../envs/presentation.yaml"
    script:
        "../scripts/bundle.py"


rule crate:
    log:
        "results/logs/crate.log",
    conda:
        "../envs/presentation.yaml"
    script:
        "../scripts/crate.py"


rule replay:
    log:
        "results/logs/replay.log",
    conda:
        "../envs/presentation.yaml"
    threads: workflow.cores
    script:
        "../scripts/replay.py"


# What a configuration may name: moot's own, and what the configuration's extensions register.
rule reference:
    output:
        "results/reference.md",
    log:
        "results/logs/reference.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            "reference",
            code=["reference.py", "*", *dependencies.extension_code()],
            options=plan.config.extensions,
        ),
    script:
        "../scripts/reference.py"
