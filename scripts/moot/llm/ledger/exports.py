"""Ledger entries as rows of `calls/{experiment}/{model}.parquet`, and back: how replies travel to another machine."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.request import Reply

_REPLY_COLUMNS = (
    "finish_reason",
    "prompt_tokens",
    "completion_tokens",
    "cached_tokens",
    "seconds",
    "attempts",
    "cost_usd",
    "created_at",
    "served_model",
    "provider",
    "system_fingerprint",
    "service_tier",
    "response_id",
    "reasoning_tokens",
    "unlisted_logprob",
    "started_at",
    "ended_at",
    "unusable_tokens",
    "unusable_usd",
    "price",
)
"""Fields of a reply that are columns of the same name; files of earlier versions lack the last ones."""


def calls_row(entry: Entry) -> dict[str, Any]:
    """A ledger entry as a row of `calls/{experiment}/{model}.parquet`."""
    reply = entry.reply
    return {
        "call_id": entry.call_id,
        "model": entry.model,
        "request": entry.request,
        "replicate": entry.replicate,
        "reply": reply.text,
        "reasoning": reply.reasoning,
        "logprobs": json.dumps(dict(reply.logprobs), sort_keys=True) if reply.logprobs else "",
        **{name: getattr(reply, name) for name in _REPLY_COLUMNS},
    }


def entry_from_row(row: Mapping[str, Any]) -> Entry:
    """The ledger entry that `calls_row` made a row of."""
    reply = Reply(
        text=row["reply"],
        reasoning=row["reasoning"],
        logprobs=json.loads(row["logprobs"]) if row["logprobs"] else {},
        **{name: row[name] for name in _REPLY_COLUMNS if name in row},
    )
    return Entry(row["call_id"], row["model"], row["request"], row["replicate"], reply)


def import_calls(ledger: Ledger, rows: Iterable[Mapping[str, Any]], batch: int = 1000) -> int:
    """Store exported calls (rows of `calls/`); what the ledger already holds stays. Returns how many rows were read."""
    pending: list[Entry] = []
    count = 0
    for row in rows:
        pending.append(entry_from_row(row))
        count += 1
        if len(pending) == batch:
            ledger.store(pending)
            pending = []
    if pending:
        ledger.store(pending)
    return count
