"""The checked passages of public statements, which the reader underlines and the table counts."""

from collections.abc import Iterator, Mapping

from moot.analyses.record_check.passages import QUOTATION, find_passages, statement_text
from moot.analyses.record_check.record import Match, Record
from moot.core.text_words import split_words
from moot.core.types import JsonObject
from moot.report.debate_texts import records
from moot.report.turn_effects import TURN_EFFECTS, DebateEffects, StudyEffects, TurnEffectSource
from moot.scores.results import ExperimentResults

NO_SOURCE = "no record: quotations come from a source that is not in the data"
PLATFORM_MARK = '"quoted_words"'
"""In `parsed` of a statement whose platform inserted its quotations from their source."""
FIELDS_OF_READER = ("text", "start", "result", "found_turn", "found_words")


class CheckedRecord(TurnEffectSource):
    """The checked quotations, authorities and figures of each turn."""

    def measure_study(self, experiments: Mapping[str, ExperimentResults]) -> StudyEffects:
        """Return the checked passages of all debates."""
        study = StudyEffects()
        for name, results in experiments.items():
            for model in results.config.models:
                for row in check_statements(results, model):
                    if row["result"] != NO_SOURCE:
                        debate_name = (name, model, row["debate_id"])
                        debate = study.debates.setdefault(debate_name, DebateEffects())
                        passage = {field: row[field] for field in FIELDS_OF_READER}
                        debate.passages.setdefault(row["turn"], []).append(passage)
        return study


TURN_EFFECTS.register("record_check")(CheckedRecord())


def check_statements(results: ExperimentResults, model: str) -> Iterator[JsonObject]:
    """Yield every passage of a model's public statements, looked up in the record.

    A row has the columns of the statement; kind, text and start of the passage; result (one of
    `record.RESULTS`, or `NO_SOURCE`), found_turn (0 for the case with its evidence, -1 for none)
    and found_words.
    """
    for part in results.public_statements(["round", "speaker", "parsed"], model):
        for _, statements in part.groupby("debate_id", sort=False):
            case = results.case_by_id[statements["case_id"].iloc[0]]
            yield from _check_debate(records(statements), case.text)


def _check_debate(statements: list[JsonObject], case_text: str) -> Iterator[JsonObject]:
    """Yield the passages of a debate. Their record is the case and what others said before."""
    record, turns = Record([case_text]), [0]
    for row in statements:
        text, speaker = statement_text(row["text"], row["parsed"]), row["speaker"]
        words = split_words(text)
        has_source = PLATFORM_MARK not in (row["parsed"] or "")
        for passage in find_passages(text):
            is_checked = has_source or passage.kind != QUOTATION
            match = record.check(passage, words, speaker) if is_checked else Match(NO_SOURCE)
            yield row | {
                "kind": passage.kind,
                "text": text[passage.start : passage.end],
                "start": passage.start,
                "result": match.result,
                "found_turn": turns[match.text_number] if match.words else -1,
                "found_words": match.words,
            }
        record.add(text, speaker)
        turns.append(row["turn"])
