"""The three phases of the appellate study, and the notes that its tables and figures share."""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from moot.core.types import JsonObject
from moot.report import study_results
from moot.report.columns import Row
from moot.report.measurement import NOT_MEASURED, Measurement
from moot.report.published import Published, comparison_row
from moot.report.study_results import StudyResults
from moot.scores.labels import CORRECTED
from moot.studies.appellate.panel_steps import build_panel_steps, is_panel

STUDY = "appellate"
KEYS = ("phase", "experiment", "model")
PHASES = {"synthetic_panel": "synthetic", "panel": "multiagent", "human_panel": "human_ai"}
"""The phase of each protocol as the published figures name it."""
PHASE_TITLES = {"synthetic": "synthetic", "multiagent": "multi-agent", "human_ai": "human-AI"}
CODE_NAMES = {1: "affirm", 0: "not affirm", 3: "no position"}
MAX_CASES_SHOWN = 8
"""With more cases, tables and figures show the total only."""

CODE_NOTE = (
    "Codes: 1 affirm, 0 not affirm (reverse, remand, or both), 3 no position or hallucination. To"
    " dismiss the appeal counts as affirming, to affirm in part as not affirming; the paper has no"
    " rule for either."
)
CHANGE_NOTE = (
    "A change is a judge's move between codes 0 and 1 from one round to the next. Pairs with code 3"
    " are not opportunities and are counted in `n invalid`. Rows `as the paper counts` take every"
    " pair as an opportunity and every difference of codes as a change: the paper's 1,200"
    " opportunities for two phases of 100 debates are two for each of three judges, and its 400 are"
    " two for each of two. It does not say whether a move from or to code 3 counts."
)
VOTE_NOTE = (
    "`statement` rows use labelled statements. `vote` rows use the label that a judge's model finds"
    " most probable right after speaking, corrected for what it finds without the case; the paper"
    " does not have them."
)
BY_CASE_NOTE = "Intervals are by case (docs/results.md); with five cases they are wide."


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

    @property
    def sources(self) -> tuple[str, ...]:
        """The prefixes of its scores: "" by statement, and "vote_" if its judges voted."""
        return ("", "vote_") if self.params["votes"] != "none" else ("",)

    @property
    def keys(self) -> JsonObject:
        """The key columns of its rows."""
        return {
            "phase": PHASE_TITLES[self.name],
            "experiment": self.experiment,
            "model": self.model,
        }

    def is_human(self, seat: int) -> bool:
        """Return whether a seat is the human's."""
        return self.name == "human_ai" and seat == self.judges

    def corrected(self, prefix: str, metric: str, group: str) -> Measurement:
        """Return the corrected value of a score. Positions by vote have none."""
        return NOT_MEASURED if prefix else self.measurement(f"{CORRECTED}{metric}", group=group)

    def row(
        self, keys: JsonObject, metric: str, group: str, published: Published | None = None
    ) -> Row:
        """Return the row of a score with its published value."""
        return comparison_row(
            {**self.keys, **keys}, published, self.measurement(metric, group=group)
        )


def list_phases(results: StudyResults) -> Iterator[Phase]:
    """Yield every labelled experiment and model of the study in the order of the paper's phases."""
    for protocol, name in PHASES.items():
        for experiment in results.find_experiments(protocol):
            if is_panel(experiment):
                steps = build_panel_steps(experiment)
                for model in experiment.config.models:
                    yield Phase(experiment, model, results, name, steps[steps["model"] == model])


def name_source(prefix: str) -> str:
    """Return the name of a source of positions in tables."""
    return "vote" if prefix else "statement"
