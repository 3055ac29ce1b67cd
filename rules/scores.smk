# Scores of an experiment, from its predictions, transcripts and labels.


rule score:
    input:
        results=results_of_experiment,
    output:
        "results/scores/{experiment}.parquet",
    log:
        "results/logs/scores/{experiment}.log",
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=[
                *("scores.py", *RESULTS_CODE, "studies", *dependencies.extension_code()),
                *(
                    "!studies/*/figures*.py",
                    "!studies/*/papers*.py",
                    "!studies/*/protocol*.py",
                    "!studies/*/tables*.py",
                ),
            ],
            options=lambda wildcards: dependencies.score_options(plan, wildcards.experiment),
        ),
    script:
        "../scripts/scores.py"
