"""Test how a plan differs from a frozen one."""

from moot.core.types import JsonObject
from moot.jobs.frozen_plans import ANALYSIS_DIGEST, differences


def plan(**model: object) -> JsonObject:
    return {
        "contrasts": {},
        "experiments": {},
        "models": {"a": {"temperature": 0, **model}},
        "seed": 1,
        ANALYSIS_DIGEST: "",
    }


def test_a_difference_is_named_by_its_key_and_by_a_whole_entry_that_one_plan_lacks() -> None:
    frozen, present = plan(parameters={"top_p": 1}), plan(parameters={"top_p": 0.5})
    assert list(differences(frozen, frozen)) == []
    assert list(differences(frozen, present)) == [
        "model a, parameters.top_p: frozen 1, now 0.5",
    ]
    assert list(differences(frozen, plan(parameters=None))) == [
        'model a, parameters: frozen {"top_p": 1}, now none',
    ]
