# The whole configuration with simulated voices in place of all models, in a workflow and a folder of its own.


rule rehearse:
    log:
        "rehearsal/rehearsal.log",
    conda:
        "../envs/debates.yaml"
    threads: workflow.cores
    script:
        "../scripts/rehearse.py"
