# Commands: targets that build no artifact of a run. They write a first configuration, check it,
# estimate calls, cost and power, freeze the plan, rehearse the run, and bundle its results.


# On a cluster, commands run on the machine on which Snakemake was started: some ask the user,
# and some check this machine.
localrules:
    init,
    doctor,
    preview,
    prompts,
    freeze,
    power,
    rehearse,
    bundle,
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


# Extract a paper's own prompts from the user's copy of the paper.
rule prompts:
    log:
        "results/logs/prompts.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/prompts.py"


# Record the plan before the run in data/frozen/, next to earlier plans.
rule freeze:
    input:
        CASES,
    log:
        "results/logs/freeze.log",
    conda:
        "../envs/debates.yaml"
    script:
        "../scripts/freeze.py"


# Read the existing predictions of a pilot or a rehearsal; hold no debates.
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
    threads: CORES
    script:
        "../scripts/rehearse.py"


rule bundle:
    input:
        targets.page_contents(plan),
        targets.bundle_contents(plan),  # an object store fetches only inputs
    log:
        "results/logs/bundle.log",
    conda:
        "../envs/presentation.yaml"
    script:
        "../scripts/bundle.py"


rule replay:
    log:
        "results/logs/replay.log",
    conda:
        "../envs/presentation.yaml"
    threads: CORES
    script:
        "../scripts/replay.py"


# List the names that a configuration may use, of moot and of the configuration's extensions.
rule reference:
    output:
        "results/reference.md",
    log:
        "results/logs/reference.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=["reference.py", "*", *dependencies.extension_code()],
            options=plan.config.extensions,
        ),
    script:
        "../scripts/reference.py"
