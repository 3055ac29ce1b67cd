"""Put calls into a ledger: exported ones (Parquet files as in results/calls), and what is whole of
a damaged ledger.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from moot.core.artifacts import intact, read_batches
from moot.core.errors import UserError
from moot.llm.ledger.exports import import_calls
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.recovery import recover_entries


def import_files(ledger: str, paths: Sequence[Path]) -> int:
    """Import every Parquet file and SQLite ledger given or below a folder given; what the ledger
    already holds stays.

        Raises:
            UserError: a path holds no calls.
    """
    files: list[Path] = []
    for path in paths:
        inside = [*path.rglob("*.parquet"), *path.rglob("*.sqlite")]
        files += [path] if path.is_file() else sorted(inside)
    if not files:
        listed = ", ".join(map(str, paths))
        raise UserError(
            f"{listed}: no Parquet file. Expected files as in results/calls/, or a damaged"
            " ledger.sqlite."
        )
    opened, count = Ledger(ledger), 0
    for file in files:
        if file.suffix == ".sqlite":
            found = list(recover_entries(file))
            opened.store(found)
            count += len(found)
            continue
        with intact(file, "Get the file again from where it came.") as schema:
            if "request" not in schema.names:
                raise UserError(
                    f"{file}: no column 'request'. Expected a file as in results/calls/."
                )
        for batch in read_batches(file, 1000):
            count += import_calls(opened, batch.to_pylist())
    opened.close()
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
