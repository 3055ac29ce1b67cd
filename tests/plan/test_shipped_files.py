"""The digest of a data set covers the shipped files that its loader reads, and no others."""

from pathlib import Path

import pytest

from in_process import default_configuration
from moot.datasets import LOADERS
from moot.plan.plan import Plan
from project_copy import PROJECT

DATASETS = ("opinions", "conference", "nlsy97", "cail18", "caselaw", "claim_stance", "vast")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan.from_yaml(default_configuration({}), PROJECT)


@pytest.mark.parametrize("name", DATASETS)
def test_every_shipped_file_that_is_read_is_stated(plan: Plan, name: str) -> None:
    options = plan.datasets[name]
    loaded = LOADERS[options.loader or name].load(options, plan.load_context(name))
    read_files = {path for path in loaded.sources if path.is_relative_to(PROJECT)}
    assert read_files <= set(plan.shipped_files(name))


def test_a_data_set_depends_on_no_sample_of_another(plan: Plan) -> None:
    for name in DATASETS:
        own_folders = {path.parent.name for path in plan.shipped_files(name)}
        assert ("vast" in own_folders) == (name == "vast")
    assert [path.name for path in plan.shipped_files("opinions")] == ["opinions.yaml"]
    assert Path("config/nlsy97_variables.yaml") in {
        path.relative_to(PROJECT) for path in plan.shipped_files("nlsy97")
    }
