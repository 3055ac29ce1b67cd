# How the debates of a study, or of all, came out; at the top of the report.


rule outcome:
    input:
        inputs_of("outcome"),
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
        targets.outcomes(plan),


# What a reader opens first: the questions with their answers, and links to all that the run built.
rule front_page:
    input:
        inputs_of("front_page"),
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
        page=one_of(["index", *targets.studies()]),
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
        targets.shown(plan),
