"""Ledger entries as rows of `calls/{experiment}/{model}.parquet`, and back: how replies travel to
another machine.
"""

import json
from collections.abc import Iterable
from dataclasses import fields

from moot.core.types import Fields, JsonObject
from moot.llm.ledger.database import portions
from moot.llm.ledger.ledger import Entry, Ledger
from moot.llm.request import Reply

_REPLY_COLUMNS = [
    one.name for one in fields(Reply) if one.name not in ("text", "reasoning", "logprobs")
]
"""Fields of a reply that are columns of the same name; files of earlier versions lack the last
ones.
"""


def calls_row(entry: Entry) -> JsonObject:
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


def entry_from_row(row: Fields) -> Entry:
    """The ledger entry that `calls_row` made a row of."""
    reply = Reply(
        text=row["reply"],
        reasoning=row["reasoning"],
        logprobs=json.loads(row["logprobs"]) if row["logprobs"] else {},
        **{name: row[name] for name in _REPLY_COLUMNS if name in row},
    )
    return Entry(row["call_id"], row["model"], row["request"], row["replicate"], reply)


def import_calls(ledger: Ledger, rows: Iterable[Fields]) -> int:
    """Store exported calls (rows of `calls/`); what the ledger already holds stays.

    Returns how many rows were read.
    """
    count = 0
    for some in portions(rows, 1000):
        ledger.store([entry_from_row(row) for row in some])
        count += len(some)
    return count
