"""Fields of an experiment that are marked as display only change no digest of its debates."""

from pathlib import Path
from typing import Any

import pytest

from declared_jobs import declared_jobs
from moot.core.experiment_config import ExperimentConfig, fields_marked
from moot.plan.plan import Plan

PROJECT = Path(__file__).resolve().parents[2]
TRIAL = {"protocol": "courtroom", "dataset": "people", "models": ["small"], "cases": 4}
CHANGES: dict[str, dict[str, Any]] = {
    "protocol": {"protocol": "zero_shot"},
    "source": {
        "protocol": "recorded",
        "source": "recorded",
        "dataset": "nyu-debates",
        "models": ["human-judge"],
        "params": {"method": "AI consult"},
    },
    "dataset": {"dataset": "others"},
    "models": {"models": ["small", "other"]},
    "cases": {"cases": 5},
    "case_ids": {"case_ids": ["synthetic-1"]},
    "allow_fewer_cases": {"allow_fewer_cases": True},
    "repeats": {"repeats": 2},
    "trial_on_request": {"trial_on_request": True, "cases": 4},
    "needs_data": {"needs_data": "."},
    "split": {"split": "train"},
    "calibration_cases": {"calibration_cases": 3},
    "study": {"study": "stance"},
    "arms": {"arms": ["alone"]},
    "arm_models": {"arms": ["alone"], "arm_models": ["small"]},
    "arm_cases": {"arms": ["alone"], "arm_cases": 2},
    "attribution": {"attribution": {"repeats": 2}},
    "control": {"protocol": "zero_shot", "control": "alone", "control_of": "base"},
    "labelers": {"labelers": ["judge:other"], "rubric": "appellate"},
    "rubric": {"labelers": ["rules"], "rubric": "appellate"},
    "params": {"params": {"temperature": 0.1}},
    "prompts": {"prompts": "wordings"},
}
"""A changed value of each field of an experiment, with the fields that it requires."""
EXPANDED = {"grid"}
"""Fields that expand to experiments with other names."""


def debate_digests(**change: Any) -> tuple[str, str]:
    config = {
        "run": ["trial", "base"],
        "seed": 1,
        "models": {
            name: {"model": name, "base_url": "http://127.0.0.1:9/v1"}
            for name in ("small", "other")
        },
        "datasets": {
            name: {"loader": "nlsy97", "source": "synthetic", "rows": rows}
            for name, rows in (("people", 60), ("others", 61))
        },
        "experiments": {"base": TRIAL, "trial": {**TRIAL, **change}},
    }
    digests = declared_jobs(Plan.from_yaml(config, PROJECT)).of(
        "run_debates", experiment="trial", model="small"
    )
    return digests.options, digests.prompts


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    template = tmp_path / "wordings" / "courtroom" / "verdict.jinja"
    template.parent.mkdir(parents=True)
    template.write_text(
        '{% extends "courtroom/base.jinja" %}{% block instruction %}?{% endblock %}'
    )


@pytest.mark.parametrize("field", sorted(fields_marked(display_only=True) - EXPANDED))
def test_a_display_only_field_changes_no_digest_of_debates(field: str) -> None:
    assert debate_digests(**CHANGES[field]) == debate_digests()


CONTENT_FIELDS = set(ExperimentConfig.model_fields) - fields_marked(display_only=True) - EXPANDED


@pytest.mark.parametrize("field", sorted(CONTENT_FIELDS - {"models", "control_of", "source"}))
def test_every_other_field_changes_the_digests_of_debates(field: str) -> None:
    """`models` names further jobs; `control_of` and `source` change with other fields.

    These are `control` and `protocol`.
    """
    assert debate_digests(**CHANGES[field]) != debate_digests()
