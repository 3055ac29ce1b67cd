# How the debates of a study, or of all, came out; at the top of the report.


rule outcome:
    input:
        predictions=lambda wildcards: study_predictions(wildcards.study),
        labels=lambda wildcards: study_labels(wildcards.study),
    output:
        csv="results/outcome/{study}.csv",
        html=report(
            "results/outcome/{study}.html",
            category="Outcome",
            labels=outcome_label,
        ),
    log:
        "results/logs/outcome/{study}.log",
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("outcome"),
        unfinished=time_if_unfinished,
    script:
        "../scripts/outcome.py"


rule outcomes:
    input:
        collect(OUTCOME, study=COMPARISON, ending=["csv", "html"]),


# What a reader opens first: the questions with their answers, and links to all that the run built.
rule front_page:
    input:
        built_for_page,
    output:
        page="results/{page}.html",
        questions=report(
            "results/outcome/{page}_questions.html",
            category="Outcome",
            labels={"study": "questions"},
        ),
    log:
        "results/logs/outcome/{page}_page.log",
    wildcard_constraints:
        page=one_of(["index", *STUDIES]),
    priority: AGGREGATION
    conda:
        "../envs/presentation.yaml"
    params:
        **digest_params("front_page"),
    script:
        "../scripts/front_page.py"


# Everything that the front page shows.
rule shown:
    input:
        rules.tables.input,
        rules.figures.input,
        rules.minutes.input,
        rules.readers.input,
        rules.outcomes.input,
