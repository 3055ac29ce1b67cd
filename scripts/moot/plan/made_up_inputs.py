"""Which data and models of a run are made up: synthetic, sampled or simulated."""

from collections.abc import Iterable, Mapping

from moot.core.endpoint_traits import endpoint_traits
from moot.core.model_config import ModelConfig

SYNTHETIC, SAMPLE, SIMULATED = "SYNTHETIC DATA", "SAMPLE", "SIMULATED MODEL"
DATA_NOTES = {
    "synthetic": f"{SYNTHETIC}: made-up people or cases; their numbers are not findings.",
    "sample": f"{SAMPLE}: a few cases that show how moot works, too few for a finding.",
}
"""The remark on results from each source of a data set."""
MODEL_NOTE = f"{SIMULATED}: no language model was called; a stand-in drew the replies."


def describe_inputs(dataset: str, source: str, models: Mapping[str, ModelConfig]) -> list[str]:
    """Return the remarks on made-up data and models of an experiment.

    Args:
        dataset, source: its data set and the source of that.
        models: the models that speak in its debates.
    """
    notes = [f"{dataset}: {DATA_NOTES[source]}"] if source in DATA_NOTES else []
    simulated = [
        name for name in sorted(models) if endpoint_traits(models[name].endpoint).is_simulated
    ]
    return [*notes, *(f"{name}: {MODEL_NOTE}" for name in simulated)]


def join_notes(notes: Iterable[str]) -> list[str]:
    """Return one sentence for each kind of note, with its data sets or models."""
    return list(join_names_by_note(notes))


def join_names_by_note(notes: Iterable[str]) -> dict[str, list[str]]:
    """Return the sentences of `join_notes`, each with the data sets or models that it names."""
    names_by_kind: dict[str, dict[str, None]] = {}
    for note in notes:
        name, _, kind = note.partition(": ")
        names_by_kind.setdefault(kind, {})[name] = None
    return {f"{kind} In: {', '.join(names)}.": [*names] for kind, names in names_by_kind.items()}
