# The outcome of the debates of a study, at the top of the report.


rule outcome:
    input:
        predictions=predictions_of_study,
        labels=labels_of_study,
    output:
        **outcome_files("{study}"),
    log:
        "results/logs/outcome/{study}.log",
    wildcard_constraints:
        study=any_of(targets.debated_studies(plan)),
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digests(
            code=["outcome.py", *RESULTS_CODE],
            options=lambda wildcards: wildcards.study,
        ),
    script:
        "../scripts/outcome.py"
