"""Write the generated parts of docs/*.md and the numbers of all pages from a build: `make docs`.

The numbers come from the tables in `results/tables` of the working directory and from
`data/measured/figures.csv`.
"""

import sys
from pathlib import Path

from moot.commands.documented import Numbers, read_entries
from moot.commands.reference import PARTS, with_part

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

if __name__ == "__main__":
    for name, (page, write) in PARTS.items():
        path = DOCS / page
        path.write_text(
            with_part(path.read_text(encoding="utf-8"), name, write()), encoding="utf-8"
        )
    numbers = Numbers(
        Path("results/tables"),
        ROOT / "data/published/published_results.csv",
        ROOT / "data/measured/figures.csv",
    )
    for page, entries in read_entries(ROOT).items():
        path = ROOT / page
        text = path.read_text(encoding="utf-8")
        path.write_text(numbers.fill(text, page, entries), encoding="utf-8")
    for table in sorted(numbers.missing):
        sys.stdout.write(
            f"Unchanged: numbers of results/tables/{table}.csv, which `make results` builds.\n"
        )
