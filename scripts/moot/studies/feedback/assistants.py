"""The reliability assistant of an experiment and model, trained on its debates."""

from collections.abc import Sequence
from pathlib import Path

from moot.core.artifacts import read_cases, read_frames
from moot.core.log import LOG
from moot.studies.feedback.reliability import Features, debater_opinions, save_assistant, train_assistant


def write_assistant(cases_path: Path, shards: Sequence[Path], features: Features, seed: int, output: Path) -> None:
    """Train an assistant on an experiment's and model's transcripts of training and validation cases, and store it as
    `assistants/{experiment}/{model}/{features}.skops`.
    """
    cases, task = read_cases(cases_path)
    opinions = debater_opinions(read_frames(shards), cases)
    assistant = train_assistant(opinions, cases, task, features=features, seed=seed)
    save_assistant(assistant, output)
    LOG.info(
        "assistant of '%s': %d opinions over %d training cases, calibrated on %d cases, %d left out as near-duplicates",
        assistant.card.dataset,
        assistant.card.opinions,
        len(assistant.card.trained_on),
        len(assistant.card.calibrated_on),
        len(assistant.card.left_out),
    )
