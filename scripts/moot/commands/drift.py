"""`snakemake drift`: whether models still answer recorded calls as they did, beyond their own
spread.

Each of a fixed sample of recorded calls is asked twice now. Where the model is as it was, the
recorded reply R and the two new ones A and B are exchangeable, at any spread of its replies: A
differs from R alone as often as it differs from B alone. The exact sign test (McNemar's, scipy's
binomial) counts the calls where one of the two happened. It assumes that calls are independent
given the model; it does not assume that replies repeat. No sample shows that a model is the same:
every verdict names the smallest change that the sample would probably have shown.
"""

import asyncio
import datetime
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from moot.core.artifacts import atomic_path, read_frame
from moot.core.durable import write_whole
from moot.core.errors import CallFailedError, DebatePausedError, RunStoppedError, UserError
from moot.core.types import JsonObject
from moot.llm.chat import Chat, Settings, open_chats
from moot.llm.ledger.exports import entry_from_row
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.progress import Progress
from moot.llm.request import Reply, Request
from moot.plan.plan import Plan
from moot.report.escaping import csv_text, html
from moot.stats.bootstrap import DIFFERENCE, ClusterBootstrap, mean_statistic
from moot.stats.paired import holm

LEVEL = 0.05
POWER = 0.8
"""The probability with which the smallest change that a sample could have shown is shown."""
CHANGED, NOT_SHOWN, CANNOT_TELL = "changed", "no change shown", "cannot tell"
_SHARES = 100
_FIRST_REPLICATE = 1_000_000_000
"""Replicates from here on are of drift: two a day, so that a check is resumed on its day, and made
anew on another.
"""


@dataclass(frozen=True)
class Asked:
    """A recorded call and what two fresh replicates of it gave; None where a call failed."""

    recorded: Entry
    first: Reply | None
    second: Reply | None


def answer_of(request: Request, reply: Reply) -> str | None:
    """The answer in a reply: the likeliest word, or the fields that the schema lets choose from;
    None without one.
    """
    if request.choices:
        return (
            max(reply.logprobs, key=lambda word: reply.logprobs[word]) if reply.logprobs else None
        )
    try:
        found = json.loads(reply.text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    properties = (request.schema or {}).get("properties", {"prediction": {"enum": []}})
    chosen = {name: found.get(name) for name, kind in properties.items() if "enum" in kind}
    return json.dumps(chosen, sort_keys=True).casefold() if chosen else None


def _answer_distance(request: Request, one: Reply, other: Reply) -> float | None:
    answers = answer_of(request, one), answer_of(request, other)
    return None if None in answers else float(answers[0] != answers[1])


def _logprob_distance(request: Request, one: Reply, other: Reply) -> float | None:
    shared = [word for word in request.choices if word in one.logprobs and word in other.logprobs]
    return max((abs(one.logprobs[word] - other.logprobs[word]) for word in shared), default=None)


MEASURES: dict[str, Callable[[Request, Reply, Reply], float | None]] = {
    "texts": lambda _, one, other: float(one.text != other.text),
    "answers": _answer_distance,
    "log-probabilities": _logprob_distance,
}
_REPEATED = {"texts", "answers"}
"""Measures by which two replies are equal or not."""


def compare(model: str, asked: Sequence[Asked]) -> Iterator[JsonObject]:
    """One row a measure that the model's calls have: counts, and the p-value of the one-sided sign
    test.
    """
    from scipy.stats import binomtest

    whole = [(one, one.first, one.second) for one in asked if one.first and one.second]
    for measure, distance in MEASURES.items():
        pairs = []
        for one, first, second in whole:
            request = Request.from_json(one.recorded.request)
            to_recorded = distance(request, first, one.recorded.reply)
            to_second = distance(request, first, second)
            if to_recorded is not None and to_second is not None:
                pairs.append((to_recorded, to_second))
        if not pairs and measure != "texts":
            continue
        further = sum(recorded > second for recorded, second in pairs)
        nearer = sum(recorded < second for recorded, second in pairs)
        both = further + nearer
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
            **dict(zip(("beyond", "beyond_low", "beyond_high"), _beyond(pairs), strict=True)),
            "changed": further,
            "changed_back": nearer,
            "p": (
                float(binomtest(further, both, 0.5, alternative="greater").pvalue) if both else 1.0
            ),
            "failed": len(asked) - len(whole),
            "versions_recorded": _versions(one.recorded.reply for one in asked),
            "versions_now": _versions(reply for _, *replies in whole for reply in replies),
        }


def _beyond(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """How many more replies differ from the recorded ones than from a second draw, with its 95 %
    interval.
    """
    more = [float(recorded > 0) - float(second > 0) for recorded, second in pairs]
    return ClusterBootstrap(range(len(more)), 0).estimate(mean_statistic(more, DIFFERENCE))


def _versions(replies: Iterable[Reply]) -> str:
    said = {(reply.served_model, reply.provider, reply.system_fingerprint) for reply in replies}
    return "; ".join(sorted(", ".join(filter(None, names)) for names in said if any(names)))


def judge(rows: Iterable[JsonObject]) -> pd.DataFrame:
    """The rows of all models with p-values corrected by Holm, what each could have shown, and each
    model's verdict.
    """
    frame = pd.DataFrame(list(rows))
    frame["p_holm"] = holm(frame["p"].tolist())
    level = LEVEL / max(len(frame), 1)  # Holm's strictest step
    repeatable = frame["equal_now"].where(frame["measure"].isin(_REPEATED), 1.0)
    counted = zip(frame["calls"], repeatable, frame["changed_back"], strict=True)
    frame["smallest_change"] = [smallest_change(*one, level) for one in counted]
    for _, mine in frame.groupby("model"):
        changed, able = (mine["p_holm"] < LEVEL).any(), mine["smallest_change"].notna().any()
        frame.loc[mine.index, "verdict"] = (
            CHANGED if changed else NOT_SHOWN if able else CANNOT_TELL
        )
    return frame


def smallest_change(calls: int, repeatable: float, changed_back: int, level: float) -> float:
    """The smallest share of changed replies, in hundredths, that the sign test shows with the
    probability `POWER`.

        A changed reply is further from the recorded one than a second draw, where the two new draws
        are equal. The other replies are further or nearer by chance, as often as they were found
        nearer.

        Args:
            repeatable: the share whose two new replies are equal; 1 for distances, by which any
                change is further.
            changed_back: the calls where the first new reply was nearer to the recorded one.

        Returns:
            NaN where a change of all replies would not be shown.
    """
    from scipy.stats import binom

    if not calls or math.isnan(repeatable):
        return math.nan
    either = np.arange(calls + 1)  # how many calls differ one way or the other
    passing = (
        binom.isf(level, either, 0.5) + 1
    )  # the fewest `further` among them whose p is at most the level
    for hundredth in range(1, _SHARES + 1):
        share, chance = hundredth / _SHARES, changed_back / calls
        further, nearer = share * repeatable + (1 - share) * chance, (1 - share) * chance
        differ = min(1.0, further + nearer)
        if (
            differ
            and binom.pmf(either, calls, differ) @ binom.sf(passing - 1, either, further / differ)
            >= POWER
        ):
            return share
    return math.nan


def sample(plan: Plan, results: Path, most: int) -> dict[str, list[Entry]]:
    """By model: the recorded calls that are asked again, the same ones as long as the seed and the
    records are.
    """
    found: dict[str, dict[str, Entry]] = {}
    for experiment in plan.experiments.values():
        for model in experiment.config.models:
            path = results / "calls" / experiment.name / f"{model}.parquet"
            for row in read_frame(path).to_dict("records") if path.exists() else ():
                entry = entry_from_row({str(name): value for name, value in row.items()})
                if entry.model in plan.config.models:
                    found.setdefault(entry.model, {})[entry.call_id] = entry

    def place(entry: Entry) -> bytes:
        return hashlib.sha256(f"{plan.config.seed} {entry.call_id}".encode()).digest()

    return {
        model: sorted(entries.values(), key=place)[:most]
        for model, entries in sorted(found.items())
    }


async def ask_again(plan: Plan, model: str, entries: Sequence[Entry], day: int) -> list[Asked]:
    """Ask a model's sampled calls twice."""
    config = plan.config
    settings = Settings(config.replay, config.budget)
    progress = Progress(f"drift of {model}", len(entries), calls_a_debate=2)
    with closing(Ledger(config.ledger)) as ledger:
        async with open_chats({model: config.models[model]}, ledger, settings, progress) as chats:

            async def twice(entry: Entry) -> Asked:
                request = Request.from_json(entry.request)
                replicates = (_FIRST_REPLICATE + 2 * day, _FIRST_REPLICATE + 2 * day + 1)
                first, second = await asyncio.gather(
                    *(_reply(chats[model], request, nth) for nth in replicates)
                )
                return Asked(entry, first, second)

            return list(await asyncio.gather(*map(twice, entries)))


async def _reply(chat: Chat, request: Request, replicate: int) -> Reply | None:
    try:
        return (await chat.ask(request, replicate))[1]
    except CallFailedError:
        return None
    except DebatePausedError as pause:
        raise RunStoppedError(f"drift: {pause}. Run the same command again later today.") from None


def check_drift(plan: Plan, results: Path, day: int | None = None) -> pd.DataFrame:
    """Ask every model's sample again and judge: the columns of docs/drift.md, one row a model and
    measure.

        Args:
            plan: the checked configuration; `drift.calls` of each model are asked again.
            day: as `date.toordinal` counts; today by default. The same day asks for nothing twice.

        Raises:
            UserError: nothing is recorded.
    """
    chosen = sample(plan, results, plan.config.drift.calls)
    if not chosen:
        raise UserError(
            f"drift: {results / 'calls'} holds no call of this run's models. Run the experiments"
            " first."
        )
    today = datetime.datetime.now(datetime.UTC).date().toordinal() if day is None else day
    rows = [
        row
        for model, entries in chosen.items()
        for row in compare(model, asyncio.run(ask_again(plan, model, entries, today)))
    ]
    return judge(rows)


def write_drift(frame: pd.DataFrame, folder: Path) -> None:
    """Write `drift.csv` and `drift.html`."""
    shown = frame.map(_as_text)
    with atomic_path(folder / "drift.csv") as part:
        shown.map(csv_text).to_csv(part, index=False, lineterminator="\n")
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Drift</title>\n'
    write_whole(
        folder / "drift.html",
        f"{head}{shown.map(html).to_html(index=False, escape=False)}\n</html>\n",
    )


def _as_text(value: object) -> str:
    return (
        str(value) if not isinstance(value, float) else "" if math.isnan(value) else f"{value:.4g}"
    )
