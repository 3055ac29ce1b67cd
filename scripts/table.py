"""Write one table of a study as CSV, LaTeX and HTML."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.plan import Plan
from moot.present import TABLES
from moot.present.formats import write_table
from moot.results import study_results

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        study, named = snakemake.wildcards.study, snakemake.input
        scores, baselines = map(Path, named.scores), map(Path, named.baselines)
        results = study_results(plan, study, list(scores), list(baselines), Path(named.published))
        paths = {ending: Path(path) for ending, path in snakemake.output.items()}
        write_table(TABLES[f"{study}/{snakemake.wildcards.table}"], results, paths)
