"""The results of a study are those of its own experiments."""

from types import SimpleNamespace
from typing import Any

from in_process import default_configuration
from moot.jobs.job_results import load_model_results, load_study_debates
from moot.plan.plan import Plan
from project_copy import PROJECT


def test_a_study_gets_no_experiment_of_another_study() -> None:
    plan = Plan.from_yaml(default_configuration({}), PROJECT)
    studies = {name: entry.study for name, entry in plan.experiments.items()}
    assert len(set(studies.values())) > 2
    for study in ("courtroom", "stance"):
        job: Any = SimpleNamespace(wildcards=SimpleNamespace(study=study), input=[])
        names = {name for name, other_study in studies.items() if other_study == study}
        assert load_study_debates(plan, job).keys() == names
        experiment = plan.experiments[min(names)]
        model = experiment.config.models[0]
        job.wildcards = SimpleNamespace(experiment=experiment.name, model=model)
        results = load_model_results(plan, job)
        assert (results.experiment, *results.config.models) == (experiment.name, model)
