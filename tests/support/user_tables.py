"""A table of cases of the user, and its loader."""

from pathlib import Path
from typing import Any

from moot.datasets import LOADERS, LoadContext, Loaded

ROWS = [
    {
        "nr": f"c{number}",
        "facts": f"Tenant {number} kept {number} cats in flat {number * 7}.",
        "age": str(20 + number),
        "claim": f"Landlord asks for {number * 100} dollars.",
        "outcome": "WON" if number % 3 else "LOST",
        "court": "north" if number % 2 else "south",
        "part": ("train", "dev", "Test")[number % 3],
    }
    for number in range(1, 41)
]


MINIMAL = {"text": "facts", "target": "outcome"}


def load(path: Path, **options: Any) -> Loaded:
    """Load a table with the required columns and further options."""
    entry = LOADERS["table"]
    validated = entry.options.model_validate({"path": path, **MINIMAL, **options})
    return entry.load(validated, LoadContext("mine", Path("data/raw"), Path(), 7))
