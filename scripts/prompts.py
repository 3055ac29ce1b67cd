"""Write the papers' own prompts from a paper that the user has, and say which folders have them."""

import sys
from pathlib import Path

from moot.papers.paper_prompts import write_prompts
from moot.papers.wording import TEMPLATES
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        sys.stdout.write(write_prompts(plan.config.prompts_from, plan.shipped, Path(TEMPLATES)))
