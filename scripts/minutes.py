"""Write the minutes of the decision conferences of one experiment and model, one Markdown document
per conference.
"""

from pathlib import Path

from moot.jobs.job_results import load_model_results
from moot.studies.conference.minutes import render_minutes
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        folder = Path(snakemake.output[0])
        folder.mkdir(parents=True, exist_ok=True)
        for number, text in render_minutes(
            load_model_results(plan, snakemake), snakemake.wildcards.model
        ):
            (folder / f"{number:03d}.md").write_text(text, encoding="utf-8")
