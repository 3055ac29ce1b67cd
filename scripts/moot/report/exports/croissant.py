"""Croissant metadata (core 1.0, and its extension for responsible AI, RAI 1.0) for a folder of
debates to publish.

The folder holds the cases, transcripts and predictions of one experiment and model as Parquet, and
`croissant.json`, which describes every column. What moot cannot know (licence, creator, address,
citation) comes from `publication`.
"""

import json
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from moot import __version__
from moot.core.artifacts import file_digest
from moot.core.experiment_config import RECORDED
from moot.core.schemas import ARTIFACTS
from moot.core.types import JsonObject
from moot.report.exports import NO_TIME, Export, exporter

_CONTEXT = Path(__file__).with_name("croissant_context.json")
"""The context that Croissant 1.0 prescribes."""

_USES = (
    "Research and auditing of how language models argue and decide. Not for decisions about people:"
    " a transcript is a plausible story of a decision, not evidence that it was right."
)


@exporter("croissant")
def write(export: Export, folder: Path) -> None:
    """Write the files and their description."""
    folder.mkdir(parents=True, exist_ok=True)
    results = export.results
    predicted = set(results.predictions["case_id"])
    debated = pd.DataFrame(
        [asdict(case) for name, case in results.case_by_id.items() if name in predicted]
    )
    frames = {
        "cases": debated,
        "transcripts": results.transcripts,
        "predictions": results.predictions,
    }
    tables = {kind: _table(kind, frame) for kind, frame in frames.items()}
    for kind, table in tables.items():
        pq.write_table(table, folder / f"{kind}.parquet", compression="zstd")
    about = _metadata(export) | {
        "distribution": [_file(folder / f"{kind}.parquet") for kind in tables],
        "recordSet": [_records(kind, table) for kind, table in tables.items()],
    }
    text = json.dumps(about, ensure_ascii=False, indent=1)
    (folder / "croissant.json").write_text(text + "\n", encoding="utf-8")


def _table(kind: str, frame: pd.DataFrame) -> pa.Table:
    """A frame with the columns and types of its artifact; maps, which Croissant cannot describe,
    become JSON.
    """
    schema, columns = ARTIFACTS[kind].schema, {}
    for number, field in enumerate(schema):
        values = frame[field.name]
        if pa.types.is_map(field.type):
            schema = schema.set(number, field.with_type(pa.string()))
            values = values.map(
                lambda cell: json.dumps(dict([] if cell is None else cell), ensure_ascii=False)
            )
        columns[field.name] = values
    return pa.Table.from_pandas(
        pd.DataFrame(columns), schema=schema, preserve_index=False
    ).replace_schema_metadata(None)


def _metadata(export: Export) -> JsonObject:
    config, task, publication = export.results.config, export.results.task, export.publication
    ended, debates = export.ended(), len(export.results.predictions)
    people = (export.results.transcripts["source"] == "human").any()
    recorded = config.protocol == RECORDED
    notes = " ".join(task.notes)
    about = (
        f"{debates} debates about data set '{config.dataset}'. Question: {task.question} {notes}"
    )
    held = f"were held with moot {__version__} by its protocol '{config.protocol}'"
    origin = "were taken from records of others" if recorded else held
    known = {
        "license": publication.license,
        "url": publication.url,
        "citeAs": publication.citation,
        "creator": (
            {"@type": "sc:Organization", "name": publication.creator} if publication.creator else ""
        ),
        "datePublished": "" if ended == NO_TIME else ended.date().isoformat(),
    }
    return {
        "@context": json.loads(_CONTEXT.read_text(encoding="utf-8")),
        "@type": "sc:Dataset",
        "name": f"{export.results.experiment}-{export.model}",
        "description": about.strip(),
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0",
            "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "version": __version__,
        **{name: value for name, value in known.items() if value},
        "rai:dataCollection": f"The debates {origin}; the model is '{export.model_name}'.",
        "rai:dataCollectionType": ["Existing datasets" if recorded else "Software Collection"],
        "rai:dataUseCases": _USES,
        "rai:dataLimitations": f"Texts of models are not facts. {notes}".strip(),
        "rai:dataBiases": (
            "The models' own; the experiment's scores by group (results/scores) show error rates."
        ),
        "rai:personalSensitiveInformation": (
            "The cases are those of the data set named above, with all that they say of people; "
            f"{'some turns were written by people' if people else 'no turn was written by a person'}."
        ),
    }


def _file(path: Path) -> JsonObject:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file_digest(path),
    }


def _records(kind: str, table: pa.Table) -> JsonObject:
    artifact = ARTIFACTS[kind]
    fields = []
    for column in table.schema:
        is_list = pa.types.is_list(column.type)
        field = {
            "@type": "cr:Field",
            "@id": f"{kind}/{column.name}",
            "name": f"{kind}/{column.name}",
            "description": artifact.columns[column.name][1],
            "dataType": _data_type(column.type.value_type if is_list else column.type),
            "source": {
                "fileObject": {"@id": f"{kind}.parquet"},
                "extract": {"column": column.name},
            },
        }
        fields.append(field | ({"repeated": True} if is_list else {}))
    return {
        "@type": "cr:RecordSet",
        "@id": kind,
        "name": kind,
        "description": f"One record for {artifact.row}.",
        "field": fields,
    }


def _data_type(column: pa.DataType) -> str:
    if pa.types.is_integer(column):
        return "sc:Integer"
    return "sc:Float" if pa.types.is_floating(column) else "sc:Text"
