"""What a bundle says of itself for other tools: a Workflow Run RO-Crate (profile 0.5), and a
datasheet a data set.

A crate is JSON-LD: the run is an action whose instrument is the workflow, whose objects are what it
was made from, and whose results are the tables and figures (RO-Crate 1.1; Leo et al. 2024,
doi:10.1371/journal.pone.0309210).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import Path

import pandas as pd

from moot import __version__
from moot.core.artifacts import read_cases
from moot.core.config import Publication
from moot.core.types import JsonObject
from moot.plan.plan import Plan

CRATE, WORKFLOW = "ro-crate-metadata.json", "Snakefile"
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_NO_LICENSE = "No licence was stated (`publication` in the configuration): ask whoever made it."


def crate(files: Mapping[str, str], tables: Iterable[str], published: Publication) -> JsonObject:
    """The metadata of a bundle.

    Args:
        files: name to sha256 of what it holds, the `Snakefile` among it.
        tables: the files that the run was for, which are on disk.
        published: by whom it is published, as far as that is said.
    """
    tables = sorted(tables)
    made = datetime.fromtimestamp(
        max(Path(name).stat().st_mtime for name in tables), UTC
    ).isoformat(timespec="seconds")
    own = {"url": published.url, "citation": published.citation}
    creator = {"@id": "#creator", "@type": "Organization", "name": published.creator}
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": "A run of moot",
        "description": (
            "Debates of language models over cases: calls, tables, figures, a log that proves the"
            " calls."
        ),
        "datePublished": made,
        "license": published.license or _NO_LICENSE,
        "conformsTo": [{"@id": profile} for profile in _PROFILES],
        "hasPart": [{"@id": name} for name in sorted(files)],
        "mainEntity": {"@id": WORKFLOW},
        "mentions": {"@id": "#run"},
        **{name: value for name, value in own.items() if value},
    }
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"Run of moot {__version__}",
        "description": (
            "Cases are debated and labelled, replies are scored, and tables and figures are made of"
            " them."
        ),
        "instrument": {"@id": WORKFLOW},
        "endTime": made,
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "object": [{"@id": name} for name in sorted({*files} - {*tables, WORKFLOW})],
        "result": [{"@id": name} for name in tables],
    }
    if published.creator:
        root["creator"] = run["agent"] = {"@id": creator["@id"]}
    workflow = {
        **_file(WORKFLOW, files[WORKFLOW]),
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "moot",
        "conformsTo": {"@id": "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"},
        "version": __version__,
        "programmingLanguage": {"@id": _SNAKEMAKE},
        "license": "MIT",
    }
    language = {
        "@id": _SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "url": "https://snakemake.github.io",
    }
    descriptor = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": [{"@id": "https://w3id.org/ro/crate/1.1"}, {"@id": list(_PROFILES)[-1]}],
    }
    profiles = [
        {
            "@id": profile,
            "@type": "CreativeWork",
            "name": name,
            "version": profile.rpartition("/")[2],
        }
        for profile, name in _PROFILES.items()
    ]
    others = [_file(name, digest) for name, digest in sorted(files.items()) if name != WORKFLOW]
    return {
        "@context": [
            "https://w3id.org/ro/crate/1.1/context",
            {"sha256": "http://schema.org/sha256"},
        ],  # it lacks this
        "@graph": [
            descriptor,
            root,
            run,
            workflow,
            language,
            *([creator] if published.creator else []),
            *profiles,
            *others,
        ],
    }


def _file(name: str, digest: str) -> JsonObject:
    kind = (
        "application/jsonl"
        if name.endswith(".jsonl")
        else guess_type(name)[0] or "application/octet-stream"
    )
    return {"@id": name, "@type": "File", "name": name, "encodingFormat": kind, "sha256": digest}


def datasheet(plan: Plan, name: str) -> str:
    """A data set's datasheet (Gebru et al. 2021, "Datasheets for Datasets"), from what its loader
    says.
    """
    return "\n\n".join(_answers(plan, name)) + "\n"


def _answers(plan: Plan, name: str) -> Iterator[str]:
    options, folder = plan.datasets[name], Path("results") / "cases"
    loader = options.loader or name
    cases, task = read_cases(folder / f"{name}.parquet")
    yield f"# Datasheet: {name}"
    yield f"## What is it for?\n\n{task.question} A case is {task.noun}. {task.background}".rstrip()
    counts = Counter((case.split, case.target) for case in cases)
    rows = "\n".join(
        f"- {split}, {target or 'no truth'}: {count}"
        for (split, target), count in sorted(counts.items())
    )
    yield (
        f"## What is in it?\n\n{len(cases)} cases in the language {task.language}, by split and"
        f" true label:\n\n{rows}"
    )
    people = (
        f"Cases are about people of the groups {', '.join(task.groups)}."
        if task.groups
        else "Not said."
    )
    yield f"## Does it tell of people?\n\n{people}"
    addresses = pd.read_csv(plan.shipped / "data" / "versions.csv", keep_default_na=False).query(
        "dataset == @loader"
    )
    published = options.source not in ("sample", "synthetic")
    named = [
        f"- {row.path}: {row.url} ({row.licence})"
        for row in addresses.itertuples()
        if published and row.role == "primary"
    ]
    many = [f"- and {len(named) - 5} more: data/versions.csv"] if len(named) > 5 else []
    yield (
        f"## Where is it from?\n\n`source: {options.source}`, by the loader `{loader}`.\n\n"
        + "\n".join(named[:5] + many)
    )
    report = pd.read_csv(folder / f"{name}_cleaning.csv")
    yield "## What was done to it?\n\n" + "\n".join(
        f"- {what}: {count}" for what, count in report.itertuples(index=False)
    )
    yield "## What must its users know?\n\n" + (
        "\n".join(f"- {note}" for note in task.notes) or "Nothing is noted."
    )
    asked = options.model_dump(mode="json", exclude_defaults=True)
    yield "## With which options?\n\n" + "\n".join(
        f"- {key}: {value}" for key, value in sorted(asked.items())
    )
