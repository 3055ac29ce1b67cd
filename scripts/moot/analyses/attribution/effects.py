"""The effects of the turns of a debate on its verdict, from transcripts of debates judged again."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from operator import itemgetter

import numpy as np
import pandas as pd

from moot.analyses.attribution.protocol import ATTRIBUTED, ATTRIBUTION
from moot.analyses.attribution.replays import NO_TURN
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
from moot.stats.arrays import as_numbers
from moot.stats.differences import Difference, Sums, compare_unpaired
from moot.stats.intervals import LEVEL
from moot.stats.paired import holm
from moot.stats.statistic import SHARE

MEASURED = ("effect", "low", "high", "floor", "moved")
DEBATE = ("model", "debate_id", "case_id", "repeat")
_TURN = ("turn", "place", "speaker", "phase", "verdict")
_EFFECT = ("before", "after", "effect", "low", "high", "p", "floor", "moved")
_ANSWERS = ("invalid", "exact")
COLUMNS = [*DEBATE, *_TURN, *_EFFECT, *_ANSWERS]
Values = Sequence[float]
NAN = float("nan")


def estimate_effect(unchanged: Values, changed: Values, *, exact: bool) -> Difference:
    """Return the probability of the verdict without a change, that with it, and their difference.

    The values are the probability of the verdict in each answer. An exact effect has no interval
    and no p.
    """
    if not exact:
        return _sampled_effect(tuple(sorted(unchanged)), tuple(sorted(changed)))
    first, second = float(np.mean(unchanged)), float(np.mean(changed))
    return Difference(first, second, first - second, NAN, NAN, NAN, len(unchanged), len(unchanged))


@cache
def _sampled_effect(unchanged: tuple[float, ...], changed: tuple[float, ...]) -> Difference:
    clusters = range(len(unchanged)), range(len(unchanged), len(unchanged) + len(changed))
    comparison = compare_unpaired(_sums(unchanged), _sums(changed), *clusters, SHARE)
    if not {*unchanged, *changed} <= {0, 1}:
        return comparison
    from scipy.stats import fisher_exact  # registries are read at every start of Snakemake

    counts = np.array([[values.count(1), values.count(0)] for values in (unchanged, changed)])
    return replace(comparison, p=float(fisher_exact(counts).pvalue))


def _sums(values: Values) -> Sums:
    column = as_numbers(values)[:, None]
    return Sums(column, np.ones_like(column))


def noise_floor(unchanged: Values, times: int, *, exact: bool) -> float:
    """Return the distance within which a mean of some answers lies from the mean of all answers.

    It holds in 95 of 100 cases.

    All answers are about the unchanged debate. If they all agree, half an answer is added for each
    outcome (Jeffreys' prior), so that a difference by chance does not seem impossible.

    Args:
        unchanged: The verdict's probability in each answer about the unchanged debate.
        times: The number of answers about a changed debate.
        exact: Whether the answers are log-probabilities.
    """
    values = as_numbers(unchanged)
    if exact:
        return float(np.ptp(values))
    from scipy.special import stdtrit  # registries are read at every start of Snakemake

    count = len(values)
    is_binary = bool(np.isin(values, (0, 1)).all())
    if is_binary:
        share = (values.sum() + 0.5) / (count + 1)
        variance = float(share * (1 - share))
    else:
        variance = float(values.var(ddof=1))
    quantile = float(stdtrit(max(1, count - 1), (1 + LEVEL) / 2))
    return min(1.0, quantile * float(np.sqrt(variance * (1 / count + 1 / max(1, times)))))


def moved_verdict(
    effects: Sequence[Difference], floors: Sequence[float], smallest: float
) -> list[bool]:
    """Return for each change of a debate whether it moved the judge.

    A moving effect is beyond its floor, at least `min_effect`, and significant after Holm's
    correction.
    """
    corrected = holm([effect.p for effect in effects])
    moved = []
    for effect, floor, p in zip(effects, floors, corrected, strict=True):
        is_large = abs(effect.difference) > floor and abs(effect.difference) >= smallest
        moved.append(is_large and not p >= 1 - LEVEL)  # an exact effect has no p
    return moved


def turn_effects(results: ExperimentResults) -> pd.DataFrame:
    """Return a row for each turn of a debate that was judged with and without it.

    Columns: model, debate_id, case_id, repeat; turn (of the recorded debate), place (of the turn,
    from 1), speaker, phase, verdict; before, after, effect, low, high, p (see `estimate_effect`);
    floor, moved (see `estimates`); invalid (the number of unusable answers); exact.
    """
    smallest = results.config.params["min_effect"]
    transcripts = results.transcripts
    notes = transcripts[transcripts["kind"] == ATTRIBUTED][[*DEBATE, "parsed"]]
    rows: list[JsonObject] = []
    for key, debate_rows in groupby(notes.to_dict("records"), itemgetter(*DEBATE)):
        debate = dict(zip(DEBATE, key, strict=True))
        debate_notes = [json.loads(row["parsed"]) for row in debate_rows]
        rows += [{**debate, **row} for row in _debate_effects(debate_notes, smallest)]
    return pd.DataFrame(rows, columns=COLUMNS)


def _debate_effects(notes: Sequence[JsonObject], smallest: float) -> Iterator[JsonObject]:
    """Yield the effect of each turn of a debate; all of them are tested together."""
    unchanged = next((note for note in notes if note["turn"] == NO_TURN), None)
    if unchanged is None or not unchanged["values"] or not unchanged["verdict"]:
        return
    turns = [note for note in notes if note["turn"] != NO_TURN and note["values"]]
    effects, floors = [], []
    for note in turns:
        is_exact = unchanged["exact"] and note["exact"]
        effects.append(estimate_effect(unchanged["values"], note["values"], exact=is_exact))
        floors.append(noise_floor(unchanged["values"], len(note["values"]), exact=is_exact))
    moved = moved_verdict(effects, floors, smallest)
    for note, effect, floor, is_moved in zip(turns, effects, floors, moved, strict=True):
        yield {
            **note,
            "before": effect.first,
            "after": effect.second,
            "effect": effect.difference,
            "low": effect.low,
            "high": effect.high,
            "p": effect.p,
            "floor": floor,
            "moved": is_moved,
        }


class AttributedEffects(TurnEffectSource):
    """The effects of removed turns."""

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
        by_place: dict[TurnPlace, JsonObject] = {}
        for row in records(turn_effects(results)):
            values = [row[name] for name in MEASURED]
            fields = dict(zip(EXPORTED_FIELDS, values, strict=True))
            by_place[row["model"], row["debate_id"], row["place"]] = fields
        return by_place


def _add_effects(study: StudyEffects, results: ExperimentResults) -> None:
    """Add the effects of an experiment to the effects of its study."""
    effects, params = turn_effects(results), results.config.params
    for row in records(effects):
        source_model = params["source_model"].format(model=row["model"])
        name = (params["source_experiment"], source_model, row["debate_id"])
        debate = study.debates.setdefault(name, DebateEffects())
        effect: Fields = {part: None if row[part] != row[part] else row[part] for part in MEASURED}
        judge = results.config.name_of(row["model"])
        debate.turns.setdefault(row["turn"], []).append(
            {**effect, "judge": judge, "verdict": row["verdict"]}
        )


TURN_EFFECTS.register(ATTRIBUTION)(AttributedEffects())
