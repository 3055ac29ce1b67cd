"""The checked passages of every debate, which the reader underlines."""

from collections.abc import Mapping

from moot.analyses.record_check.record import RESULTS
from moot.analyses.record_check.statements import check_statements
from moot.core.types import JsonObject
from moot.report.transcript_pages import records
from moot.report.turn_effects import (
    TURN_EFFECTS,
    DebateEffects,
    StudyEffects,
    TurnEffectSource,
    TurnPlace,
)
from moot.scores.results import ExperimentResults

MARK = ("text", "start", "result", "found_turn", "found_words")


class CheckedRecord(TurnEffectSource):
    """The checked quotations, authorities and figures of each turn."""

    def measure_study(self, experiments: Mapping[str, ExperimentResults]) -> StudyEffects:
        """Return the checked passages of all debates."""
        study = StudyEffects()
        for name, results in experiments.items():
            for model in results.config.models:
                passages, _ = check_statements(results, model)
                for row in records(passages):
                    if row["result"] in RESULTS:
                        key = (name, model, row["debate_id"])
                        debate = study.debates.setdefault(key, DebateEffects())
                        mark = {field: row[field] for field in MARK}
                        debate.passages.setdefault(row["turn"], []).append(mark)
        return study

    def measure_experiment(
        self,
        results: ExperimentResults,  # noqa: ARG002
    ) -> Mapping[TurnPlace, JsonObject]:
        """Return nothing, because exports hold only effects on verdicts."""
        return {}


TURN_EFFECTS.register("record_check")(CheckedRecord())
