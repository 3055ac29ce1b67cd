"""The Parquet artifacts as Arrow schemas, from `schemas.yaml`: meaning of rows and columns.

Each file carries the descriptions of its columns as Arrow field metadata.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from moot.core.types import Json
from moot.core.yaml_text import load_yaml

Column = tuple[pa.DataType, str]
"""The type and the meaning of a column."""
_TYPES = {
    "text": pa.string(),
    "double": pa.float64(),
    "int64": pa.int64(),
    "int32": pa.int32(),
    "bool": pa.bool_(),
    "texts": pa.list_(pa.string()),
    "text_map": pa.map_(pa.string(), pa.string()),
}


@dataclass(frozen=True)
class Artifact:
    """A kind of Parquet file.

    Attributes:
        path: where it is below `results/`.
        feature_columns: the meaning of further columns; "" if there are none.
    """

    path: str
    row: str
    columns: Mapping[str, Column]
    feature_columns: str = ""

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of `columns`."""
        return pa.schema(
            [
                pa.field(name, kind, metadata={"description": text})
                for name, (kind, text) in self.columns.items()
            ]
        )


def _columns(entries: Iterable[Json]) -> Iterator[tuple[str, Column]]:
    """Yield each column of a list by name.

    A list within it is a group that several artifacts share.
    """
    for entry in entries:
        if isinstance(entry, list):
            yield from _columns(entry)
        else:
            for name, definition in entry.items():
                kind, text = definition if isinstance(definition, list) else ("text", definition)
                yield name, (_TYPES[kind], text)


_DEFINITIONS = load_yaml(Path(__file__).with_name("schemas.yaml").read_text(encoding="utf-8"))
JUDGED: Mapping[str, Column] = dict(_columns(_DEFINITIONS["groups"]["judged"]))
"""The judge who gave a row's answer, if several judges judged the same debate."""
ARTIFACTS: Mapping[str, Artifact] = {
    name: Artifact(**(artifact | {"columns": dict(_columns(artifact["columns"]))}))
    for name, artifact in _DEFINITIONS["artifacts"].items()
}
SCHEMAS: Mapping[str, pa.Schema] = {name: artifact.schema for name, artifact in ARTIFACTS.items()}
