"""Conversion of ledger entries to rows of `calls/{experiment}/{model}.parquet` and back.

These files carry replies to another machine.
"""

import json
from collections.abc import Iterable
from dataclasses import fields

from moot.core.types import Fields, JsonObject
from moot.llm.ledger.database import portions
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.request import Reply

_REPLY_COLUMNS = [
    field.name for field in fields(Reply) if field.name not in ("text", "reasoning", "logprobs")
]
"""Fields of a reply that are columns of the same name. Files of earlier versions lack the last
ones."""


def calls_row(entry: Entry) -> JsonObject:
    """Convert a ledger entry to a row of `calls/{experiment}/{model}.parquet`."""
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


def entry_from_row(row: Fields) -> Entry:
    """Convert a row that `calls_row` made back to a ledger entry."""
    reply = Reply(
        text=row["reply"],
        reasoning=row["reasoning"],
        logprobs=json.loads(row["logprobs"]) if row["logprobs"] else {},
        **{name: row[name] for name in _REPLY_COLUMNS if name in row},
    )
    return Entry(row["call_id"], row["model"], row["request"], row["replicate"], reply)


def import_calls(ledger: Ledger, rows: Iterable[Fields]) -> int:
    """Store exported calls (rows of `calls/`); entries that the ledger already holds are kept.

    Returns the number of rows.
    """
    count = 0
    for portion in portions(rows, 1000):
        ledger.store([entry_from_row(row) for row in portion])
        count += len(portion)
    return count
