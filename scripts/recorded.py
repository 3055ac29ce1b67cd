"""Read the recorded debates of one experiment, and the predictions of each of its models."""

from pathlib import Path

from moot.core.artifacts import read_cases
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.predictions import write_predictions
from moot.workflow import targets
from moot.workflow.job import job
from moot.workflow.provenance import digests_of

if __name__ == "__main__":
    with job(globals()) as (plan, snakemake):
        name, inputs, output = snakemake.params.experiment, snakemake.input, snakemake.output
        sources = cases_path, records = Path(inputs.cases), Path(inputs.records)
        cases, task = read_cases(cases_path)
        artifacts, digests = {"records": records}, digests_of(snakemake)
        config, experiment = plan.config, plan.experiments[name]
        models = experiment.config.models
        for model, predictions, calls in zip(models, output.predictions, output.calls, strict=True):
            voices = plan.models_in_job(name, model)
            shards = [Path(path) for path in targets.shards(plan, name, model)]
            for number, shard in enumerate(shards):
                debates = Job(config, experiment, voices, cases, task, number, artifacts=artifacts)
                write_transcripts(debates, sources, shard, **digests)
            outputs = Path(predictions), Path(calls)
            write_predictions(config, experiment, cases_path, shards, *outputs, **digests)
