"""Import exported calls (Parquet files as in results/calls) into a ledger."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from moot.core.artifacts import open_artifact, read_chunks
from moot.core.errors import UserError
from moot.llm.ledger.exports import import_calls
from moot.llm.ledger.ledger import Ledger


def import_files(ledger: str, paths: Sequence[Path]) -> int:
    """Import the Parquet files among `paths` and below folders; entries of the ledger stay.

    Returns how many calls were read.

    Raises:
        UserError: a path holds no calls.
    """
    files: list[Path] = []
    for path in paths:
        files += [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    if not files:
        path_list = ", ".join(map(str, paths))
        raise UserError(f"{path_list}: no Parquet file. Expected files as in results/calls/.")
    calls_ledger, count = Ledger(ledger), 0
    for file in files:
        with open_artifact(file, "Get the file from its source again.") as schema:
            if "request" not in schema.names:
                raise UserError(
                    f"{file}: no column 'request'. Expected a file as in results/calls/."
                )
        for chunk in read_chunks(file, 1000):
            count += import_calls(calls_ledger, chunk.to_pylist())
    calls_ledger.close()
    return count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--ledger", default="data/ledger", help="folder or SQLAlchemy URL (default: data/ledger)"
    )
    parser.add_argument("paths", nargs="+", type=Path, help="Parquet files, or folders of them")
    arguments = parser.parse_args()
    try:
        sys.stdout.write(
            f"{import_files(arguments.ledger, arguments.paths)} calls are in {arguments.ledger}\n"
        )
    except UserError as error:
        sys.exit(f"moot: {error}")
