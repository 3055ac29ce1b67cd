# A user's first own run: a configuration is written, and what it needs is looked at.


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
