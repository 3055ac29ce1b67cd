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
    "calls",  # `request` and `reply` are compressed texts
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
    # questions for token probabilities that a server has none for; `failures` holds all other
    # failures
    "refusals",
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("error", sa.Text, nullable=False),
)
ATTEMPTS = sa.Table(
    "attempts",  # paid for and of no use: replies that were empty, but counted by the server
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
    # of replies and attempts, kept with every write: counting a large ledger before each call takes
    # too long
    "totals",
    TABLES,
    sa.Column("name", sa.String, primary_key=True),
    sa.Column("calls", sa.BigInteger, nullable=False),
    sa.Column("tokens", sa.BigInteger, nullable=False),
    sa.Column("cost_usd", sa.Float, nullable=False),
)
BATCHES = sa.Table(
    # of a provider, written down before they are submitted, so that none is submitted twice
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
    "batched_calls",  # under way in a batch; storing a call's reply or failure ends its row
    TABLES,
    sa.Column("call_id", sa.String(64), primary_key=True),
    sa.Column("marker", sa.String(32), nullable=False, index=True),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("replicate", sa.Integer, nullable=False),
)


def insert_new(engine: sa.Engine, table: sa.Table, *returning: sa.Column[Any]) -> sa.Executable:
    """Stores rows whose key is new, and gives columns of them;
    SQLAlchemy would compile it anew for each batch.
    """
    if engine.dialect.name == "sqlite":
        insert: sa.Insert = sqlite.insert(table).on_conflict_do_nothing()
    else:
        from sqlalchemy.dialects import postgresql  # loads slowly, and a folder needs none of it

        insert = postgresql.insert(table).on_conflict_do_nothing()
    names = [column.key for column in table.c if column.autoincrement is not True]
    insert = insert.returning(*returning) if returning else insert
    return cast(sa.Executable, insert.compile(engine, column_keys=names, for_executemany=True))
