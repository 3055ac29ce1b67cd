"""A run in one file for others: a Workflow Run RO-Crate with a SHA-256 for each file.

The crate has plan, prompts, calls, tables and figures. For data sets that are not shared, cases
and calls are left out.
"""

import hashlib
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from moot import __version__
from moot.core.artifacts import atomic_path, file_digest, read_table
from moot.core.errors import UserError
from moot.core.shipped_files import prompt_templates
from moot.core.types import Fields
from moot.jobs.statement_labels import calls_of_labels
from moot.labels import HUMAN, PEOPLE
from moot.llm.ledger.database import portions
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.tables import ATTEMPTS, FAILURES, REFUSALS
from moot.papers.items import EXAMPLE, items_file, read_papers
from moot.papers.page import SCORES, item_files
from moot.plan.papers_of_run import papers_of_run
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.workflow import targets
from moot.workflow.dependencies import presented_study
from moot.workflow.user_files import (
    ANNOTATIONS,
    INBOX,
    annotation_files,
    answer_files,
    frozen_files,
)

SCHEMA = 3
BUNDLE = Path("results/bundle.zip")
METADATA = "ro-crate-metadata.json"
CONFIGURATION, CALLS, FAILED_CALLS = "configuration.json", "calls.jsonl", "failures.jsonl"
WORKFLOW = "Snakefile"
PROFILE = "https://w3id.org/ro/wfrun/workflow/0.5"
TERMS = {
    "sha256": "http://schema.org/sha256",
    "moot": "https://schema.org/additionalProperty",
}
"""Terms of the metadata that RO-Crate does not define. `moot` of the crate has what `replay`
needs; `moot` of a table has the runs behind it.
"""
SHIPPED_SOURCES = ("sample", "synthetic", "shipped")
_TIME = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a bundle, so that equal runs give equal bytes."""


class BundleWriter:
    """A bundle during writing: its files, each with its digest."""

    def __init__(self, bundle: zipfile.ZipFile) -> None:
        self._bundle = bundle
        self.digests: dict[str, str] = {}

    def add(self, name: str, lines: Iterable[str | bytes]) -> None:
        """Write a file from parts in sequence."""
        digest = hashlib.sha256()
        entry = zipfile.ZipInfo(name, _TIME)
        entry.compress_type = zipfile.ZIP_DEFLATED
        with self._bundle.open(entry, "w", force_zip64=True) as stream:
            for line in lines:
                content = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
                digest.update(content)
                stream.write(content)
        self.digests[name] = digest.hexdigest()

    def add_files(self, files: Iterable[Path], root: Path = Path()) -> None:
        """Copy files, by their paths below `root`."""
        for path in sorted(set(files)):
            self.add(path.relative_to(root).as_posix(), [path.read_bytes()])


def is_shared(plan: Plan, dataset: str) -> bool:
    """Return whether the cases of a data set may be shared.

    They may if moot ships them, if they are made up, or if `share` names the data set.
    """
    return (
        dataset in plan.config.share.datasets
        or str(plan.datasets[dataset].source) in SHIPPED_SOURCES
    )


def withheld_runs(plan: Plan) -> set[str]:
    """Return the runs, `EXPERIMENT/MODEL`, whose calls are withheld.

    Their cases are not shared, or people answered in them who are not shared.
    """
    withheld = set[str]()
    for run in targets.runs(plan):
        experiment = plan.experiments[run.partition("/")[0]].config
        uses_labels = HUMAN in experiment.labelers and annotation_files()
        uses_answers = (
            bool(uses_labels or answer_files(*run.split("/"))) and not plan.config.share.people
        )
        if uses_answers or not is_shared(plan, experiment.dataset):
            withheld.add(run)
    return withheld


class Pseudonyms:
    """Replacements for the names of people whom `share` does not allow to name."""

    def __init__(self, plan: Plan) -> None:
        voices = set[str]()
        for experiment in plan.experiments.values():
            voices.update(experiment.people)
        for run in targets.labelled_runs(plan):
            path = Path(f"results/annotations/{run}.parquet")
            if path.exists():
                labelers = set(read_table(path, ["labeler"])["labeler"].to_pylist())
                voices |= {labeler for labeler in labelers if labeler.partition(":")[0] in PEOPLE}
        names = {name for voice in voices if (name := voice.partition(":")[2])}
        self._pseudonyms = (
            {}
            if plan.config.share.people
            else {name: f"person-{n}" for n, name in enumerate(sorted(names), 1)}
        )
        forms_by_name = ({name, _escaped(name)} for name in self._pseudonyms)
        forms = sorted(chain.from_iterable(forms_by_name), key=len, reverse=True)
        self._pattern = rf"(?:{'|'.join(map(re.escape, forms))})(?!\w)" if forms else "(?!)"
        self._pseudonyms |= {
            _escaped(name): pseudonym for name, pseudonym in self._pseudonyms.items()
        }

    def hide(self, text: str, prefix: str = r"(?<!\w)") -> str:
        """Return a text without the names that follow `prefix`."""
        return re.sub(prefix + self._pattern, lambda match: self._pseudonyms[match[0]], text)

    def anonymised_content(self, path: Path) -> bytes | None:
        """Return a file's content without the names.

        None if it names people in a form that cannot be changed.
        """
        content = path.read_bytes()
        if len(self._pseudonyms) and path.suffix in (".xlsx", ".pdf"):
            return None
        text = content.decode("utf-8", "surrogateescape")
        anonymised_text = self.hide(text)
        return (
            content
            if anonymised_text == text
            else None
            if path in frozen_files()
            else anonymised_text.encode(errors="surrogateescape")
        )


def _escaped(name: str) -> str:
    return json.dumps(name)[1:-1]


def tables_of(plan: Plan) -> dict[str, list[str]]:
    """Return the built tables and figures, by path, with the runs behind each."""
    runs_of_files: dict[str, list[str]] = {}
    sources = ((TABLES, targets.table_files), (FIGURES, targets.figure_files))
    for registry, files_of in sources:
        for names in targets.names_by_job(plan, registry).values():
            study = presented_study(registry[name].study for name in names)
            runs = targets.presented_runs(plan, study)
            runs_of_files |= {path: runs for path in files_of(names) if Path(path).exists()}
    return runs_of_files | _items_of(plan)


def _items_of(plan: Plan) -> dict[str, list[str]]:
    """Return the built items of the run's papers, by path, with the runs of their studies."""
    runs_of_files: dict[str, list[str]] = {}
    for name, paper in read_papers(items_file(plan.shipped)).items():
        if name not in papers_of_run(plan):
            continue
        runs: list[str] = []
        for study in paper.studies:
            runs += targets.presented_runs(plan, study)
        files = [SCORES]
        for item in paper.items:
            # Times of fitting differ each time, and an example shows a text that may be withheld.
            if not item.datasets and item.kind != EXAMPLE:
                files += item_files(item)
        paths = [f"results/papers/{name}/{file}" for file in files]
        runs_of_files |= {path: runs for path in paths if Path(path).exists()}
    return runs_of_files


def write_bundle(plan: Plan, raw: Fields) -> str:
    """Write `results/bundle.zip`, and return a summary.

    Args:
        plan: the checked configuration.
        raw: the merged configuration before it was checked, as Snakemake passes it.

    Raises:
        UserError: no table is built, or `share` names an unknown data set.
    """
    tables = tables_of(plan)
    if not tables:
        raise UserError(
            "bundle: no table is built in results/. Build them first: snakemake --cores 2"
        )
    if unknown_datasets := sorted(set(plan.config.share.datasets) - set(plan.datasets_used)):
        raise UserError(
            f"share.datasets: '{unknown_datasets[0]}' is not a data set of this run, which has "
            f"{', '.join(plan.datasets_used)}."
        )
    withheld = withheld_runs(plan)
    with (
        closing(Ledger(plan.config.ledger)) as ledger,
        atomic_path(BUNDLE) as part,
        zipfile.ZipFile(part, "w") as file,
    ):
        contents, names = BundleWriter(file), Pseudonyms(plan)
        # in the order of the experiments, which tables keep
        configuration = json.dumps(dict(raw), indent=1) + "\n"
        contents.add(CONFIGURATION, [names.hide(configuration, "(?<=person:)")])
        contents.add_files(_artifacts(plan))
        for path in sorted([*map(Path, tables), *frozen_files()]):
            if (content := names.anonymised_content(path)) is None:
                tables.pop(str(path), None)
            else:
                contents.add(str(path), [content])
        if plan.config.share.people:
            for folder in (ANNOTATIONS, INBOX):
                files = (path for path in folder.rglob("*") if path.is_file())
                contents.add_files(path for path in files if not path.name.startswith("."))
        shipped = [
            *prompt_templates(plan.shipped),
            plan.shipped / "envs" / "lock.txt",
            plan.shipped / WORKFLOW,
        ]
        contents.add_files(shipped, plan.shipped)
        call_ids = disclosed_calls(plan, withheld)
        contents.add(CALLS, _calls(ledger, call_ids))
        contents.add(FAILED_CALLS, _failures(ledger))
        contents.add(METADATA, [_describe(plan, contents.digests, tables, withheld)])
    return "\n".join(_announcement(plan, tables, withheld, len(call_ids))) + "\n"


def _announcement(
    plan: Plan, tables: dict[str, list[str]], withheld: set[str], call_count: int
) -> Iterator[str]:
    yield (
        f"{BUNDLE}: {len(tables)} files of tables and figures, {call_count} calls,"
        f" {BUNDLE.stat().st_size / 1e6:.1f} MB."
    )
    if withheld:
        rebuildable = sum(withheld.isdisjoint(runs) for runs in tables.values())
        yield (
            "Left out, since `share` does not name their cases or people: the calls of "
            f"{', '.join(sorted(withheld))}. {rebuildable} of the {len(tables)} files do not need "
            "these calls and can be rebuilt by others."
        )
        names = {plan.experiments[run.partition("/")[0]].config.dataset for run in withheld}
        if own := sorted(name for name in names if not is_shared(plan, name)):
            yield f"To share cases and calls: --config 'share={{datasets: [{', '.join(own)}]}}'"
    yield f"SHA-256 of the bundle: {file_digest(BUNDLE)}"
    yield f"To check and rebuild it: snakemake --cores 2 replay --config bundle={BUNDLE}"


def _describe(
    plan: Plan, digests: dict[str, str], tables: dict[str, list[str]], withheld: set[str]
) -> str:
    """Return the metadata of the crate, with a SHA-256 for each file.

    The date is that of the newest table, so that a bundle of the same files has the same bytes.
    """
    from rocrate.rocrate import ROCrate

    crate: Any = ROCrate(version="1.1")
    publication = plan.config.publication
    crate.name, crate.description = "A run of moot", "Calls, tables and figures of debates."
    crate.license = publication.license or "not stated"
    newest = max(Path(path).stat().st_mtime for path in tables)
    end_time = datetime.fromtimestamp(newest, UTC).isoformat(timespec="seconds")
    crate.datePublished = end_time
    crate.root_dataset["conformsTo"] = {"@id": PROFILE}
    crate.root_dataset["moot"] = json.dumps(
        {
            "schema": SCHEMA,
            "version": __version__,
            "withheld": sorted(withheld),
            "extensions": {
                folder: folder_digest(Path(folder)) for folder in plan.config.extensions
            },
        }
    )
    crate.metadata.extra_terms.update(TERMS)
    workflow = crate.add_workflow(
        None, WORKFLOW, main=True, lang="snakemake", properties={"sha256": digests[WORKFLOW]}
    )
    inputs: list[Any] = []
    results: list[Any] = []
    for name, digest in digests.items():
        if name == WORKFLOW:
            continue
        properties = {"sha256": digest}
        if name in tables:
            properties["moot"] = json.dumps(tables[name])
        entity = crate.add_file(None, name, properties=properties)
        (results if name in tables else inputs).append(entity)
    about = {"name": f"Run of moot {__version__}", "endTime": end_time}
    crate.root_dataset["mentions"] = crate.add_action(workflow, "#run", inputs, results, about)
    if publication.creator:
        organization = {"@type": "Organization", "name": publication.creator}
        crate.creator = crate.add_jsonld({"@id": "#creator", **organization})
    return json.dumps(crate.metadata.generate(), indent=1, sort_keys=True) + "\n"


def disclosed_calls(plan: Plan, withheld: set[str]) -> list[str]:
    """Return the ids of the calls behind a run; calls that a withheld run uses are left out."""
    disclosed, hidden = set[str](), set[str]()
    for run in targets.runs(plan):
        calls = hidden if run in withheld else disclosed
        calls.update(_calls_of(Path(f"results/calls/{run}.parquet")))
    for run in targets.labelled_runs(plan):
        calls = hidden if run in withheld else disclosed
        calls.update(_calls_of_labels(plan, *run.split("/")))
    return sorted(disclosed - hidden)


def _calls(ledger: Ledger, call_ids: Iterable[str]) -> Iterator[str]:
    """Yield each call with its reply as a line of JSON."""
    for portion in portions(call_ids, 500):
        for entry in sorted(ledger.entries(list(portion)), key=lambda entry: entry.call_id):
            call = {
                "call_id": entry.call_id,
                "model": entry.model,
                "replicate": entry.replicate,
                "request": entry.request,
                "reply": entry.reply.to_json(),
            }
            yield json.dumps(call) + "\n"


def _calls_of(path: Path) -> Iterable[str]:
    return set(read_table(path, ["call_id"])["call_id"].to_pylist()) if path.exists() else ()


def _calls_of_labels(plan: Plan, experiment: str, model: str) -> Iterable[str]:
    shards = [path for path in map(Path, targets.shards(plan, experiment, model)) if path.exists()]
    cases = Path(f"results/cases/{plan.experiments[experiment].config.dataset}.parquet")
    return calls_of_labels(plan, experiment, model, cases, shards) if shards else ()


def _artifacts(plan: Plan) -> Iterator[Path]:
    """Yield the artifacts of the shared data sets, so that others need no files of them."""
    for name in plan.datasets_used:
        files = [
            f"cases/{name}.parquet",
            f"cases/{name}_cleaning.csv",
            f"features/{name}.parquet",
            f"records/{name}.parquet",
        ]
        if is_shared(plan, name):
            yield from (path for file in files if (path := Path("results") / file).exists())


def _failures(ledger: Ledger) -> Iterator[str]:
    """Yield the calls that failed permanently, with their cost.

    A rebuilt run then fails equally.
    """
    with ledger.transaction() as connection:
        for table in (FAILURES, REFUSALS, ATTEMPTS):
            for row in connection.execute(sa.select(table)).mappings():
                yield (
                    json.dumps(
                        {
                            "table": table.name,
                            **{name: row[name] for name in row if name != "number"},
                        }
                    )
                    + "\n"
                )


def folder_digest(folder: Path) -> str:
    """Return the sha256 of an extension's files: modules and prompts, by name and content."""
    root = folder.expanduser()
    files = sorted([*root.rglob("*.py"), *root.rglob("*.jinja")])
    digests = [
        (path.relative_to(folder.expanduser()).as_posix(), file_digest(path)) for path in files
    ]
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()
