# The reader: one page for each study with all its debates. A browser opens it from the disk.


rule reader:
    input:
        results=results_of_study,
    output:
        page="results/reader/{study}.html",
        parts=directory("results/reader/{study}_parts"),
    log:
        "results/logs/reader/{study}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=["reader.py", *RESULTS_CODE, *dependencies.turn_effect_code()],
            options=lambda wildcards: [wildcards.study, plan.config.leave_out],
        ),
    script:
        "../scripts/reader.py"
