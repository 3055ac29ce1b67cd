"""Write the generated parts of docs/*.md anew, and the numbers of all pages from a build: `make docs`.

The numbers come from the tables in `results/tables` of the working directory.
"""

import sys
from pathlib import Path

from moot.commands.documented import Numbers
from moot.commands.reference import PARTS, with_part

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

if __name__ == "__main__":
    for name, (page, write) in PARTS.items():
        path = DOCS / page
        path.write_text(with_part(path.read_text(encoding="utf-8"), name, write()), encoding="utf-8")
    numbers = Numbers(Path("results/tables"), ROOT / "data/published/published_results.csv")
    studies = ROOT.glob("scripts/moot/studies/*/README.md")
    for path in (ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted(studies)):
        path.write_text(numbers.fill(path.read_text(encoding="utf-8"), path.name), encoding="utf-8")
    for table in sorted(numbers.missing):
        sys.stdout.write(f"Left as they are: numbers of results/tables/{table}.csv, which is not built.\n")
