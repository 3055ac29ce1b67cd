"""Which data and models of a run are synthetic, sampled or simulated."""

from typing import TYPE_CHECKING

from moot.core.endpoint_traits import endpoint_traits

if TYPE_CHECKING:
    from moot.plan.plan import Plan

SYNTHETIC, SAMPLE, SIMULATED = "SYNTHETIC DATA", "SAMPLE", "SIMULATED MODEL"
DATA_NOTES = {
    "synthetic": f"{SYNTHETIC}: made-up people or cases; no number about them is a finding.",
    "sample": f"{SAMPLE}: a few cases that show how moot works, too few for a finding.",
}
"""The source of a data set to what readers of its results must know."""
MODEL_NOTE = f"{SIMULATED}: no language model was called; a statistical model wrote the replies."


def experiment_notes(plan: "Plan", experiment: str) -> list[str]:
    """What readers of an experiment's results must know of its data and models."""
    config = plan.experiments[experiment].config
    note = DATA_NOTES.get(str(plan.datasets[config.dataset].source))
    notes = [f"{config.dataset}: {note}"] if note else []
    return [*notes, *(f"{name}: {MODEL_NOTE}" for name in simulated_models(plan, experiment))]


def simulated_models(plan: "Plan", experiment: str) -> list[str]:
    """The simulated models that speak in the debates of an experiment, sorted by name."""
    names: set[str] = set()
    for model in plan.experiments[experiment].config.models:
        names.update({model, *plan.models_in_job(experiment, model)})
    models = plan.config.models
    return sorted(
        name
        for name in names
        if name in models and endpoint_traits(models[name].endpoint).is_simulated
    )


def run_notes(plan: "Plan", study: str = "") -> list[str]:
    """One sentence for each kind of note on a study, or on a run, with its data sets or models."""
    names_by_note: dict[str, dict[str, None]] = {}
    for experiment in plan.experiments.values():
        if study in ("", experiment.study):
            for text in experiment_notes(plan, experiment.name):
                name, _, note = text.partition(": ")
                names_by_note.setdefault(note, {})[name] = None
    return [f"{note} In: {', '.join(names)}." for note, names in names_by_note.items()]
