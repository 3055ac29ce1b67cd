"""Write the pages of papers from the results that exist."""

from pathlib import Path

from moot.jobs.earlier_items import plan_of_page, write_record
from moot.jobs.papers import write_paper, write_standing_paper
from moot.papers.items import items_file, read_papers
from moot.plan.papers_of_run import view_paper
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        files = [Path(path) for path in snakemake.params.files]
        papers = read_papers(items_file(plan.shipped))
        write = write_paper if snakemake.output else write_standing_paper
        for name in snakemake.params.papers:
            page_plan, config = plan_of_page(plan, snakemake.config, name)
            write(view_paper(page_plan, papers[name]), files)
            write_record(page_plan, config, papers[name])
