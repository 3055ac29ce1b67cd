"""Draw one figure of a study as PNG and SVG."""

from pathlib import Path

from snakemake.script import Snakemake

from moot.job import job_log
from moot.plan import Plan
from moot.present import FIGURES
from moot.present.style import draw
from moot.results import study_results

snakemake: Snakemake

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        study, named = snakemake.wildcards.study, snakemake.input
        scores, baselines = map(Path, named.scores), map(Path, named.baselines)
        results = study_results(plan, study, list(scores), list(baselines), Path(named.published))
        paths = {ending: Path(path) for ending, path in snakemake.output.items()}
        draw(FIGURES[f"{study}/{snakemake.wildcards.figure}"], results, paths)
