"""The tables of the ledger's database.

Tables are added, never changed, so that a ledger stays readable.
"""

from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

TABLES = sa.MetaData()
META = sa.Table(
    "meta", TABLES, sa.Column("name", sa.String, primary_key=True), sa.Column("value", sa.String)
)
CALLS = sa.Table(
    "calls",  # `request` and `reply` are compressed
    TABLES,
    sa.Column("call_id", sa.LargeBinary(32), primary_key=True),
    sa.Column("model", sa.String, nullable=False),
    sa.Column("request", sa.LargeBinary, nullable=False),
    sa.Column("replicate", sa.Integer, nullable=False),
    sa.Column("reply", sa.LargeBinary, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_usd", sa.Float, nullable=False),
)
FAILURES = sa.Table(
    "failures",
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("error", sa.Text, nullable=False),
)
REFUSALS = sa.Table(
    # Requests for token probabilities that a server does not give; `failures` holds all others.
    "refusals",
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("error", sa.Text, nullable=False),
)
ATTEMPTS = sa.Table(
    "attempts",  # replies that were paid for but unusable
    TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("call_id", sa.String(64), nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_usd", sa.Float, nullable=False),
)
RESERVATIONS = sa.Table(
    "reservations",
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_usd", sa.Float, nullable=False),
    sa.Column("expires_at", sa.Float, nullable=False),
)
TOTALS = sa.Table(
    # Totals of replies and attempts, updated with every write; counting a large ledger before each
    # call would take too long.
    "totals",
    TABLES,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_usd", sa.Float, nullable=False),
)
BATCHES = sa.Table(
    # Stored before a batch is submitted, so that no batch is submitted twice.
    "batches",
    TABLES,
    sa.Column("marker", sa.String(32), primary_key=True),
    sa.Column("served_as", sa.String, nullable=False),
    sa.Column("model", sa.String, nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("batch_id", sa.String, nullable=False),
    sa.Column("created_at", sa.Float, nullable=False),
)
BATCHED_CALLS = sa.Table(
    "batched_calls",  # under way; storing the reply or failure deletes the row
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("marker", sa.String(32), nullable=False, index=True),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("replicate", sa.Integer, nullable=False),
)
PENDING_TABLES = (RESERVATIONS, BATCHED_CALLS)
"""Tables of calls that are under way; storing a reply or failure deletes its rows."""


def insert_new(engine: sa.Engine, table: sa.Table, *returning: sa.Column[Any]) -> sa.Executable:
    """Return a compiled statement that inserts rows with a new key and returns columns of them.

    It is compiled once, since SQLAlchemy would compile it again for each insertion.
    """
    if engine.dialect.name == "sqlite":
        insert: sa.Insert = sqlite.insert(table).on_conflict_do_nothing()
    else:
        from sqlalchemy.dialects import postgresql  # slow to import, and not needed for SQLite

        insert = postgresql.insert(table).on_conflict_do_nothing()
    names = [column.key for column in table.c if column.autoincrement is not True]
    insert = insert.returning(*returning) if returning else insert
    return cast(sa.Executable, insert.compile(engine, column_keys=names, for_executemany=True))
