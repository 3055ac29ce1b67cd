# Cases made by a model: full opinions summarised without their outcome, as the CaseLaw data set reads them.


rule write_summaries:
    input:
        inputs_of("write_summaries"),
    output:
        "results/summaries/{experiment}/{model}.jsonl",
    log:
        "results/logs/summaries/{experiment}/{model}.log",
    conda:
        "../envs/data.yaml"
    params:
        **digest_params("write_summaries"),
    script:
        "../scripts/summaries.py"
