"""From the transcripts of debates judged again to what each of their turns did."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter

import pandas as pd

from moot.core.kinds import ATTRIBUTED
from moot.core.types import Fields, JsonObject
from moot.protocols.attribution import STATED
from moot.protocols.replayed import (
    CONTINUED,
    CONTINUED_UNCHANGED,
    REMOVED,
    REPLACED,
    UNCHANGED,
    WAYS_OF_ONE_TURN,
)
from moot.scores.results import ExperimentResults
from moot.stats.attribution import Effect, estimate_effect, moved_verdict, noise_floor

EVEN = 0.5
MEASURED = ("effect", "low", "high", "floor", "moved")
EFFECT = ("effect", "effect_low", "effect_high", "effect_floor", "effect_moved")
DEBATE = ("model", "debate_id", "case_id", "repeat")


def turn_effects(results: ExperimentResults) -> pd.DataFrame:
    """One row a change of a debate that was judged with and without it.

    Columns: model, debate_id, case_id, repeat; way (removed, replaced, reordered, sentence,
    continued), turn (of the debate as it was held; 0 of an order), number (of the order or
    sentence), place (of the turn, from 1), speaker, phase, quote, verdict; before, after, effect,
    low, high, p (as `Effect`); floor, moved (`moot.stats.attribution`); whole, changed (each
    answer's probability of the verdict, lists); invalid (answers that could not be used); exact.
    """
    rows = [
        row
        for about, noted in _noted(results)
        for row in _debate(about, noted, results.config.params["smallest"])
    ]
    columns = [
        *DEBATE,
        "way",
        "turn",
        "number",
        "place",
        "speaker",
        "phase",
        "quote",
        "verdict",
        "before",
        "after",
    ]
    columns += [
        "effect",
        "low",
        "high",
        "p",
        "floor",
        "moved",
        "whole",
        "changed",
        "invalid",
        "exact",
    ]
    return pd.DataFrame(rows, columns=columns)


def turns_without_donor(results: ExperimentResults, model: str) -> list[JsonObject]:
    """The turns that were not replaced, as no other debate has one to put in their place; columns
    of `turn_effects`.
    """
    noted = [
        {**about, **note}
        for about, some in _noted(results)
        for note in some
        if about["model"] == model
    ]
    return [
        note
        for note in noted
        if note["way"] == REPLACED and not note["values"] and not note["invalid"]
    ]


def stated_turns(results: ExperimentResults) -> Mapping[tuple[str, str], list[int]]:
    """The turns that the judge calls decisive, by model and debate_id."""
    return {
        (about["model"], about["debate_id"]): [
            noted["turn"] for noted in some if noted["way"] == STATED
        ]
        for about, some in _noted(results)
    }


def _noted(results: ExperimentResults) -> Iterator[tuple[Fields, list[JsonObject]]]:
    """What was noted of each debate, in order."""
    said = results.transcripts
    rows = said[said["kind"] == ATTRIBUTED][[*DEBATE, "parsed"]].to_dict("records")
    for key, some in groupby(rows, itemgetter(*DEBATE)):
        yield dict(zip(DEBATE, key, strict=True)), [json.loads(row["parsed"]) for row in some]


def _debate(about: Fields, noted: list[JsonObject], smallest: float) -> Iterator[JsonObject]:
    whole = next((note for note in noted if note["way"] == UNCHANGED), None)
    if whole is None or not whole["values"] or not whole["verdict"]:
        return
    kept = {note["turn"]: note for note in noted if note["way"] == CONTINUED_UNCHANGED}
    changed = (
        note for note in noted if note["way"] not in (UNCHANGED, CONTINUED_UNCHANGED, STATED)
    )
    for _, some in groupby(sorted(changed, key=_tested_with), _tested_with):
        pairs = [(kept[note["turn"]] if note["way"] == CONTINUED else whole, note) for note in some]
        tried = [
            (one, note, one["exact"] and note["exact"])
            for one, note in pairs
            if one["values"] and note["values"]
        ]
        found = [
            estimate_effect(one["values"], note["values"], exact=exact)
            for one, note, exact in tried
        ]
        floors = [
            noise_floor(one["values"], len(note["values"]), exact=exact)
            for one, note, exact in tried
        ]
        moved = moved_verdict(found, floors, smallest)
        for (one, note, _), effect, floor, is_moved in zip(
            tried, found, floors, moved, strict=True
        ):
            measured = {name: getattr(effect, name) for name in Effect.__dataclass_fields__}
            told = {
                "changed": note["values"],
                "whole": one["values"],
                "floor": floor,
                "moved": is_moved,
            }
            yield {**about, **note, **measured, **told}


def _tested_with(note: Fields) -> str:
    """With which other changes of its debate one is tested: a turn, in whatever way it was changed,
    with all turns.
    """
    return "" if note["way"] in WAYS_OF_ONE_TURN else note["way"]


def effects_by_place(results: ExperimentResults) -> dict[tuple[str, str, int], JsonObject]:
    """What taking each turn out did, as exports name it (`EFFECT`), by model, debate_id and place."""
    effects = turn_effects(results)
    rows = effects[effects["way"] == REMOVED].to_dict("records")
    return {
        (row["model"], row["debate_id"], row["place"]): dict(
            zip(EFFECT, (row[name] for name in MEASURED), strict=True)
        )
        for row in rows
    }


def rests_on_one(effects: pd.DataFrame) -> "pd.Series[bool]":
    """Of each debate, by model and debate_id, whether its verdict rests on one turn: of those that
    are taken out one alone is called moved, and without it the verdict is not the likelier one.
    """
    removed = effects[effects["way"] == REMOVED]
    by_debate = [removed["model"], removed["debate_id"]]
    named = removed["moved"].astype(bool).groupby(by_debate).sum()
    tipped = (removed["moved"].astype(bool) & (removed["after"] < EVEN)).groupby(by_debate).sum()
    return (named == 1) & (tipped == 1)
