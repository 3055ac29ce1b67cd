"""A bundle as a Workflow Run RO-Crate, written with the package `rocrate`."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from moot import __version__
from moot.commands.bundling import BUNDLE
from moot.core.artifacts import atomic_path
from moot.core.config import Publication
from moot.core.errors import UserError
from moot.core.optional import import_extra

CRATE, WORKFLOW = Path("results/crate.zip"), "Snakefile"
PROFILE = "https://w3id.org/ro/wfrun/workflow/0.5"


def write_crate(publication: Publication) -> None:
    """Write the files of `results/bundle.zip` with their description to `results/crate.zip`.

    Raises:
        UserError: there is no bundle, or the extra `crate` is not installed.
    """
    rocrate: Any = import_extra("rocrate.rocrate", "crate")
    if not BUNDLE.exists():
        raise UserError(f"{BUNDLE}: not found. Write it first: snakemake --cores 2 bundle")
    with TemporaryDirectory() as name, zipfile.ZipFile(BUNDLE) as bundle:
        folder = Path(name)
        bundle.extractall(folder)
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        crate = rocrate.ROCrate(version="1.1")
        crate.name, crate.description = "A run of moot", "Calls, tables and figures of debates."
        crate.license = publication.license or "not stated"
        crate.root_dataset["conformsTo"] = {"@id": PROFILE}
        files = {
            file: crate.add_file(folder / file, file, properties={"sha256": digest})
            for file, digest in manifest["files"].items()
            if file != WORKFLOW
        }
        crate.metadata.extra_terms["sha256"] = "http://schema.org/sha256"
        crate.add_file(folder / "manifest.json", "manifest.json")
        workflow = crate.add_workflow(folder / WORKFLOW, WORKFLOW, main=True, lang="snakemake")
        end_time = datetime.fromtimestamp(BUNDLE.stat().st_mtime, UTC).isoformat(timespec="seconds")
        results = [files[table] for table in manifest["tables"]]
        inputs = [file for file in files.values() if file not in results]
        about = {"name": f"Run of moot {__version__}", "endTime": end_time}
        run = crate.add_action(workflow, "#run", inputs, results, about)
        crate.root_dataset["mentions"] = run
        if publication.creator:
            organization = {"@type": "Organization", "name": publication.creator}
            crate.creator = crate.add_jsonld({"@id": "#creator", **organization})
        with atomic_path(CRATE) as part:
            crate.write_zip(part)
