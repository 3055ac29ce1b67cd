# Baseline training: the models that every table shows next to the debates.


rule train_baselines:
    input:
        inputs_of("train_baselines"),
    output:
        leaderboard="results/baselines/{dataset}.parquet",
        predictions="results/baselines/{dataset}_predictions.parquet",
        models=directory("results/models/{dataset}"),
    log:
        "results/logs/baselines/{dataset}.log",
    benchmark:
        "results/logs/baselines/{dataset}_resources.tsv"
    priority: BASELINES
    conda:
        "../envs/baselines.yaml"
    threads: max(1, workflow.cores // 2)
    params:
        **digest_params("train_baselines"),
    script:
        "../scripts/baselines.py"
