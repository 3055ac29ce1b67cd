# The papers' tables and figures in the papers' form: a page for each paper.

from moot.papers.items import items_file, read_papers
from moot.papers.page import paper_files

PAPERS = read_papers(items_file(plan.shipped))


def results_of_paper(paper):
    """The results that a paper's page shows: those of its studies, trial runs among them."""
    files = []
    for study in PAPERS[paper].studies:
        for entry in (*plan.experiments_of(study), *plan.trials_of(study)):
            files += results_of(entry.name)
            runs = [f"{entry.name}/{model}" for model in entry.config.models]
            files += [f"results/calls/{run}.parquet" for run in runs]
        files += scores_of_study(study) + baselines_of_study(study)
    return list(dict.fromkeys(files))


def digests_of_paper(paper):
    """What the page of a paper depends on in the configuration."""
    return [dependencies.presentation_options(plan, study) for study in PAPERS[paper].studies]


for paper in PAPERS:

    rule:
        name:
            f"paper_{paper}"
        input:
            **inputs(
                f"paper_{paper}",
                results=results_of_paper(paper),
                published=str(PUBLISHED / "published_results.csv"),
                findings=str(PUBLISHED / "findings.csv"),
                described=str(PUBLISHED / "items.yaml"),
            ),
            partial=newer_if_partial(f"paper_{paper}", paper_files(PAPERS[paper])),
        output:
            paper_files(PAPERS[paper]),
        log:
            f"results/logs/papers/{paper}.log",
        priority: AGGREGATION
        conda:
            "../envs/presentation.yaml"
        params:
            **digests(
                f"paper_{paper}",
                outputs=paper_files(PAPERS[paper]),
                code=[
                    "paper.py",
                    *RESULTS_CODE,
                    "papers",
                    "jobs/papers.py",
                    "studies/*/papers.py",
                ],
                options=digests_of_paper(paper),
            ),
            papers=[paper],
            files=results_of_paper(paper),
        script:
            "../scripts/paper.py"


# The pages of what stands in `results/`; starts no experiment.
rule papers:
    log:
        "results/logs/papers/papers.log",
    conda:
        "../envs/presentation.yaml"
    params:
        papers=list(PAPERS),
        files=[file for paper in PAPERS for file in results_of_paper(paper)],
    script:
        "../scripts/paper.py"
