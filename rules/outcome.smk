# How each study's debates came out, at the top of the report.


rule outcome:
    input:
        predictions=lambda wildcards: predictions_in(wildcards.study),
        labels=lambda wildcards: labels_in(wildcards.study),
    output:
        csv="results/outcome/{study}.csv",
        html=report(
            "results/outcome/{study}.html",
            category="Outcome",
            labels={"study": "{study}"},
        ),
    log:
        "results/logs/outcome/{study}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **made_with("outcome"),
        unfinished=unfinished,
    script:
        "../scripts/outcome.py"


rule outcomes:
    input:
        collect(
            OUTCOME,
            study=sorted(
                {experiment.study for experiment in plan.experiments.values()}
            ),
            ending=["csv", "html"],
        ),
