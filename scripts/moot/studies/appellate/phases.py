"""The three phases of the appellate study, for the items of its paper."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from moot.report import study_results
from moot.report.study_results import StudyResults
from moot.studies.appellate.panel_steps import build_panel_steps, is_panel

STUDY = "appellate"
PHASES = {"synthetic_panel": "synthetic", "panel": "multiagent", "human_panel": "human_ai"}
"""The phase of each protocol as the published figures name it."""
PHASE_TITLES = {"synthetic": "synthetic", "multiagent": "multi-agent", "human_ai": "human-AI"}


@dataclass(frozen=True)
class Phase(study_results.Run):
    """One experiment and model of one phase with its steps.

    Attributes:
        name: "synthetic", "multiagent" or "human_ai", as the published figures name the phase.
        steps: the rows of `build_panel_steps` for this model.
    """

    name: str
    steps: pd.DataFrame

    @property
    def judges(self) -> int:
        """The number of judges of a panel."""
        return int(self.params["judges"])

    @property
    def rounds(self) -> int:
        """The number of rounds of a debate."""
        return int(self.params["rounds"])


def list_phases(results: StudyResults) -> Iterator[Phase]:
    """Yield every labelled experiment and model of the study in the order of the paper's phases."""
    for protocol, name in PHASES.items():
        for experiment in results.find_experiments(protocol):
            if is_panel(experiment):
                steps = build_panel_steps(experiment)
                for model in experiment.config.models:
                    yield Phase(experiment, model, results, name, steps[steps["model"] == model])
