"""From transcripts to predictions: one row a case and repeat, what it took, and thresholds fitted
on validation.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from moot.core.artifacts import describe, read_cases, read_frame, write_rows
from moot.core.cases import Case, Task
from moot.core.experiment_config import RECORDED
from moot.core.kinds import CONCLUSION
from moot.core.likelihood import calibrate
from moot.core.schemas import JUDGED
from moot.core.types import JsonObject
from moot.llm.ledger.database import portions
from moot.llm.ledger.exports import calls_row
from moot.llm.ledger.ledger import Ledger
from moot.plan.plan import Plan


class Debated:
    """What the predictions of a model rest on, gathered from one shard of transcripts after the
    other.

        Args:
            ledger: the calls.
            shards: the model's transcripts, in the order of shards; a debate is in one of them.

        Attributes:
            conclusions: one frame a shard, the rows of kind `conclusion`.
            costs: by debate_id, as `debate_costs`.
            served: by debate_id, as `versions_served`.
    """

    def __init__(self, ledger: Ledger, shards: Sequence[Path]) -> None:
        self._ledger, self._shards = ledger, shards
        self.conclusions: list[pd.DataFrame] = []
        self.costs: dict[str, dict[str, float]] = {}
        self.served: dict[str, list[tuple[str, str]]] = {}

    def calls(self) -> Iterator[JsonObject]:
        """Every call that the transcripts rest on, in the order of its first use: rows of the calls
        schema.

                When all have been read, so have the attributes.
        """
        given: set[bytes] = set()
        for shard in self._shards:
            said = read_frame(shard, _SAID)
            mine = []
            for row in self._calls_of(said):
                mine.append({name: row[name] for name in _TAKEN})
                key = bytes.fromhex(row["call_id"])
                if key not in given:
                    given.add(key)
                    yield row
            called = pd.DataFrame(mine, columns=_TAKEN)
            costs: Any = debate_costs(said, called).to_dict("index")
            self.costs.update(costs)
            self.served.update(versions_served(said, called))
            self.conclusions.append(said[said["kind"] == CONCLUSION])

    def _calls_of(self, said: pd.DataFrame) -> Iterator[JsonObject]:
        for some in portions(dict.fromkeys(filter(None, said["call_id"]))):
            found = {entry.call_id: entry for entry in self._ledger.entries(some)}
            yield from (calls_row(found[key]) for key in some if key in found)


_SAID = [
    "experiment",
    "model",
    "debate_id",
    "case_id",
    "repeat",
    "turn",
    "speaker",
    "kind",
    "text",
    "source",
]
_SAID += [
    "parsed",
    "parse_status",
    "prediction",
    "confidence",
    "probability",
    "call_id",
    "missing_fields",
]
_TAKEN = ["call_id", "model", "served_model", "system_fingerprint", "provider"]
_TAKEN += ["attempts", "prompt_tokens", "completion_tokens", "cached_tokens", "seconds", "cost_usd"]


def _conclusions(said: pd.DataFrame) -> pd.DataFrame:
    conclusions = said[said["kind"] == CONCLUSION].copy()
    outcome = [json.loads(parsed) for parsed in conclusions["parsed"]]
    conclusions["status"] = [entry["status"] for entry in outcome]
    conclusions["reason"] = [entry.get("reason", "") for entry in outcome]
    for name in JUDGED:
        conclusions[name] = pd.Series(
            [entry.get(name) for entry in outcome], conclusions.index, dtype=object
        )
    conclusions["score"] = pd.Series(
        [entry["score"] for entry in outcome], conclusions.index, dtype=float
    )
    conclusions["logprobs"] = pd.Series(
        [entry.get("logprobs") for entry in outcome], conclusions.index, dtype=object
    )
    return conclusions.drop(columns=["parsed", "call_id", "parse_status", "kind", "text"])


def debate_costs(transcripts: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """What each debate took: calls, retries, tokens, seconds, US dollars, indexed by debate_id.

    A call that failed for good counts as one retry, so that its debate is among those that had
    trouble, and costs what its attempts cost.
    """
    used = transcripts.loc[
        transcripts["call_id"].fillna("") != "", ["debate_id", "call_id"]
    ].drop_duplicates()
    joined = used.merge(calls, on="call_id")
    joined["retries"] = joined["attempts"] - 1
    sums = ["retries", "prompt_tokens", "completion_tokens", "cached_tokens", "seconds", "cost_usd"]
    totals = joined.groupby("debate_id")[sums].sum()
    totals["calls"] = joined.groupby("debate_id").size()
    failed = transcripts[transcripts["parse_status"] == "failed"]
    paid = [json.loads(parsed).get("cost_usd", 0.0) for parsed in failed["parsed"]]
    totals = totals.reindex(transcripts["debate_id"].unique(), fill_value=0)
    totals["retries"] = (
        totals["retries"].add(failed.groupby("debate_id").size(), fill_value=0).astype(int)
    )
    totals["cost_usd"] = totals["cost_usd"].add(
        pd.Series(paid, failed["debate_id"]).groupby(level=0).sum(), fill_value=0
    )
    return totals


def versions_served(
    transcripts: pd.DataFrame, calls: pd.DataFrame
) -> dict[str, list[tuple[str, str]]]:
    """By debate: which version of which model served it, as far as the server says (model,
    fingerprint, provider).
    """
    said = (
        calls[["served_model", "system_fingerprint", "provider"]]
        .fillna("")
        .itertuples(index=False, name=None)
    )
    versions = [", ".join(filter(None, names)) for names in said]
    by_call = dict(zip(calls["call_id"], zip(calls["model"], versions, strict=True), strict=True))
    served: dict[str, set[tuple[str, str]]] = {}
    for debate_id, call_id in zip(transcripts["debate_id"], transcripts["call_id"], strict=True):
        if call_id in by_call and by_call[call_id][1]:
            served.setdefault(debate_id, set()).add(by_call[call_id])
    return {debate_id: sorted(found) for debate_id, found in served.items()}


def prediction_rows(
    debated: Debated,
    cases: Sequence[Case],
    task: Task,
    split: str,
    recorded: bool = False,
) -> Iterable[JsonObject]:
    """The rows of `predictions/{experiment}/{model}.parquet`: evaluated cases, in the order of the
    transcripts.

        What recorded debates took is not known, and missing.
    """
    splits = {case.case_id: case.split for case in cases}
    targets = {case.case_id: case.target for case in cases}
    filled = [frame for frame in debated.conclusions if len(frame)] or debated.conclusions[:1]
    ended = pd.concat(filled, ignore_index=True)
    conclusions = calibrate(_conclusions(ended), splits, targets, task)
    for row in conclusions.to_dict("records"):
        if splits[row["case_id"]] != split:
            continue
        cost = debated.costs[row["debate_id"]]
        taken = {name: int(cost[name]) for name in _COUNTS} | {
            name: float(cost[name]) for name in _AMOUNTS
        }
        yield {
            **{str(name): value for name, value in row.items()},
            "target": targets[row["case_id"]],
            **(dict.fromkeys(taken) if recorded else taken),
            "served_by": debated.served.get(row["debate_id"], []),
            **{
                name: row[name] if pd.notna(row[name]) else None for name in ("prediction", *JUDGED)
            },
        }


_COUNTS = ("calls", "retries", "prompt_tokens", "completion_tokens", "cached_tokens")
_AMOUNTS = ("seconds", "cost_usd")


def write_predictions(
    plan: Plan,
    experiment: str,
    cases_path: Path,
    shards: Sequence[Path],
    output: Path,
    calls: Path,
    **digests: str,
) -> None:
    """Write an experiment's predictions and the calls that they rest on, for one model.

    Args:
        plan: the checked configuration.
        experiment: its name.
        cases_path: `cases/{dataset}.parquet`.
        shards: the model's transcripts, in the order of shards.
        output: `predictions/{experiment}/{model}.parquet`.
        calls: `calls/{experiment}/{model}.parquet`.
        digests: what the job was made with, for the artifacts' metadata.
    """
    cases, task = read_cases(cases_path)
    held = plan.experiments[experiment]
    with closing(Ledger(plan.config.ledger)) as ledger:
        debated = Debated(ledger, shards)
        write_rows(calls, "calls", debated.calls(), describe(experiment, shards, **digests))
    rows = prediction_rows(
        debated, cases, task, held.config.split, held.config.protocol == RECORDED
    )
    described = describe(experiment, [cases_path, *shards], **digests)
    write_rows(output, "predictions", rows, described)
