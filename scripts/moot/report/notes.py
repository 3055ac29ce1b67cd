"""Notes below tables and figures: made-up data and models, people, and the names of data sets."""

from collections.abc import Iterable, Mapping, Sequence, Set

from moot.core.cases import cluster_attributes
from moot.core.endpoint_traits import REHEARSAL_MARK, endpoint_traits
from moot.core.model_config import ModelConfig
from moot.protocols.people import is_person
from moot.scores.results import ExperimentResults, MadeUpInputs

REHEARSAL_NOTE = (
    f"{REHEARSAL_MARK}: a rehearsal. No language model was called. A stand-in drew "
    "all replies, so no number here describes a named model."
)
NO_TRUTH = "no truth: the true labels of the cases are unknown"
EXPLORATORY = "exploratory"
EXPLORATORY_NOTE = (
    "Exploratory: no test in this table was planned as a contrast (`contrasts:` in the"
    " configuration). Treat any effect here as a hypothesis for the next run."
)
SYNTHETIC, SAMPLE, SIMULATED = "SYNTHETIC DATA", "SAMPLE", "SIMULATED MODEL"
DATA_NOTES = {
    "synthetic": f"{SYNTHETIC}: made-up people or cases; their numbers are not findings.",
    "sample": f"{SAMPLE}: a few cases that show how moot works, too few for a finding.",
}
"""The remark on results from each source of a data set."""
MODEL_NOTE = f"{SIMULATED}: no language model was called; a stand-in drew the replies."


def describe_inputs(dataset: str, source: str, models: Mapping[str, ModelConfig]) -> MadeUpInputs:
    """Return the remarks on made-up data and models of an experiment.

    Args:
        dataset, source: its data set and the source of that.
        models: the models that speak in its debates.
    """
    data = (f"{dataset}: {DATA_NOTES[source]}",) if source in DATA_NOTES else ()
    simulated = [
        name for name in sorted(models) if endpoint_traits(models[name].endpoint).is_simulated
    ]
    return MadeUpInputs(data, tuple(f"{name}: {MODEL_NOTE}" for name in simulated))


def join_notes(notes: Iterable[str]) -> list[str]:
    """Return one sentence for each kind of note, with its data sets or models."""
    names_by_kind: dict[str, dict[str, None]] = {}
    for note in notes:
        name, _, kind = note.partition(": ")
        names_by_kind.setdefault(kind, {})[name] = None
    return [f"{kind} In: {', '.join(names)}." for kind, names in names_by_kind.items()]


def people_note(results: ExperimentResults) -> str:
    """Return a note on the seats held by people; "" if there are none."""
    seats = results.config.params.get("seats", {})
    seat_names = [seat.replace("_", " ") for seat, voice in seats.items() if is_person(voice)]
    return (
        f"In {results.experiment} people sit as {', '.join(seat_names)}; all other seats are the"
        " model's"
        if seat_names
        else ""
    )


def cluster_notes(results: ExperimentResults) -> list[str]:
    """Return a note on the clusters of a data set whose cases are drawn in clusters."""
    clusters = cluster_attributes(results.task.cluster)
    if not clusters:
        return []
    if len(clusters) == 1:
        return [f"intervals and tests by {clusters[0]}, drawn as a whole"]
    return [f"intervals and tests by {' and '.join(clusters)} at once"]


def data_kind(results: ExperimentResults) -> str:
    """Return "synthetic" or "sample" if the notes of the data say so, else ""."""
    notes = " ".join(results.task.notes).casefold()
    return next((word for word in ("synthetic", "sample") if word in notes), "")


def data_label(results: ExperimentResults) -> str:
    """Return the display name of an experiment's data, such as `nlsy97 (synthetic)`."""
    kind = data_kind(results)
    return f"{results.config.dataset} ({kind})" if kind else results.config.dataset


def named_experiments(
    experiments: Sequence[ExperimentResults], cell_texts: Set[str]
) -> Sequence[ExperimentResults]:
    """Return the experiments that the texts of a table name, directly or by their data.

    If the texts name none of them, all are returned.
    """
    names = cell_texts | {text.partition(", ")[0] for text in cell_texts}  # "experiment, model"
    named = [results for results in experiments if names & _names_of(results)]
    return named or experiments


def _names_of(results: ExperimentResults) -> set[str]:
    """Return the names of an experiment and its data, as tables print them."""
    return {results.experiment, results.config.dataset, data_label(results)}
