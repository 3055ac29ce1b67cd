"""Do the jobs of one experiment of a rehearsal in one process, one after the other, each as its own script does it."""

import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params, Wildcards
from snakemake.script import Snakemake

from moot.core.command_line import SHIPPED
from moot.plan.plan import Plan

snakemake: Snakemake


def job_of(one: Mapping[str, Any], outer: Snakemake) -> Snakemake:
    """What the script of a job finds in `snakemake`."""
    files = []
    for kind, (paths, names) in ((InputFiles, one["input"]), (OutputFiles, one["output"])):
        files.append(kind(toclone=paths))
        files[-1]._take_names(names.items())
    wildcards, params = Wildcards(fromdict=one["wildcards"]), Params(fromdict=one["params"])
    log = Log(toclone=[one["log"]])
    found = outer.threads, outer.resources, log, outer.config, one["rule"], None, outer.scriptdir
    return Snakemake(*files, params, wildcards, *found)


if __name__ == "__main__":
    plan = Plan.from_yaml(snakemake.config, SHIPPED)
    for one in snakemake.params.jobs:
        job = job_of(one, snakemake)
        job.plan = plan
        Path(one["log"]).parent.mkdir(parents=True, exist_ok=True)
        runpy.run_path(str(Path(snakemake.scriptdir) / one["script"]), {"snakemake": job}, run_name="__main__")
