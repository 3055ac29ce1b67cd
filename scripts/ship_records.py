"""Store the answers in published records to ship with moot.

They are who, case, turn, belief, prediction and truth, without texts.
"""

import argparse
import sys
from pathlib import Path

from moot.core.errors import UserError
from moot.datasets import LOADERS, LoadContext
from moot.datasets.debate_records import write_shipped_records

RECORDS = {
    "agenticsimlaw": (
        "agenticsimlaw-nlsy97",
        "MIT",
        "github.com/jon-chun/agenticsimlaw @ 355ed6088be5b03368564a24b3b8d3fb8d3cb067",
    ),
    "nyu_debates": (
        "nyu-debates",
        "CC-BY 4.0",
        "github.com/julianmichael/debate @ dafd201de160da7e3a1e2257270752e33c82a845",
    ),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("loader", choices=RECORDS, help="whose records")
    parser.add_argument(
        "--data-root", type=Path, default=Path("data/raw"), help="folder of the published files"
    )
    arguments = parser.parse_args()
    entry = LOADERS[arguments.loader]
    name, licence, source = RECORDS[arguments.loader]
    options = entry.options(source="local")
    context = LoadContext(name, arguments.data_root, Path(), 0)
    try:
        loaded = entry.load(options, context)
        for path in write_shipped_records(
            name,
            loaded,
            entry.records(options, context) if entry.records else (),
            Path(),
            licence,
            source,
        ):
            sys.stdout.write(f"{path}\n")
    except UserError as error:
        sys.exit(f"moot: {error}")
