# One file for others, by which they check the tables of a run and rebuild them; and rebuilding from such a file.


rule bundle:
    input:
        targets.shown(plan),
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
    threads: workflow.cores
    script:
        "../scripts/replay.py"
