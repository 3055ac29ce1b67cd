"""Print the remaining calls of a run."""

import sys
from pathlib import Path

from moot.commands.doctor_cases import describe_row_faults
from moot.commands.preview import describe_servers, describe_trial_runs, preview
from moot.commands.preview_table import preview_text
from moot.core.log import FILE_LOG
from moot.jobs.item_designs import describe_sizes
from moot.plan.papers_of_run import designs_of
from moot.workflow.job import job

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        FILE_LOG.disabled = True  # the job that made the cases said it
        frame = preview(plan, Path("results"))
        sys.stdout.write(preview_text(frame))
        sys.stdout.writelines(f"\n{sentence}\n" for sentence in describe_trial_runs(plan))
        sizes = describe_sizes(plan.config.experiments, designs_of(plan).values())
        sys.stdout.writelines(f"{size}\n" for size in sizes)
        sys.stdout.write(f"\nWhere calls go:\n{describe_servers(plan)}\n")
        sys.stdout.write(describe_row_faults(plan))
