# The outcome of the debates of a study, at the top of the report.


rule outcome:
    input:
        **inputs("outcome", predictions=predictions_of_study, labels=labels_of_study),
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
            "outcome",
            code=["outcome.py", *RESULTS_CODE],
            options=lambda wildcards: wildcards.study,
        ),
        unfinished=time_if_unfinished("outcome"),
    script:
        "../scripts/outcome.py"
