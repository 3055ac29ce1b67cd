"""Label the statements of one experiment and model."""

from pathlib import Path
from typing import TYPE_CHECKING

from moot.job import job_log
from moot.labels.labelling import LabelJob, label_statements
from moot.plan import Plan

if TYPE_CHECKING:
    from snakemake.script import Snakemake

snakemake: "Snakemake"

if __name__ == "__main__":
    with job_log(snakemake.log[0]):
        plan = Plan.from_yaml(snakemake.config, Path(snakemake.scriptdir).parent)
        wildcards, inputs = snakemake.wildcards, snakemake.input
        shards: dict[tuple[str, str], list[Path]] = {}
        for shard in map(Path, [*inputs.shards, *inputs.others]):
            shards.setdefault((shard.parts[-3], shard.parts[-2]), []).append(shard)
        annotations = [Path(file) for file in inputs.annotations]
        job = LabelJob(
            wildcards.experiment, wildcards.model, Path(inputs.cases), shards, annotations, snakemake.threads
        )
        label_statements(plan, job, Path(snakemake.output.labels), Path(snakemake.output.everything))
