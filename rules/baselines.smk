# Baselines: trained models that tables show next to the debates.


rule train_baselines:
    input:
        cases="results/cases/{dataset}.parquet",
        features="results/features/{dataset}.parquet",
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
    threads: max(1, CORES // 2)
    params:
        **digests(
            code=[
                *("baselines.py", "core", "jobs/baselines.py", "stats", "training"),
                *dependencies.extension_code(),
            ],
            options=lambda wildcards: {
                "baselines": plan.datasets[wildcards.dataset].baselines,
                "rebalance": plan.datasets[wildcards.dataset].rebalance,
                "seed": plan.config.seed,
            },
        ),
    script:
        "../scripts/baselines.py"
