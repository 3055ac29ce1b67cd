"""`snakemake drift`: whether models still answer recorded calls as before, beyond their own
variation.

A fixed sample of recorded calls is repeated twice. If the model is unchanged, the recorded reply R
and the new replies A and B are exchangeable, whatever the variation of its replies. Then A differs
only from R as often as only from B. The exact sign test (McNemar's, scipy's binomial) counts the
calls with one of the two differences. It assumes that calls are independent given the model; it
does not assume that replies repeat. No sample can show that a model is unchanged. Therefore every
verdict states the smallest change that the sample would probably have shown.
"""

import asyncio
import datetime
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from moot.core.artifacts import atomic_path, read_frame
from moot.core.durable import write_atomically
from moot.core.errors import CallFailedError, DebatePausedError, RunStoppedError, UserError
from moot.core.types import JsonObject
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.ledger.exports import entry_from_row
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Reply, Request
from moot.plan.plan import Plan
from moot.report.escaping import csv_text, html
from moot.stats.bootstrap import ClusterBootstrap
from moot.stats.paired import holm
from moot.stats.statistic import DIFFERENCE, mean_statistic

LEVEL = 0.05
POWER = 0.8
"""The power for the smallest change that a sample could have shown."""
CHANGED, NOT_SHOWN, CANNOT_TELL = "changed", "no change shown", "cannot tell"
_SHARES = 100
_FIRST_REPLICATE = 1_000_000_000
"""The first replicate number of drift calls.

Each day has two replicates, so that a check can be resumed on its day and repeated on another.
"""


@dataclass(frozen=True)
class RepeatedCall:
    """A recorded call with the results of two new replicates; None for a failed call."""

    recorded: Entry
    first: Reply | None
    second: Reply | None


def answer_of(request: Request, reply: Reply) -> str | None:
    """Return the answer in a reply, or None without one.

    It is the likeliest word, or the fields whose values the schema restricts to choices.
    """
    if request.choices:
        return (
            max(reply.logprobs, key=lambda word: reply.logprobs[word]) if reply.logprobs else None
        )
    try:
        value = json.loads(reply.text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    properties = (request.schema or {}).get("properties", {"prediction": {"enum": []}})
    answers = {name: value.get(name) for name, kind in properties.items() if "enum" in kind}
    return json.dumps(answers, sort_keys=True).casefold() if answers else None


def _answer_distance(request: Request, first: Reply, second: Reply) -> float | None:
    answers = answer_of(request, first), answer_of(request, second)
    return None if None in answers else float(answers[0] != answers[1])


def _logprob_distance(request: Request, first: Reply, second: Reply) -> float | None:
    shared = [
        word for word in request.choices if word in first.logprobs and word in second.logprobs
    ]
    return max((abs(first.logprobs[word] - second.logprobs[word]) for word in shared), default=None)


MEASURES: dict[str, Callable[[Request, Reply, Reply], float | None]] = {
    "texts": lambda _, first, second: float(first.text != second.text),
    "answers": _answer_distance,
    "log-probabilities": _logprob_distance,
}
_EXACT_MEASURES = {"texts", "answers"}
"""Measures by which two replies are either equal or not."""


def compare(model: str, calls: Sequence[RepeatedCall]) -> Iterator[JsonObject]:
    """Yield one row for each measure of a model's calls: counts, and the one-sided sign test's
    p.
    """
    from scipy.stats import binomtest

    complete_calls = [
        (call, call.first, call.second) for call in calls if call.first and call.second
    ]
    for measure, distance in MEASURES.items():
        pairs = []
        for call, first, second in complete_calls:
            request = Request.from_json(call.recorded.request)
            to_recorded = distance(request, first, call.recorded.reply)
            to_second = distance(request, first, second)
            if to_recorded is not None and to_second is not None:
                pairs.append((to_recorded, to_second))
        if not pairs and measure != "texts":
            continue
        further_count = sum(recorded > second for recorded, second in pairs)
        nearer_count = sum(recorded < second for recorded, second in pairs)
        untied_count = further_count + nearer_count
        repeated_replies = chain.from_iterable(replies for _, *replies in complete_calls)
        yield {
            "model": model,
            "verdict": "",
            "measure": measure,
            "calls": len(pairs),
            "equal_now": (
                sum(second == 0 for _, second in pairs) / len(pairs) if pairs else math.nan
            ),
            "equal_to_recorded": (
                sum(recorded == 0 for recorded, _ in pairs) / len(pairs) if pairs else math.nan
            ),
            **dict(
                zip(("beyond", "beyond_low", "beyond_high"), _excess_change(pairs), strict=True)
            ),
            "changed": further_count,
            "changed_back": nearer_count,
            "p": (
                float(binomtest(further_count, untied_count, 0.5, alternative="greater").pvalue)
                if untied_count
                else 1.0
            ),
            "failed": len(calls) - len(complete_calls),
            "versions_recorded": _versions(call.recorded.reply for call in calls),
            "versions_now": _versions(repeated_replies),
        }


def _excess_change(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """Return the excess change with its 95 % interval.

    It is the share of replies that differ from the recorded ones, minus the share that differ from
    a second new reply.
    """
    differences = [float(recorded > 0) - float(second > 0) for recorded, second in pairs]
    return ClusterBootstrap(range(len(differences)), 0).estimate(
        mean_statistic(differences, DIFFERENCE)
    )


def _versions(replies: Iterable[Reply]) -> str:
    versions = {(reply.served_model, reply.provider, reply.system_fingerprint) for reply in replies}
    return "; ".join(sorted(", ".join(filter(None, names)) for names in versions if any(names)))


def add_verdicts(rows: Iterable[JsonObject]) -> pd.DataFrame:
    """Return the rows of all models with corrected p-values and verdicts.

    The correction is Holm's. Each row also states the change that it could have shown.
    """
    frame = pd.DataFrame(list(rows))
    frame["p_holm"] = holm(frame["p"].tolist())
    level = LEVEL / max(len(frame), 1)  # Holm's strictest step
    repeatable = frame["equal_now"].where(frame["measure"].isin(_EXACT_MEASURES), 1.0)
    counts = zip(frame["calls"], repeatable, frame["changed_back"], strict=True)
    frame["smallest_change"] = [smallest_change(*row_counts, level) for row_counts in counts]
    for _, rows_of_model in frame.groupby("model"):
        has_changed, is_testable = (
            (rows_of_model["p_holm"] < LEVEL).any(),
            rows_of_model["smallest_change"].notna().any(),
        )
        frame.loc[rows_of_model.index, "verdict"] = (
            CHANGED if has_changed else NOT_SHOWN if is_testable else CANNOT_TELL
        )
    return frame


def smallest_change(calls: int, repeatable: float, changed_back: int, level: float) -> float:
    """Return the smallest share of changed replies that the sign test shows with the power `POWER`.

    It is rounded to hundredths.

    If the two new replies are equal, a changed reply is further from the recorded one. The other
    replies are further or nearer by chance, as often as they were nearer in the sample.

    Args:
        repeatable: the share of calls whose two new replies are equal; 1 for distances, for which
            any change is further.
        changed_back: the number of calls whose first new reply was nearer to the recorded one.

    Returns:
        NaN if even a change of all replies would not be shown.
    """
    from scipy.stats import binom

    if not calls or math.isnan(repeatable):
        return math.nan
    # the number of calls that differ in one direction or the other
    untied_counts = np.arange(calls + 1)
    min_further = (
        binom.isf(level, untied_counts, 0.5) + 1
    )  # the smallest `further` among them whose p is at most the level
    for hundredth in range(1, _SHARES + 1):
        share, chance = hundredth / _SHARES, changed_back / calls
        further_share, nearer_share = (
            share * repeatable + (1 - share) * chance,
            (1 - share) * chance,
        )
        untied_share = min(1.0, further_share + nearer_share)
        if (
            untied_share
            and binom.pmf(untied_counts, calls, untied_share)
            @ binom.sf(min_further - 1, untied_counts, further_share / untied_share)
            >= POWER
        ):
            return share
    return math.nan


def sample_calls(plan: Plan, results: Path, max_calls: int) -> dict[str, list[Entry]]:
    """Return by model the recorded calls to repeat.

    The sample stays the same as long as the seed and the records do.
    """
    entries_by_model: dict[str, dict[str, Entry]] = {}
    for experiment in plan.experiments.values():
        for model in experiment.config.models:
            path = results / "calls" / experiment.name / f"{model}.parquet"
            for row in read_frame(path).to_dict("records") if path.exists() else ():
                entry = entry_from_row({str(name): value for name, value in row.items()})
                if entry.model in plan.config.models:
                    entries_by_model.setdefault(entry.model, {})[entry.call_id] = entry

    def place(entry: Entry) -> bytes:
        return hashlib.sha256(f"{plan.config.seed} {entry.call_id}".encode()).digest()

    return {
        model: sorted(entries.values(), key=place)[:max_calls]
        for model, entries in sorted(entries_by_model.items())
    }


async def ask_again(
    plan: Plan, model: str, entries: Sequence[Entry], day: int
) -> list[RepeatedCall]:
    """Repeat a model's sampled calls twice."""
    config = plan.config
    settings = Settings(config.replay, config.budget)
    progress = Progress(f"drift of {model}", len(entries), calls_a_debate=2)
    with closing(Ledger(config.ledger)) as ledger:
        async with open_chats({model: config.models[model]}, ledger, settings, progress) as chats:

            async def ask_twice(entry: Entry) -> RepeatedCall:
                request = Request.from_json(entry.request)
                replicates = (_FIRST_REPLICATE + 2 * day, _FIRST_REPLICATE + 2 * day + 1)
                first, second = await asyncio.gather(
                    *(_reply(chats[model], request, nth) for nth in replicates)
                )
                return RepeatedCall(entry, first, second)

            return list(await asyncio.gather(*map(ask_twice, entries)))


async def _reply(chat: Chat, request: Request, replicate: int) -> Reply | None:
    try:
        return (await chat.ask(request, replicate))[1]
    except CallFailedError:
        return None
    except DebatePausedError as pause:
        raise RunStoppedError(f"drift: {pause}. Run the same command again later today.") from None


def check_drift(plan: Plan, results: Path, day: int | None = None) -> pd.DataFrame:
    """Repeat every model's sample and judge it: one row per model and measure.

    docs/drift.md describes the columns.

    Args:
        plan: the checked configuration; `drift.calls` calls of each model are repeated.
        day: as `date.toordinal` counts; today by default. Calls of the same day are not repeated.

    Raises:
        UserError: nothing is recorded.
    """
    sampled_calls = sample_calls(plan, results, plan.config.drift.calls)
    if not sampled_calls:
        raise UserError(
            f"drift: {results / 'calls'} holds no call of this run's models. Run the experiments"
            " first."
        )
    today = datetime.datetime.now(datetime.UTC).date().toordinal() if day is None else day
    rows: list[JsonObject] = []
    for model, entries in sampled_calls.items():
        rows += compare(model, asyncio.run(ask_again(plan, model, entries, today)))
    return add_verdicts(rows)


def write_drift(frame: pd.DataFrame, folder: Path) -> None:
    """Write `drift.csv` and `drift.html`."""
    texts = frame.map(_as_text)
    with atomic_path(folder / "drift.csv") as part:
        texts.map(csv_text).to_csv(part, index=False, lineterminator="\n")
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Drift</title>\n'
    write_atomically(
        folder / "drift.html",
        f"{head}{texts.map(html).to_html(index=False, escape=False)}\n</html>\n",
    )


def _as_text(value: object) -> str:
    return (
        str(value) if not isinstance(value, float) else "" if math.isnan(value) else f"{value:.4g}"
    )
