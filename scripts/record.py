"""Store the calls of a run as a recording that ships with moot.

It is one Parquet file with each call once.
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from moot.core.artifacts import describe, read_table, write_rows
from moot.core.types import JsonObject


def unique_calls(files: Iterable[Path]) -> Iterator[JsonObject]:
    """Yield the rows of exported calls, each call once, in the order of their ids."""
    rows = dict[str, JsonObject]()
    for file in files:
        rows |= {row["call_id"]: row for row in read_table(file).to_pylist()}
    yield from (rows[call_id] for call_id in sorted(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("calls", type=Path, help="a folder of exported calls (results/calls)")
    parser.add_argument("output", type=Path, help="the recording (data/recording/NAME.parquet)")
    arguments = parser.parse_args()
    write_rows(
        arguments.output,
        "calls",
        unique_calls(sorted(arguments.calls.rglob("*.parquet"))),
        describe(),
    )
