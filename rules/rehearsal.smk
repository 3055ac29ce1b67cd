# The whole configuration with simulated voices in place of all models, in a workflow and a folder of its own.


rule rehearse:
    log:
        "rehearsal/rehearsal.log",
    conda:
        "../envs/debates.yaml"
    threads: workflow.cores
    script:
        "../scripts/rehearse.py"


for number, (kind, experiments) in enumerate(REHEARSED.items()):

    rule:
        name:
            f"rehearsed_{number}"
        input:
            needed_before_rehearsed,
            cases=argued_cases,
        output:
            rehearsed_outputs(*kind),
        log:
            "results/logs/rehearsed/{experiment}.log",
        wildcard_constraints:
            experiment=one_of(experiments),
        conda:
            "../envs/presentation.yaml"
        params:
            jobs=jobs_of_rehearsed,
        script:
            "../scripts/rehearsed.py"

    workflow.ruleorder(
        f"rehearsed_{number}",
        "run_debates",
        "predict",
        "render_transcripts",
        "score",
    )
