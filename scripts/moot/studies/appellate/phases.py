"""What the tables and figures of the appellate study share: its three phases and how their
experiments are found.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from moot.core.types import JsonObject
from moot.report import content
from moot.report.columns import Row
from moot.report.content import NOT_MEASURED, Measured, StudyResults
from moot.report.published import Published, compared
from moot.scores.labels import CORRECTED
from moot.studies.appellate.panel_steps import is_panel, panel_steps

STUDY = "appellate"
KEYS = ("phase", "experiment", "model")
PHASES = {"synthetic_panel": "synthetic", "panel": "multiagent", "human_panel": "human_ai"}
"""Protocol to the name that the published figures give its phase."""
SPOKEN = {"synthetic": "synthetic", "multiagent": "multi-agent", "human_ai": "human-AI"}
CODE_NAMES = {1: "affirm", 0: "not affirm", 3: "no position"}
MOST_CASES_SHOWN = 8
"""With more cases than this, tables and figures show all of them together."""

CODE_NOTE = (
    "Codes: 1 affirm, 0 not affirm (reverse, remand, or both), 3 no position or hallucination. To"
    " dismiss the appeal counts as affirming, to affirm in part as not affirming; the paper has no"
    " rule for either."
)
CHANGE_NOTE = (
    "A change is a judge's move between codes 0 and 1 from one round to the next; pairs with code 3"
    " are no opportunity and are counted in `n invalid`. The paper does not say how it treats them,"
    " and its 1,200 opportunities for two phases of 100 debates count two for each of three judges."
)
VOTE_NOTE = (
    "`statement` rows rest on labelled statements; `vote` rows on the label that a judge's model"
    " finds most probable right after speaking, less what it finds without the case; the paper did"
    " not ask for it."
)
BY_CASE_NOTE = "Intervals are by case, for few cases (docs/results.md); with five they are wide."


@dataclass(frozen=True)
class Phase(content.Run):
    """One experiment and model of one phase, with its steps.

    Attributes:
        name: synthetic, multiagent or human_ai, as the published figures say.
        steps: as `panel_steps` gives them.
    """

    name: str
    steps: pd.DataFrame

    @property
    def judges(self) -> int:
        """Judges of its panels."""
        return int(self.params["judges"])

    @property
    def rounds(self) -> int:
        """Rounds of its debates."""
        return int(self.params["rounds"])

    @property
    def sources(self) -> tuple[str, ...]:
        """Prefixes of the scores that it has: by statement, and by vote where its judges voted."""
        return ("", "vote_") if self.params["votes"] != "none" else ("",)

    @property
    def keys(self) -> JsonObject:
        """The keys of its rows."""
        return {"phase": SPOKEN[self.name], "experiment": self.experiment, "model": self.model}

    def is_human(self, seat: int) -> bool:
        """Whether a seat is the human's."""
        return self.name == "human_ai" and seat == self.judges

    def corrected(self, prefix: str, metric: str, group: str) -> Measured:
        """The corrected score of a raw one; positions by vote have none."""
        return NOT_MEASURED if prefix else self.measured(f"{CORRECTED}{metric}", group=group)

    def row(
        self, keys: JsonObject, metric: str, group: str, published: Published | None = None
    ) -> Row:
        """The row of one of its scores, next to its published value."""
        return compared({**self.keys, **keys}, published, self.measured(metric, group=group))


def list_phases(results: StudyResults) -> Iterator[Phase]:
    """Every experiment and model of the study, in the order of the paper's phases; unlabelled ones
    are left out.
    """
    for protocol, name in PHASES.items():
        for experiment in results.where(protocol):
            if is_panel(experiment):
                steps = panel_steps(experiment)
                for model in experiment.config.models:
                    yield Phase(experiment, model, results, name, steps[steps["model"] == model])


def source_name(prefix: str) -> str:
    """How a table calls a source of positions."""
    return "vote" if prefix else "statement"
