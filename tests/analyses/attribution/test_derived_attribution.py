"""The experiment that the key `attribution` adds, and where it is refused."""

from typing import Any

import pytest

from in_process import default_configuration
from messages import refusal
from moot.core.experiment_config import ExperimentConfig
from moot.plan.plan import Plan
from project_copy import PROJECT


def plan(**entry: Any) -> Plan:
    trial = {"protocol": "courtroom", "dataset": "nlsy97", "models": ["smollm2-135m"], **entry}
    config = {"run": ["trial"], "experiments": {"trial": trial}}
    return Plan.from_yaml(default_configuration(config), PROJECT)


def derived(entry: dict[str, Any]) -> ExperimentConfig:
    return plan(**entry).experiments["trial-arm=attribution"].config


def test_the_judge_of_the_debate_judges_again() -> None:
    entry = {"params": {"beliefs": "none"}, "calibration_cases": 4, "attribution": {"repeats": 4}}
    config = derived(entry)
    assert config.params == {
        "repeats": 4,
        "judge_protocol": "courtroom",
        "judge_protocol_params": {"beliefs": "none"},
        "judge": "judge",
        "seats": {},
        "source_experiment": "trial",
    }
    named = (config.protocol, config.control, config.control_of, config.study)
    assert named == ("attribution", "attribution", "trial", "courtroom")
    assert config.calibration_cases == 0
    seats = {"judge": "smollm2-135m", "defense": "smollm2-135m"}
    config = derived({"params": {"seats": seats}, "study": "mine", "attribution": {}})
    assert (config.params["seats"], config.study) == ({"judge": "smollm2-135m"}, "mine")
    assert [*plan().experiments] == ["trial"]


@pytest.mark.parametrize(
    "entry",
    [
        {"protocol": "panel", "dataset": "opinions"},
        {"protocol": "zero_shot"},
        {"params": {"seats": {"judge": "person"}}},
    ],
)
def test_debates_without_a_judge_who_can_be_asked_again_are_refused(entry: dict[str, Any]) -> None:
    with refusal():
        plan(**entry, attribution={})
