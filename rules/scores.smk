# Aggregation: what an experiment's predictions, transcripts and labels add up to.


rule score:
    input:
        cases=cases_of,
        predictions=lambda wildcards: of_every_model(
            "results/predictions/{experiment}/{model}.parquet", wildcards
        ),
        labels=labels_of,
    output:
        "results/scores/{experiment}.parquet",
    log:
        "results/logs/scores/{experiment}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        depends_on=lambda wildcards: plan.score_digest(wildcards.experiment),
        code=package_digest("moot.scores"),
    script:
        "../scripts/scores.py"


rule scores:
    input:
        collect("results/scores/{experiment}.parquet", experiment=plan.experiments),
