"""From transcripts to predictions: one row a case and repeat, what it took, and thresholds fitted on validation."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from moot.core.artifacts import describe, read_cases, write_rows
from moot.core.cases import Case, Task
from moot.core.kinds import CONCLUSION
from moot.core.likelihood import calibrate
from moot.llm.exports import calls_row
from moot.llm.ledger import Ledger
from moot.stages.plan import Plan


def export_calls(ledger: Ledger, transcripts: Sequence[Path], output: Path, metadata: Mapping[str, str]) -> None:
    """Write every call that some transcripts rest on, in the order of its first use (columns: the calls schema)."""
    call_ids: dict[str, None] = {}
    for path in transcripts:
        column = pq.read_table(path, columns=["call_id"]).column("call_id").to_pylist()
        call_ids.update(dict.fromkeys(call_id for call_id in column if call_id))

    def rows(batch: int = 500) -> Iterable[dict[str, Any]]:
        ordered = list(call_ids)
        for start in range(0, len(ordered), batch):
            found = {entry.call_id: entry for entry in ledger.entries(ordered[start : start + batch])}
            yield from (calls_row(found[key]) for key in ordered[start : start + batch] if key in found)

    write_rows(output, "calls", rows(), metadata)


def debate_costs(transcripts: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """What each debate took: calls, retries, tokens, seconds, US dollars, indexed by debate_id.

    A call that failed for good counts as one retry, so that its debate is among those that had trouble, and costs what
    its attempts cost.
    """
    used = transcripts.loc[transcripts["call_id"].fillna("") != "", ["debate_id", "call_id"]].drop_duplicates()
    joined = used.merge(calls, on="call_id")
    joined["retries"] = joined["attempts"] - 1
    sums = ["retries", "prompt_tokens", "completion_tokens", "cached_tokens", "seconds", "cost_usd"]
    totals = joined.groupby("debate_id")[sums].sum()
    totals["calls"] = joined.groupby("debate_id").size()
    failed = transcripts[transcripts["parse_status"] == "failed"]
    paid = [json.loads(parsed).get("cost_usd", 0.0) for parsed in failed["parsed"]]
    totals = totals.reindex(transcripts["debate_id"].unique(), fill_value=0)
    totals["retries"] = totals["retries"].add(failed.groupby("debate_id").size(), fill_value=0).astype(int)
    totals["cost_usd"] = totals["cost_usd"].add(
        pd.Series(paid, failed["debate_id"]).groupby(level=0).sum(), fill_value=0
    )
    return totals


def versions_served(transcripts: pd.DataFrame, calls: pd.DataFrame) -> dict[str, list[tuple[str, str]]]:
    """By debate: which version of which model served it, as far as the server says (model, fingerprint, provider)."""
    said = calls[["served_model", "system_fingerprint", "provider"]].fillna("").itertuples(index=False, name=None)
    versions = [", ".join(filter(None, names)) for names in said]
    by_call = dict(zip(calls["call_id"], zip(calls["model"], versions, strict=True), strict=True))
    served: dict[str, set[tuple[str, str]]] = {}
    for debate_id, call_id in zip(transcripts["debate_id"], transcripts["call_id"], strict=True):
        if call_id in by_call and by_call[call_id][1]:
            served.setdefault(debate_id, set()).add(by_call[call_id])
    return {debate_id: sorted(found) for debate_id, found in served.items()}


def prediction_rows(
    transcripts: pd.DataFrame, calls: pd.DataFrame, cases: Sequence[Case], task: Task, split: str
) -> Iterable[dict[str, Any]]:
    """The rows of `predictions/{experiment}/{model}.parquet`: evaluated cases, in the order of the transcripts."""
    by_id = {case.case_id: case for case in cases}
    conclusions = transcripts[transcripts["kind"] == CONCLUSION].copy()
    outcome = [json.loads(parsed) for parsed in conclusions["parsed"]]
    conclusions["status"] = [entry["status"] for entry in outcome]
    conclusions["reason"] = [entry.get("reason", "") for entry in outcome]
    conclusions["score"] = [entry["score"] for entry in outcome]
    conclusions["logprobs"] = pd.Series([entry.get("logprobs") for entry in outcome], conclusions.index, dtype=object)
    splits = {case_id: case.split for case_id, case in by_id.items()}
    targets = {case_id: case.target for case_id, case in by_id.items()}
    conclusions = calibrate(conclusions, splits, targets, task)
    costs, served = debate_costs(transcripts, calls), versions_served(transcripts, calls)
    for row in conclusions.to_dict("records"):
        if splits[row["case_id"]] != split:
            continue
        cost = costs.loc[row["debate_id"]]
        counts = {name: int(cost[name]) for name in _COUNTS}
        yield {
            "experiment": row["experiment"],
            "model": row["model"],
            "case_id": row["case_id"],
            "repeat": row["repeat"],
            "prediction": row["prediction"] if pd.notna(row["prediction"]) else None,
            "confidence": row["confidence"],
            "score": row["score"],
            "probability": row["probability"],
            "status": row["status"],
            "reason": row["reason"],
            "target": targets[row["case_id"]],
            "seconds": float(cost["seconds"]),
            "cost_usd": float(cost["cost_usd"]),
            **counts,
            "served_by": served.get(row["debate_id"], []),
        }


_COUNTS = ("calls", "retries", "prompt_tokens", "completion_tokens", "cached_tokens")


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
    metadata = describe(experiment, [cases_path, *shards], **digests)
    ledger = Ledger(plan.config.ledger)
    export_calls(ledger, shards, calls, describe(experiment, shards, **digests))
    ledger.close()
    named = ["experiment", "model", "debate_id", "case_id", "repeat", "kind"]
    said_columns = [*named, "parsed", "parse_status", "prediction", "confidence", "probability", "call_id"]
    said = pd.concat([pq.read_table(shard, columns=said_columns).to_pandas() for shard in shards])
    taken = ["call_id", "model", "served_model", "system_fingerprint", "provider"]
    taken += ["attempts", "prompt_tokens", "completion_tokens", "cached_tokens", "seconds", "cost_usd"]
    cases, task = read_cases(cases_path)
    called = pq.read_table(calls, columns=taken).to_pandas()
    split = plan.experiments[experiment].config.split
    write_rows(
        output, "predictions", prediction_rows(said.reset_index(drop=True), called, cases, task, split), metadata
    )
