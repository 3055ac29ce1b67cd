"""The effects of the turns of a debate on its verdict, from transcripts of debates judged again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

import pandas as pd

from moot.analyses.attribution.estimates import Effect, estimate_effect, moved_verdict, noise_floor
from moot.analyses.attribution.protocol import ATTRIBUTED, ATTRIBUTION, NAMED_DECISIVE
from moot.analyses.attribution.replays import (
    CONTINUED,
    CONTINUED_UNCHANGED,
    REMOVED,
    REPLACED,
    SENTENCE,
    UNCHANGED,
    WAYS_OF_ONE_TURN,
)
from moot.core.types import Fields, JsonObject
from moot.report.debate_texts import records
from moot.report.turn_effects import (
    EXPORTED_FIELDS,
    TURN_EFFECTS,
    DebateEffects,
    StudyEffects,
    TurnEffectSource,
    TurnPlace,
)
from moot.scores.results import ExperimentResults

EVEN = 0.5
MEASURED = ("effect", "low", "high", "floor", "moved")
DEBATE = ("model", "debate_id", "case_id", "repeat")
_CHANGE = ("way", "turn", "number", "place", "speaker", "phase", "quote", "verdict")
_EFFECT = ("before", "after", "effect", "low", "high", "p", "floor", "moved")
_ANSWERS = ("whole", "changed", "invalid", "exact")
COLUMNS = [*DEBATE, *_CHANGE, *_EFFECT, *_ANSWERS]


def turn_effects(results: ExperimentResults) -> pd.DataFrame:
    """Return a row for each change of a debate that was judged with and without it.

    Columns: model, debate_id, case_id, repeat; way (removed, replaced, reordered, sentence,
    continued), turn (of the recorded debate; 0 of an order), number (of the order or sentence),
    place (of the turn, from 1), speaker, phase, quote, verdict; before, after, effect, low, high, p
    (see `Effect`); floor, moved (see `estimates`); whole, changed (each answer's probability of the
    verdict, lists); invalid (the number of unusable answers); exact.
    """
    smallest = results.config.params["min_effect"]
    rows: list[JsonObject] = []
    for debate, notes in _notes_by_debate(results):
        rows += _debate_effects(debate, notes, smallest)
    return pd.DataFrame(rows, columns=COLUMNS)


def turns_without_donor(results: ExperimentResults, model: str) -> list[JsonObject]:
    """Return the turns that were not replaced because no other debate has a replacement.

    The keys are columns of `turn_effects`.
    """
    turns: list[JsonObject] = []
    for debate, notes in _notes_by_debate(results):
        if debate["model"] == model:
            turns += [{**debate, **note} for note in notes if _is_without_donor(note)]
    return turns


def _is_without_donor(note: Fields) -> bool:
    return note["way"] == REPLACED and not note["values"] and not note["invalid"]


def decisive_turns_by_debate(results: ExperimentResults) -> Mapping[tuple[str, str], list[int]]:
    """Return the turns that the judge calls decisive, by model and debate_id."""
    turns: dict[tuple[str, str], list[int]] = {}
    for debate, notes in _notes_by_debate(results):
        decisive_turns = [note["turn"] for note in notes if note["way"] == NAMED_DECISIVE]
        turns[debate["model"], debate["debate_id"]] = decisive_turns
    return turns


def _notes_by_debate(results: ExperimentResults) -> Iterator[tuple[Fields, list[JsonObject]]]:
    """Yield the notes about the changes of each debate, in order."""
    transcripts = results.transcripts
    notes = transcripts[transcripts["kind"] == ATTRIBUTED]
    rows = notes[[*DEBATE, "parsed"]].to_dict("records")
    for key, debate_rows in groupby(rows, itemgetter(*DEBATE)):
        debate = dict(zip(DEBATE, key, strict=True))
        yield debate, [json.loads(row["parsed"]) for row in debate_rows]


def _debate_effects(
    debate: Fields, notes: Sequence[JsonObject], smallest: float
) -> Iterator[JsonObject]:
    """Yield the effect of each change of a debate."""
    unchanged = next((note for note in notes if note["way"] == UNCHANGED), None)
    if unchanged is None or not unchanged["values"] or not unchanged["verdict"]:
        return
    references: dict[int, JsonObject] = {}
    changes: list[JsonObject] = []
    for note in notes:
        if note["way"] == CONTINUED_UNCHANGED:
            references[note["turn"]] = note
        elif note["way"] not in (UNCHANGED, NAMED_DECISIVE):
            changes.append(note)
    for _, group in groupby(sorted(changes, key=_test_family), _test_family):
        pairs = []
        for note in group:
            reference = references[note["turn"]] if note["way"] == CONTINUED else unchanged
            if reference["values"] and note["values"]:
                pairs.append((reference, note))
        for row in _family_effects(pairs, smallest):
            yield {**debate, **row}


def _family_effects(
    pairs: Sequence[tuple[JsonObject, JsonObject]], smallest: float
) -> Iterator[JsonObject]:
    """Yield the effects of changes that are tested together, each from notes without and
    with it.
    """
    effects: list[Effect] = []
    floors: list[float] = []
    for reference, note in pairs:
        is_exact = reference["exact"] and note["exact"]
        effects.append(estimate_effect(reference["values"], note["values"], exact=is_exact))
        floors.append(noise_floor(reference["values"], len(note["values"]), exact=is_exact))
    moved = moved_verdict(effects, floors, smallest)
    for (reference, note), effect, floor, is_moved in zip(
        pairs, effects, floors, moved, strict=True
    ):
        yield {
            **note,
            "before": effect.unchanged_mean,
            "after": effect.changed_mean,
            "effect": effect.effect,
            "low": effect.low,
            "high": effect.high,
            "p": effect.p,
            "changed": note["values"],
            "whole": reference["values"],
            "floor": floor,
            "moved": is_moved,
        }


def _test_family(note: Fields) -> str:
    """Return which changes of its debate a change is tested with.

    The changes of single turns are tested together, whatever the way.
    """
    return "" if note["way"] in WAYS_OF_ONE_TURN else str(note["way"])


def rests_on_one(effects: pd.DataFrame) -> "pd.Series[bool]":
    """Return whether each debate's verdict depends on one turn, by model and debate_id.

    It does if exactly one removed turn is called moved, and the verdict is not the likelier one
    without it.
    """
    removed = effects[effects["way"] == REMOVED]
    by_debate = [removed["model"], removed["debate_id"]]
    is_moved = removed["moved"].astype(bool)
    moved_turns = is_moved.groupby(by_debate).sum()
    decisive_turns = (is_moved & (removed["after"] < EVEN)).groupby(by_debate).sum()
    return (moved_turns == 1) & (decisive_turns == 1)


class AttributedEffects(TurnEffectSource):
    """The effects of removed turns and sentences."""

    def measure_study(self, experiments: Mapping[str, ExperimentResults]) -> StudyEffects:
        """Return the effects by the debates of a study that were judged again."""
        study = StudyEffects()
        for name in sorted(experiments):
            results = experiments[name]
            is_shown = results.config.params.get("source_experiment") in experiments
            if is_shown and results.config.protocol == ATTRIBUTION:
                study.measured_by.add(name)
                _add_effects(study, results)
        return study

    def measure_experiment(self, results: ExperimentResults) -> Mapping[TurnPlace, JsonObject]:
        """Return the effect of removing each turn."""
        if results.config.protocol != ATTRIBUTION:
            return {}
        effects = turn_effects(results)
        by_place: dict[TurnPlace, JsonObject] = {}
        for row in effects[effects["way"] == REMOVED].to_dict("records"):
            values = [row[name] for name in MEASURED]
            fields = dict(zip(EXPORTED_FIELDS, values, strict=True))
            by_place[row["model"], row["debate_id"], row["place"]] = fields
        return by_place


def _add_effects(study: StudyEffects, results: ExperimentResults) -> None:
    """Add the effects of an experiment to the effects of its study."""
    effects, params = turn_effects(results), results.config.params
    on_one_turn = rests_on_one(effects)
    for row in records(effects[effects["way"].isin((REMOVED, SENTENCE))]):
        source_model = params["source_model"].format(model=row["model"])
        name = (params["source_experiment"], source_model, row["debate_id"])
        debate = study.debates.setdefault(name, DebateEffects())
        debate.rests_on_one_turn |= bool(on_one_turn.get((row["model"], row["debate_id"])))
        effect = {part: None if row[part] != row[part] else row[part] for part in MEASURED}
        effect["judge"] = results.config.name_of(row["model"])
        effect["quote"], effect["verdict"] = row["quote"], row["verdict"]
        debate.turns.setdefault(row["turn"], []).append(effect)


TURN_EFFECTS.register(ATTRIBUTION)(AttributedEffects())
