"""Files of cases as their authors publish them, and how they are loaded."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from moot.datasets import LOADERS, LoadContext, Loaded

MakeContext = Callable[..., LoadContext]


def load(context: LoadContext, **options: Any) -> Loaded:
    """Load a data set that has the name of its loader."""
    loader = LOADERS[context.name]
    return loader.load(loader.options(**options), context)


def write_lines(path: Path, records: Iterable[Any]) -> None:
    """Write records as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    path.write_text("".join(lines), encoding="utf-8")
