"""Label the statements of one experiment and model."""

from pathlib import Path

from moot.jobs.statement_labels import LabelJob, label_statements
from moot.plan.call_shares import plan_of_job
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (run_plan, snakemake):
        plan = plan_of_job(run_plan, snakemake.resources)
        wildcards, inputs = snakemake.wildcards, snakemake.input
        shards: dict[tuple[str, str], list[Path]] = {}
        for shard in map(Path, [*inputs.shards, *inputs.others]):
            shards.setdefault((shard.parts[-3], shard.parts[-2]), []).append(shard)
        annotations = [Path(file) for file in inputs.annotations]
        labelling = LabelJob(
            wildcards.experiment,
            wildcards.model,
            Path(inputs.cases),
            shards,
            annotations,
            snakemake.threads,
        )
        output, everything = Path(snakemake.output.labels), Path(snakemake.output.everything)
        label_statements(plan, labelling, output, everything, **digests_of(snakemake))
