"""Parquet files and their Croissant metadata, written with the package `mlcroissant`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from moot import __version__
from moot.core.artifacts import file_digest
from moot.core.optional import import_extra
from moot.core.schemas import ARTIFACTS
from moot.report.exports import NO_TIME, Export, exporter


@exporter("croissant", package="mlcroissant")
def write(export: Export, folder: Path) -> None:
    """Write the files; raises `UserError` where the extra `croissant` is not installed."""
    mlc: Any = import_extra("mlcroissant", "croissant")
    results, publication, end = export.results, export.publication, export.end_time()
    metadata = mlc.Metadata(
        name=f"{results.experiment}-{export.model}",
        description=f"Debates about data set '{results.config.dataset}'. {results.task.question}",
        version=__version__,
        conforms_to=["http://mlcommons.org/croissant/1.0"],
        license=[publication.license] if publication.license else None,
        url=publication.url or None,
        cite_as=publication.citation or None,
        creators=[mlc.Organization(name=publication.creator)] if publication.creator else [],
        date_published=None if end == NO_TIME else end,
    )
    folder.mkdir(parents=True, exist_ok=True)
    cases = [asdict(results.case_by_id[name]) for name in results.predictions["case_id"].unique()]
    add_table(mlc, metadata, folder / "cases.parquet", pd.DataFrame(cases))
    add_table(mlc, metadata, folder / "transcripts.parquet", results.transcripts.copy())
    add_table(mlc, metadata, folder / "predictions.parquet", results.predictions.copy())
    text = json.dumps(metadata.to_json(), ensure_ascii=False, indent=1, default=str)
    (folder / "croissant.json").write_text(text + "\n", encoding="utf-8")


def add_table(mlc: Any, metadata: Any, path: Path, frame: pd.DataFrame) -> None:
    """Write a table as Parquet and describe its columns; maps become JSON texts."""
    artifact, schema, fields = ARTIFACTS[path.stem], ARTIFACTS[path.stem].schema, []
    types = {"int32": "INTEGER", "int64": "INTEGER", "double": "FLOAT"}
    for number, column in enumerate(schema):
        if pa.types.is_map(column.type):
            schema = schema.set(number, pa.field(column.name, pa.string()))
            frame[column.name] = [json.dumps(dict(cell or ())) for cell in frame[column.name]]
        field = mlc.Field(id=f"{path.stem}/{column.name}", name=f"{path.stem}/{column.name}")
        field.description = artifact.columns[column.name][1]
        field.data_types = [getattr(mlc.DataType, types.get(str(column.type), "TEXT"))]
        field.repeated = True if pa.types.is_list(column.type) else None
        field.source = mlc.Source(file_object=path.name, extract=mlc.Extract(column=column.name))
        fields.append(field)
    frame[schema.names].to_parquet(path, index=False, schema=schema)
    file = mlc.FileObject(id=path.name, name=path.name, content_url=path.name)
    file.encoding_formats, file.sha256 = ["application/x-parquet"], file_digest(path)
    metadata.distribution.append(file)
    metadata.record_sets.append(mlc.RecordSet(id=path.stem, name=path.stem, fields=fields))
