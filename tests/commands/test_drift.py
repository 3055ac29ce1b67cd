"""Test that drift is detected in a changed model and not in one whose replies vary."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from courtroom_runs import EXPERIMENT, MODEL, PROJECT, configuration, people
from fault_server import FaultServer
from moot.commands.drift import check_drift, smallest_change, write_drift
from moot.core.artifacts import describe, read_cases, write_cases
from moot.core.errors import UserError
from moot.core.model_config import ModelConfig
from moot.jobs.debates import Job, write_transcripts
from moot.jobs.predictions import write_predictions
from moot.llm.endpoints.embedded import PACKAGED, model_path
from moot.plan.plan import Plan
from planted_answers import TASK, case

CALLS = 40


@pytest.fixture(scope="module")
def servers() -> Iterator[list[FaultServer]]:
    with FaultServer() as first_server, FaultServer(fingerprints=1) as second_server:
        yield [first_server, second_server]


@pytest.fixture(autouse=True)
def reset_servers(servers: list[FaultServer]) -> None:
    for server in servers:
        server.reset(content="", faults=[], rate=0.5)


def record_answers(
    servers: list[FaultServer], folder: Path, calls: int = CALLS, **params: Any
) -> Plan:
    """Record answers of two models, with their calls in `folder`, and return the plan."""
    config = configuration(servers[0].url, folder, drift={"calls": calls})
    config["models"]["other"] = {**config["models"][MODEL], "base_url": servers[1].url}
    config["experiments"][EXPERIMENT] |= {
        "protocol": "zero_shot",
        "models": [MODEL, "other"],
        "params": params,
    }
    plan, cases = Plan.from_yaml(config, PROJECT), people(folder / "cases.parquet", CALLS)
    for model in (MODEL, "other"):
        shard = folder / "transcripts" / EXPERIMENT / model / "0.parquet"
        write_transcripts(plan, Job(EXPERIMENT, model, *read_cases(cases)), [cases], shard)
        outputs = (
            folder / kind / EXPERIMENT / f"{model}.parquet" for kind in ("predictions", "calls")
        )
        write_predictions(plan, EXPERIMENT, cases, [shard], *outputs)
    return plan


def verdicts(frame: pd.DataFrame) -> dict[str, str]:
    return dict(zip(frame["model"], frame["verdict"], strict=True))


def test_a_change_of_one_of_two_models_is_detected(
    servers: list[FaultServer], tmp_path: Path
) -> None:
    plan = record_answers(servers, tmp_path)
    frame_before = check_drift(plan, tmp_path, day=1)
    assert verdicts(frame_before) == dict.fromkeys((MODEL, "other"), "no change shown")
    assert (frame_before["equal_now"] == 1).all() and (frame_before["equal_to_recorded"] == 1).all()
    assert set(frame_before["measure"]) == {"texts", "answers"}
    assert set(frame_before["smallest_change"]) == {0.22}, (
        "40 calls, four tests: seven changed replies pass"
    )
    call_counts = [server.count() for server in servers]
    assert call_counts == [3 * CALLS] * 2

    servers[1].reset(
        content='{"reasoning": "new", "prediction": "YES", "confidence": 50}', fingerprints=3
    )
    assert verdicts(check_drift(plan, tmp_path, day=1)) == verdicts(
        frame_before
    )  # the calls of that day are in the ledger
    assert servers[1].count() == 0
    frame_after = check_drift(plan, tmp_path, day=2)
    assert verdicts(frame_after) == {MODEL: "no change shown", "other": "changed"}
    texts = frame_after.set_index(["model", "measure"]).loc[("other", "texts")]
    assert (
        texts["equal_now"],
        texts["equal_to_recorded"],
        texts["changed"],
        texts["changed_back"],
    ) == (1, 0, CALLS, 0)
    assert texts["beyond"] == 1 and texts["beyond_low"] > 0.8
    assert texts["p_holm"] == pytest.approx(4 * 0.5**CALLS)
    assert "fp_0" in texts["versions_recorded"] and "fp_1" in texts["versions_now"]
    write_drift(frame_after, tmp_path / "drift")
    table = pd.read_csv(tmp_path / "drift" / "drift.csv")
    page = (PROJECT / "docs" / "drift.md").read_text()
    assert [name for name in table if name != "model" and f"`{name}`" not in page] == [], (
        "columns without a description"
    )
    assert verdicts(table) == verdicts(frame_after)
    assert "changed" in (tmp_path / "drift" / "drift.html").read_text()


def test_a_model_that_varies_by_itself_has_not_changed(
    servers: list[FaultServer], tmp_path: Path
) -> None:
    for server in servers:
        server.reset(faults=["truncated"])
    frame = check_drift(record_answers(servers, tmp_path), tmp_path, day=1)
    texts = frame[frame["measure"] == "texts"]
    assert ((texts["equal_now"] > 0.2) & (texts["equal_now"] < 0.8)).all()
    assert ((texts["beyond_low"] < 0) & (texts["beyond_high"] > 0)).all()
    assert texts["beyond"].tolist() == pytest.approx(
        (texts["equal_now"] - texts["equal_to_recorded"]).tolist()
    )
    assert ((texts["changed"] > 0) & (texts["changed_back"] > 0)).all()
    assert "changed" not in set(frame["verdict"])


def test_log_probabilities_are_compared_if_recorded(
    servers: list[FaultServer], tmp_path: Path
) -> None:
    plan = record_answers(servers, tmp_path, calls=5, answer="likelihood")
    frame = check_drift(plan, tmp_path, day=1)
    assert set(frame["measure"]) == {"texts", "answers", "log-probabilities"}
    assert set(frame["calls"]) == {5}
    assert (
        set(frame["verdict"]) == {"cannot tell"} and frame["smallest_change"].isna().all()
    )  # five calls cannot show a change


@pytest.mark.parametrize(
    ("calls", "repeatable", "changed_back"), [(30, 1.0, 0), (40, 0.9, 2), (100, 0.5, 16)]
)
def test_the_smallest_change_is_detected_with_the_stated_power(
    calls: int, repeatable: float, changed_back: int
) -> None:
    """Replies are drawn at random. With 30 calls, a change of a fifth is detected in 57 % of
    samples, and the stated smallest change in 80 %.
    """
    random, level = np.random.default_rng(1), 0.05 / 3

    @cache
    def is_significant(successes: int, trials: int) -> bool:
        return trials > 0 and binomtest(successes, trials, alternative="greater").pvalue <= level

    def power(share: float) -> float:
        chance = (1 - share) * changed_back / calls
        counts = random.multinomial(
            calls, [share * repeatable + chance, chance, 1 - share * repeatable - 2 * chance], 2000
        )
        return float(
            np.mean(
                [is_significant(int(losses), int(losses + gains)) for losses, gains, _ in counts]
            )
        )

    change = smallest_change(calls, repeatable, changed_back, level)
    assert 0.76 < power(change) < 0.88 and power(change - 0.03) < 0.8
    assert repeatable != 1 or power(0.2) == pytest.approx(0.57, abs=0.04)


def test_a_run_without_recorded_calls_cannot_be_compared(
    servers: list[FaultServer], tmp_path: Path
) -> None:
    plan = Plan.from_yaml(configuration(servers[0].url, tmp_path), PROJECT)
    with pytest.raises(UserError, match="holds no call of this run's models"):
        check_drift(plan, tmp_path)


@pytest.mark.slow
def test_a_replaced_model_file_is_detected(tmp_path: Path) -> None:
    """Slow: only this test measures drift in the replies of a real model."""
    """The same name, and other weights: two bits in every fifth byte of the second half, as if it
were requantised.
    """
    count, file = 6, tmp_path / "model.gguf"
    weights = np.fromfile(
        model_path(ModelConfig(endpoint="embedded", model=PACKAGED)), dtype=np.uint8
    )
    weights.tofile(file)
    model = {
        "endpoint": "embedded",
        "model": str(file),
        "base_url": None,
        "concurrency": 1,
        "timeout": 600,
    }
    config = configuration("", tmp_path, {**model, "context": 512}, drift={"calls": count})
    config["experiments"][EXPERIMENT] |= {
        "protocol": "zero_shot",
        "params": {"answer": "likelihood"},
    }
    plan, cases = Plan.from_yaml(config, PROJECT), tmp_path / "cases.parquet"
    write_cases(cases, map(case, range(count)), TASK, describe())
    shard = tmp_path / "transcripts" / EXPERIMENT / MODEL / "0.parquet"
    write_transcripts(plan, Job(EXPERIMENT, MODEL, *read_cases(cases)), [cases], shard)
    outputs = (
        tmp_path / kind / EXPERIMENT / f"{MODEL}.parquet" for kind in ("predictions", "calls")
    )
    write_predictions(plan, EXPERIMENT, cases, [shard], *outputs)

    weights[len(weights) // 2 :: 5] ^= 3
    weights.tofile(file)
    row = check_drift(plan, tmp_path, day=1).set_index("measure").loc["log-probabilities"]
    assert (row["verdict"], row["equal_to_recorded"]) == ("changed", 0)
    recorded_version, new_version = row["versions_recorded"], row["versions_now"]
    assert recorded_version != new_version and all(
        "model.gguf sha256:" in version for version in (recorded_version, new_version)
    )
