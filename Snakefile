# moot: argue cases before panels of language models, and measure the results.
#
#   snakemake --cores 2                      everything that the configuration names
#   snakemake --cores 2 courtroom            one study
#   snakemake --cores 2 debates              one stage
#   snakemake --cores 2 papers               the papers' tables and figures, filled with the existing results
#   snakemake --cores 2 retry                asks the failed calls of the last run again
#   snakemake --cores 1 doctor               checks whether models, keys, data and disk are ready
#   snakemake --cores 2 preview              the remaining calls of a run, and their cost; makes no call
#   snakemake --cores 2 rehearse             the same run with a stand-in, in rehearsal/   ; makes no call
#   snakemake --cores 2 power                the smallest differences that the planned comparisons can show
#   snakemake --cores 2 freeze               records the plan before the run
#   snakemake --cores 2 bundle               one file with which others can check and rebuild the run
#   snakemake --cores 1 --report report.html tables and figures in one file

import os
import shutil
from pathlib import Path

from snakemake.utils import min_version

min_version("9.20")  # priorities by wildcards


# As a module of another workflow, moot may come from a repository. All of its files are then
# unpacked next to the copy of this file.
SHIPPED = workflow.current_basedir
if isinstance(SHIPPED, (str, Path)) or SHIPPED.is_local:
    SHIPPED = Path(str(SHIPPED))
else:
    repository = SHIPPED
    SHIPPED = Path(workflow.source_path("Snakefile")).parent
    if not (SHIPPED / "scripts" / "moot").is_dir():
        archive = SHIPPED / f"moot-{os.getpid()}.tar"
        repository.hosted_repo.repo.git.archive(repository.ref, output=archive)
        shutil.unpack_archive(archive, SHIPPED)
        archive.unlink()


IS_MODULE = Path(workflow.basedir).resolve() != SHIPPED.resolve()


report: "docs/captions/report.rst"


# The image that the Dockerfile builds, for `--sdm apptainer`. Snakemake refuses any path with a space.
containerized: "moot.sif" if " " in str(SHIPPED) else str(SHIPPED / "moot.sif")


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/models.smk"
include: "rules/shown.smk"
include: "rules/data.smk"
include: "rules/baselines.smk"
include: "rules/debates.smk"
include: "rules/labels.smk"
include: "rules/assistants.smk"
include: "rules/summaries.smk"
include: "rules/scores.smk"
include: "rules/tables.smk"
include: "rules/figures.smk"
include: "rules/paper_inputs.smk"
include: "rules/papers.smk"
include: "rules/export.smk"
include: "rules/reader.smk"
include: "rules/hooks.smk"
include: "rules/outcome.smk"
include: "rules/commands.smk"
include: "rules/targets.smk"


# The first page of a run, or of a study.
for page in [INDEX, *targets.studies()]:
    study = "" if page == INDEX else page

    rule:
        name:
            "all" if page == INDEX else page
        default_target: page == INDEX
        input:
            predictions=targets.predictions(plan, study),
            labels=targets.labels(plan, study),
            shown=targets.page_contents(plan, study),
        output:
            **(outcome_files(COMPARISON) if page == INDEX else {}),
            page=f"results/{page}.html",
            questions=report(
                f"results/outcome/{page}_questions.html",
                category="Outcome",
                labels={"study": "questions"},
            ),
        log:
            f"results/logs/outcome/{page}_page.log",
        priority: AGGREGATION
        conda:
            "envs/presentation.yaml"
        params:
            **digests(
                code=[
                    "front_page.py",
                    *("workflow/run_page.py", *RESULTS_CODE),
                ],
            ),
            study=study or COMPARISON,
        script:
            "scripts/front_page.py"


if IS_MAIN and not IS_MODULE:
    with exit_without_traceback():
        check_targets(targets_of_command_line(), [rule.name for rule in workflow.rules])
