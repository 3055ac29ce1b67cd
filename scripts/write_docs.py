"""Write the generated parts of docs/*.md: `make docs`."""

from pathlib import Path

from moot.commands.reference import PARTS, with_part

DOCS = Path(__file__).resolve().parents[1] / "docs"

if __name__ == "__main__":
    for name, (page, write) in PARTS.items():
        path = DOCS / page
        path.write_text(
            with_part(path.read_text(encoding="utf-8"), name, write()), encoding="utf-8"
        )
