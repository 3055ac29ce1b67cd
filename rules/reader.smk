# The reader: one page a study with all its debates, opened from the disk in a browser.


rule reader:
    input:
        lambda wildcards: debated_files(wildcards.study),
    output:
        "results/reader/{study}.html",
    log:
        "results/logs/reader/{study}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("reader"),
    script:
        "../scripts/reader.py"


rule readers:
    input:
        collect("results/reader/{study}.html", study=DEBATED_STUDIES),
