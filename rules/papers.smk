# The papers' tables and figures in the papers' form: a page for each paper.


for paper in PAPERS:

    rule:
        name:
            f"paper_{paper}"
        input:
            results=required_results(paper),
            published=user_file(PUBLISHED / "published_results.csv"),
            findings=user_file(PUBLISHED / "findings.csv"),
            described=user_file(PUBLISHED / "items.yaml"),
            partial=newer_if_partial(f"paper_{paper}", paper_files(PAPERS[paper])),
        output:
            paper_files(PAPERS[paper]),
            runs=update(str(record_path(paper))),  # a job adds to what earlier runs left
        log:
            f"results/logs/papers/{paper}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digests(
                code=[
                    "paper.py",
                    *RESULTS_CODE,
                    "papers",
                    "jobs/papers.py",
                    "jobs/earlier_items.py",
                    "jobs/item_designs.py",
                    "training/baselines",
                    "studies/*/papers.py",
                ],
                options=options_of_paper(paper),
            ),
            papers=[paper],
            files=[*required_results(paper), *standing_results(paper)],
        script:
            "../scripts/paper.py"


if SELECTED_ITEMS:

    # The pages of the papers with selected items, and the debates that these items need.
    rule papers:
        input:
            [
                f"results/papers/{paper}.html"
                for paper in {item.paper: None for item in SELECTED_ITEMS}
            ],

else:

    # The pages of the existing results; the target starts no experiment.
    rule papers:
        log:
            "results/logs/papers/papers.log",
        conda:
            "../envs/presentation.yaml"
        params:
            papers=list(PAPERS),
            files=[
                file
                for paper in PAPERS
                for file in required_results(paper) + standing_results(paper)
            ],
        script:
            "../scripts/paper.py"
