# The reader: one page a study with all its debates, opened from the disk in a browser.


rule reader:
    input:
        inputs_of("reader"),
    output:
        page="results/reader/{study}.html",
        parts=directory("results/reader/{study}_parts"),
    log:
        "results/logs/reader/{study}.log",
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("reader"),
    script:
        "../scripts/reader.py"
