"""A run in one file for others: plan, prompts, calls, tables, and the log that proves the replies.

For data sets that are not shared, the log has only the hashes of calls, and the cases are left out.
"""

import hashlib
import json
import platform
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

import sqlalchemy as sa

from moot import __version__
from moot.commands.datasheet import datasheet
from moot.core.artifacts import atomic_path, file_digest, read_table
from moot.core.errors import UserError
from moot.core.shipped_files import prompt_templates
from moot.core.types import Fields, Json, JsonObject
from moot.jobs.statement_labels import LabelJob, calls_of_labels
from moot.labels import HUMAN, PEOPLE
from moot.llm.ledger.database import portions
from moot.llm.ledger.ledger import Ledger
from moot.llm.ledger.reply_chain import head_of, read_log, seal
from moot.llm.ledger.tables import ATTEMPTS, FAILURES, REFUSALS
from moot.papers.items import items_file, read_papers
from moot.papers.page import SCORES, item_files
from moot.plan.papers_of_run import papers_of_run
from moot.plan.plan import Plan
from moot.report import FIGURES, TABLES
from moot.workflow import targets
from moot.workflow.dependencies import presented_study
from moot.workflow.empty_outputs import find_empty_outputs, name_of_output
from moot.workflow.provenance import RECORDS
from moot.workflow.user_files import (
    ANNOTATIONS,
    INBOX,
    annotation_files,
    answer_files,
    frozen_files,
)

SCHEMA = 2
BUNDLE = Path("results/bundle.zip")
CONFIGURATION = "configuration.json"
LABELS = "labels/"
"""The prefix of a run's name for the calls of models that label its statements."""
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
    """Return the built tables and figures, by path, with the runs behind each.

    Tables without rows and figures without data are left out, since a run may remove them.
    """
    runs_of_files: dict[str, list[str]] = {}
    sources = ((TABLES, targets.table_files), (FIGURES, targets.figure_files))
    for registry, files_of in sources:
        for names in targets.names_by_job(plan, registry).values():
            study = presented_study(registry[name].study for name in names)
            runs = targets.presented_runs(plan, study)
            runs_of_files |= {path: runs for path in files_of(names) if Path(path).exists()}
    runs_of_files |= _items_of(plan)
    empty_names = set(find_empty_outputs(runs_of_files))
    return {
        path: runs
        for path, runs in runs_of_files.items()
        if name_of_output(path) not in empty_names
    }


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
            if not item.datasets and item.kind != "example":
                files += item_files(item)
        paths = [f"results/papers/{name}/{file}" for file in files]
        runs_of_files |= {path: runs for path in paths if Path(path).exists()}
    return runs_of_files


def write_bundle(plan: Plan, raw: Fields) -> str:
    """Write `results/bundle.zip`, and return a summary with the head that proves it.

    Args:
        plan: the checked configuration.
        raw: the merged configuration before it was checked, as Snakemake passes it.

    Raises:
        UserError: no table is built, `share` names an unknown data set, or the ledger cannot be
            sealed.
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
    with (
        closing(Ledger(plan.config.ledger)) as ledger,
        atomic_path(BUNDLE) as part,
        zipfile.ZipFile(part, "w") as file,
    ):
        seal(ledger)
        contents, log, names = BundleWriter(file), _Log(plan), Pseudonyms(plan)
        configuration = (
            json.dumps(dict(raw), indent=1) + "\n"
        )  # in the order of the experiments, which tables keep
        contents.add(CONFIGURATION, [names.hide(configuration, "(?<=person:)")])
        contents.add_files(_artifacts(plan))
        for path in sorted([*map(Path, tables), *RECORDS.rglob("*.json"), *frozen_files()]):
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
        ]
        contents.add_files(shipped, plan.shipped)
        contents.add_files(
            [plan.shipped / "scripts" / "verify_bundle.py"], plan.shipped / "scripts"
        )
        contents.add("calls.jsonl", log.disclosed_calls(ledger))
        contents.add("log.txt", (f"{digest}\n" for digest in log.digests))
        contents.add("failures.jsonl", _failures(ledger))
        contents.add_files([plan.shipped / "Snakefile"], plan.shipped)
        for name in plan.datasets_used:
            if Path(f"results/cases/{name}_cleaning.csv").exists():
                contents.add(f"datasheets/{name}.md", [datasheet(plan, name)])
        manifest: JsonObject = {
            "schema": SCHEMA,
            "moot_version": __version__,
            "python": platform.python_version(),
            "log": dict(head_of(log.digests)),
            "extensions": {
                folder: folder_digest(Path(folder)) for folder in plan.config.extensions
            },
            "withheld": sorted(log.withheld),
            "tables": tables,
            "calls": log.calls,
            "files": contents.digests,
        }
        digest = hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
        contents.add("manifest.json", [_json({**manifest, "digest": digest})])
    return "\n".join(_announcement(manifest)) + "\n"


def _announcement(manifest: Fields) -> Iterator[str]:
    head, tables, withheld = manifest["log"], manifest["tables"], set(manifest["withheld"])
    call_count = sum(len(calls["shown"]) for calls in manifest["calls"].values())
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
    yield (
        "The ledger's head, which proves every reply from the day it is published:"
        f" {head['replies']}:{head['digest']}"
    )
    yield f"To check it: python scripts/verify_bundle.py {BUNDLE}"
    yield f"To rebuild it: snakemake --cores 2 replay --config bundle={BUNDLE}"


class _Log:
    """The rows of a sealed ledger in their order, and the rows behind each run.

    Attributes:
        withheld: the runs whose calls are not disclosed.
        digests: the SHA-256 of each row.
        calls: by run, and by run behind `LABELS`, the numbers of its rows: those that are `shown`
            with their content, and those `withheld`.
    """

    def __init__(self, plan: Plan) -> None:
        self.withheld = withheld_runs(plan)
        self.digests: list[str] = []
        self._runs: dict[str, list[str]] = {}
        calls_of = {
            run: _calls_of(Path(f"results/calls/{run}.parquet")) for run in targets.runs(plan)
        }
        calls_of |= {
            f"{LABELS}{run}": _calls_of_labels(plan, *run.split("/"))
            for run in targets.labelled_runs(plan)
        }
        self.calls = {run: {"shown": list[int](), "withheld": list[int]()} for run in calls_of}
        for run, calls in calls_of.items():
            for call_id in calls:
                self._runs.setdefault(call_id, []).append(run)

    def disclosed_calls(self, ledger: Ledger) -> Iterator[str]:
        """Yield the disclosed replies of the log, each as a line of JSON."""
        for rows in portions(read_log(ledger), 500):
            disclosed_rows = {
                row.call_id: (number, row)
                for number, row in enumerate(rows, len(self.digests))
                if self._record_runs(number, row.call_id)
            }
            self.digests += [row.digest for row in rows]
            requests = {
                entry.call_id: entry.request for entry in ledger.entries(list(disclosed_rows))
            }
            for call_id, (number, row) in disclosed_rows.items():
                _, model, replicate, reply = json.loads(row.content)
                call = {
                    "number": number,
                    "call_id": call_id,
                    "model": model,
                }
                yield (
                    json.dumps(
                        {
                            **call,
                            "replicate": replicate,
                            "request": requests[call_id],
                            "reply": reply,
                        }
                    )
                    + "\n"
                )

    def _record_runs(self, number: int, call_id: str) -> bool:
        """Record which runs use a reply. It is disclosed if all of these runs are."""
        runs = self._runs.get(call_id, [])
        is_shown = bool(runs) and self.withheld.isdisjoint(run.removeprefix(LABELS) for run in runs)
        for run in runs:
            self.calls[run]["shown" if is_shown else "withheld"].append(number)
        return is_shown


def _calls_of(path: Path) -> Iterable[str]:
    return set(read_table(path, ["call_id"])["call_id"].to_pylist()) if path.exists() else ()


def _calls_of_labels(plan: Plan, experiment: str, model: str) -> Iterable[str]:
    shards = [path for path in map(Path, targets.shards(plan, experiment, model)) if path.exists()]
    cases = Path(f"results/cases/{plan.experiments[experiment].config.dataset}.parquet")
    return (
        calls_of_labels(plan, LabelJob(experiment, model, cases, {(experiment, model): shards}))
        if shards
        else ()
    )


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
    """Yield the calls that failed permanently, with their cost, so that a rebuilt run fails
    equally.
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


def _json(content: Json) -> str:
    return json.dumps(content, indent=1, sort_keys=True) + "\n"
