# How the debates of a study came out; at the top of the report.


rule outcome:
    input:
        inputs_of("outcome"),
    output:
        **outcome_files("{study}"),
    log:
        "results/logs/outcome/{study}.log",
    wildcard_constraints:
        study=one_of(targets.debated(plan)),
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("outcome"),
        unfinished=time_if_unfinished("outcome"),
    script:
        "../scripts/outcome.py"
