"""The hooks of early stopping: a sequential test of a contrast, and debates in stages."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from moot.analyses.stopping.config import STOP
from moot.analyses.stopping.interim import SequentialTest
from moot.analyses.stopping.schedule import plan_stages
from moot.analyses.stopping.sequential import FUTILITY_SHARE
from moot.core.config_errors import Faults
from moot.core.experiment_config import ContrastConfig
from moot.core.types import Fields
from moot.hooks import ANALYSES, Analysis, CheckedExperiments, Schedule
from moot.scores.contrasts import ContrastTest

VALIDITY = "All tests of a comparison that may end early, and its interval, are valid at any time."
"""A sentence for the page of a frozen plan in which a comparison may stop early."""


class Stopping(Analysis):
    """Debates that end once a planned contrast is decided."""

    def contrast_test(self, entry: ContrastConfig, cases: int) -> ContrastTest | None:
        """Return the sequential test of a contrast with the key `stop`."""
        stop = STOP.value_in(entry)
        return SequentialTest(**stop.model_dump(), planned_cases=cases) if stop else None

    def plan_schedules(self, plan: CheckedExperiments, faults: Faults) -> Mapping[str, Schedule]:
        """Return the stages of experiments whose contrasts may stop early."""
        return plan_stages(plan, faults)

    def registered_paragraphs(self, contrasts: Mapping[str, Fields]) -> list[tuple[str, list[str]]]:
        """Return paragraphs on when the debates of each contrast end, for the page of a frozen
        plan.
        """
        sentences = [
            f"{name}: {_describe(contrast.get('stop'))}" for name, contrast in contrasts.items()
        ]
        if any(contrast.get("stop") for contrast in contrasts.values()):
            sentences.append(VALIDITY)
        return [("Stopping", sentences)]

    def rehearsal_paragraphs(self, results: Path) -> Iterable[str]:
        """Yield a paragraph for each comparison that stopped before its last case."""
        for path in sorted((results / "tables").glob("*/stopping.csv")):
            for row in pd.read_csv(path).to_dict("records"):
                if row["cases"] < row["planned cases"]:
                    yield (
                        f"The comparison {row['contrast']} stopped after {row['cases']} of"
                        f" {row['planned cases']} cases ({row['stopped because']}), which depends"
                        " on the voices that replace the models. Models may need all cases:"
                        " `snakemake preview` counts their calls."
                    )


def _describe(stop: Fields | None) -> str:
    """Describe in a sentence when the debates of a contrast end."""
    if not stop:
        return "all planned cases are debated."
    parts = [
        f"analysed after each {stop['cases_per_stage']} cases. Debates end when the difference is"
        f" shown, or shown to be smaller than {stop['difference']:g}, at the level"
        f" {stop['alpha']:g} of a test that is valid at any time"
    ]
    if stop["futility"]:
        parts.append(
            f"from {FUTILITY_SHARE:.0%} of the cases on, when twice the plan would decide nothing"
        )
    if stop["usd"] is not None:
        parts.append(f"and before a stage that would take more than ${stop['usd']:,.2f}")
    return "; ".join(parts) + "."


ANALYSES.register("stopping")(Stopping())
