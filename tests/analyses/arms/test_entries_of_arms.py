"""Test how arms are named in a configuration, previewed and run, and how faults are reported."""

from pathlib import Path

import pytest
from arm_runs import Runs, entry

from courtroom_runs import PROJECT, configuration, people
from messages import refusal
from moot.commands.preview import preview
from moot.core.errors import UserError
from moot.plan.plan import Plan


def test_a_preview_counts_the_calls_of_arms_before_the_debate(tmp_path: Path, runs: Runs) -> None:
    raw = configuration("http://nowhere.invalid", tmp_path, {"max_tokens": 40})
    raw["experiments"] = {
        "trial": entry("courtroom", ("noise", "alone", "matched_calls", "matched_tokens"))
    }
    raw["shards"] = 2
    people(tmp_path / "results" / "cases" / "people.parquet", 8)
    call_count = runs.server.count()
    rows = preview(Plan.from_yaml(raw, PROJECT), tmp_path / "results").set_index("experiment")
    calls = rows["calls_to_make"].rename(lambda name: name.removeprefix("trial-arm=")).to_dict()
    tokens = rows.loc["trial", "completion_tokens"]
    price = rows.loc["trial-arm=matched_calls", "completion_tokens"] / (4 * 16)
    matched_samples = 4 * (round(tokens / 4 / price) - 16)  # the other arm has the first 16 samples
    assert calls == {
        "trial": 64,
        "noise": 16,
        "alone": 28,
        "matched_calls": 64,
        "matched_tokens": max(0, matched_samples),
        "total": sum(calls.values()) - calls["total"],
    }
    assert "transcripts/trial/test/0.parquet" in rows.loc["trial-arm=noise", "needs"]
    assert not (tmp_path / "ledger" / "results").exists() and runs.server.count() == call_count, (
        "a preview makes no calls"
    )


def test_an_explicit_arm_names_its_experiment_and_faults_are_reported(runs: Runs) -> None:
    arm_entry = entry("courtroom", control="noise", control_of="courtroom")
    assert runs.plan(mine=arm_entry).experiments["mine"].needs == {
        "held": "transcripts/courtroom/{model}/0.parquet"
    }
    for change, message in (
        (
            {"control": "noise", "control_of": "courtrom"},
            "unknown experiment of this run 'courtrom'; did you mean 'courtroom'?",
        ),
        (
            {"control": "noisy", "control_of": "courtroom"},
            "unknown control 'noisy'; did you mean 'noise'?",
        ),
        ({"arms": ["matched_tokens"]}, "takes the price of a sample from 'matched_calls'"),
        (
            {"arms": ["consultancy"], "params": {"roles": "cooperative"}},
            "have no assigned sides",
        ),
    ):
        with pytest.raises(UserError, match=message.replace("?", r"\?")):
            runs.plan(mine=entry("courtroom", **change))
    for arm in ("alone", "matched_calls"):
        with pytest.raises(
            UserError, match=f"mine.arms: {arm}: .*the debaters' agreement is the answer"
        ):
            runs.plan(mine=entry("conference", (arm,), dataset="conference"))
    with refusal():
        runs.plan(mine={**entry("feedback", ("swap",)), "params": {"debaters": 1}})
    runs.experiments["lone"] = entry("courtroom", ("noise",), cases=1)
    with refusal():
        runs.hold(runs.plan(), "lone-arm=noise")
    del runs.experiments["lone"]


def test_arms_run_with_their_experiment_unless_a_pattern_excludes_them(tmp_path: Path) -> None:
    raw = configuration("http://nowhere.invalid", tmp_path)
    raw["experiments"] = {"trial": entry("courtroom", ("noise", "alone"), models=["test"])}

    def run(*names: str) -> list[str]:
        return list(Plan.from_yaml({**raw, "run": list(names)}, PROJECT).experiments)

    assert run() == run("trial") == ["trial", "trial-arm=noise", "trial-arm=alone"]
    with refusal():
        run("trial-arm=noise")
    raw["models"]["other"] = raw["models"]["test"]
    raw["experiments"]["trial"] |= {
        "models": ["test", "other"],
        "arm_models": "other",
        "arm_cases": 2,
    }
    arm = Plan.from_yaml(raw, PROJECT).experiments["trial-arm=noise"].config
    assert (arm.models, arm.cases) == (("other",), 2)
    with refusal():
        Plan.from_yaml(
            {
                **raw,
                "experiments": {"trial": {**raw["experiments"]["trial"], "arm_models": ["tset"]}},
            },
            PROJECT,
        )
    raw["min_debates"] = 1
    raw["contrasts"] = {
        "debate-adds": {"first": "trial", "second": "trial-arm=alone", "direction": "first_higher"}
    }
    [contrast] = Plan.from_yaml(raw, PROJECT).contrasts_of("courtroom")
    assert (str(contrast.second.experiment), contrast.missing) == ("trial-arm=alone", "")
