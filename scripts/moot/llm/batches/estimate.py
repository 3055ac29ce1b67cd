"""How long a run takes whose calls go in batches, estimated from the results of a rehearsal."""

from collections.abc import Mapping
from pathlib import Path

from moot.core.artifacts import read_frame, read_table
from moot.core.batch_config import HOURS_PER_WAVE
from moot.core.model_config import ModelConfig


def count_waves(results: Path, models: Mapping[str, ModelConfig], shards: int) -> dict[str, int]:
    """Return the most waves, one after the other, of each model whose calls go in batches.

    A debate takes at most as many waves as it has calls, and all debates of a shard take theirs
    together. Jobs of a model that waits for its batches follow each other. Without waiting, all
    jobs submit in one run.

    Args:
        results: the folder of a rehearsal's results.
        models: the models of the real run, by name.
        shards: the jobs of an experiment and model in the real run.
    """
    calls_by_model: dict[str, list[int]] = {}
    for path in sorted((results / "calls").rglob("*.parquet")):
        predictions = read_frame(results / "predictions" / path.parent.name / path.name)
        calls_per_debate = predictions["calls"].dropna()
        # The calls of recorded debates are unknown.
        max_calls = int(calls_per_debate.max()) if len(calls_per_debate) else 0
        for model in read_table(path, ["model"]).column("model").unique().to_pylist():
            if models[model].batch:
                calls_by_model.setdefault(model, []).append(max_calls)
    waves = {}
    for model, max_calls_of_runs in calls_by_model.items():
        if models[model].defers_replies:
            waves[model] = max(max_calls_of_runs)
        else:
            waves[model] = sum(max_calls_of_runs) * shards
    return waves


def describe_waves(model: str, waves: int) -> str:
    """Return in a sentence how long the waves of a model take."""
    return (
        f"Calls of {model} go in batches: at most {waves} waves, one after the other, of which a"
        f" provider takes {HOURS_PER_WAVE:.0f} hours at most, and often less (docs/batch.md)."
    )
