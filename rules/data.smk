# Data preparation: de-identified, narrativised, loaded cases.


rule load_cases:
    output:
        cases="results/cases/{dataset}.parquet",
        features="results/features/{dataset}.parquet",
        account="results/cases/{dataset}_account.csv",
    log:
        "results/logs/cases/{dataset}.log",
    params:
        shipped=str(SHIPPED),
        depends_on=lambda wildcards: plan.dataset_digest(wildcards.dataset),
    script:
        "../scripts/cases.py"


rule cases:
    input:
        collect("results/cases/{dataset}.parquet", dataset=DATASETS),
