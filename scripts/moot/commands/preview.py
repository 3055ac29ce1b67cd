"""The calls that a run would still make, found by debates with placeholder replies."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from moot.commands.estimate import LABEL, Estimate
from moot.core.artifacts import read_cases
from moot.core.endpoint_traits import endpoint_traits
from moot.core.types import JsonObject
from moot.jobs.debates import Job
from moot.jobs.standins import (
    PlaceholderPeople,
    Placeholders,
    PreviewLedger,
    run_with_placeholders,
)
from moot.jobs.statement_labels import list_judges
from moot.labels.judge import label_calls
from moot.labels.statements import are_statements
from moot.llm.identity import describe_destination, served_as
from moot.llm.ledger.ledger import Entry
from moot.llm.progress import Progress
from moot.llm.request import Reply
from moot.llm.stand_in import CHARACTERS_PER_TOKEN
from moot.plan.papers_of_run import own_experiments
from moot.plan.plan import Plan
from moot.protocols.debate import Debate, transcript_row
from moot.protocols.experiment import Experiment


def preview_rows(plan: Plan, results: Path) -> list[JsonObject]:
    """Return one row an experiment and model.

    Returns:
        experiment, model, debates, calls_in_ledger, calls_to_make, prompt_tokens and
        completion_tokens (estimated, the latter at most), usd_likely and hours (see `Estimate`),
        usd (at most, by the model's price, as configured), has_typical_speed (whether the hours
        rest on a speed that was not measured here), waves (of calls that are sent together, one
        after the other), answers_by_people (that people who sit in its debates are yet to give;
        none if no seat is a person's), needs (artifacts that must be built first; the numbers then
        rest on the debates that this preview goes through in their place, and are left out where it
        has none).
    """
    previewed: dict[str, list[tuple[JsonObject, list[Entry]]]] = {}
    with _open_preview(plan, results) as preview_of:
        for experiment in _sort_by_sources(plan.experiments):
            previewed[experiment.name] = [
                _preview_row(preview_of, experiment, model) for model in experiment.config.models
            ]
        ledger, kinds = preview_of.ledger, preview_of.kinds
        jobs = min(plan.config.shards, os.cpu_count() or 1)
        estimate = Estimate(
            plan.config.models, kinds, ledger.stored, ledger.example_entries, plan.shipped, jobs
        )
        for row, new_entries in chain.from_iterable(previewed.values()):
            if "debates" in row:
                row["usd_likely"] = estimate.usd(new_entries)
                row["hours"] = estimate.hours(new_entries, row["waves"] or 0)
                names = {entry.model for entry in new_entries}
                row["has_typical_speed"] = any(map(estimate.is_typical, names))
    rows_in_order = chain.from_iterable(previewed[name] for name in plan.experiments)
    return [row for row, _ in rows_in_order]


def _sort_by_sources(experiments: Mapping[str, Experiment]) -> list[Experiment]:
    """Sort experiments after those whose debates they depend on."""
    sources: dict[str, set[str]] = {}
    for name, experiment in experiments.items():
        needs = (experiment.needed_by(model).values() for model in experiment.config.models)
        paths = map(Path, chain.from_iterable(needs))
        names = {path.parts[1].removesuffix(".parquet") for path in paths}
        sources[name] = (names & experiments.keys()) - {name}
    return [experiments[name] for name in TopologicalSorter(sources).static_order()]


@dataclass(frozen=True, slots=True)
class _Preview:
    """Holds runs with placeholders in sequence.

    Runs that depend on another run's debates find its placeholder results.
    """

    plan: Plan
    results: Path
    ledger: PreviewLedger
    artifact_placeholders: Placeholders
    kinds: dict[str, str] = field(default_factory=dict)

    def source_artifacts(self, experiment: Experiment, model: str) -> dict[str, Path]:
        """Return the artifacts that a run's debates depend on."""
        return {name: self.results / path for name, path in experiment.needed_by(model).items()}

    def hold(
        self, experiment: Experiment, model: str, progress: Progress, people: PlaceholderPeople
    ) -> list[Debate] | None:
        """Return a run's debates, with placeholders for replies that are not in the ledger.

        None if an artifact that they depend on is missing.
        """
        sources = self.source_artifacts(experiment, model)
        artifacts = self.artifact_placeholders.substitute(sources, self.results)
        missing_paths = [path for name, path in sources.items() if name not in artifacts]
        trained_models = self.results / "assistants"  # the number of calls depends on none
        if not all(path.is_relative_to(trained_models) for path in missing_paths):
            return None
        cases, task = read_cases(self.results / "cases" / f"{experiment.config.dataset}.parquet")
        models = self.plan.models_in_job(experiment.name, model)
        job = Job(self.plan.config, experiment, models, cases, task, artifacts=artifacts)
        debates = asyncio.run(run_with_placeholders(job, self.ledger, progress, people))
        for debate in debates:
            for utterance in debate.utterances:
                self.kinds.setdefault(utterance.call_id, utterance.kind)
        self.artifact_placeholders.write(experiment.name, model, debates)
        return debates

    def label(
        self, experiment: Experiment, model: str, debates: Sequence[Debate]
    ) -> tuple[int, list[Entry]]:
        """Return the number of models' labels in the ledger, and the calls for the missing ones."""
        entries = _label_entries(self.plan, experiment, model, debates)
        call_ids = [entry.call_id for entry in entries]
        stored_ids = {entry.call_id for entry in self.ledger.entries(call_ids, requests=False)}
        new_entries = [entry for entry in entries if entry.call_id not in stored_ids]
        self.ledger.store(new_entries)
        return len(stored_ids), new_entries


@contextmanager
def _open_preview(plan: Plan, results: Path) -> Iterator[_Preview]:
    with (
        closing(PreviewLedger(plan.config.ledger)) as ledger,
        TemporaryDirectory() as folder,
    ):
        yield _Preview(plan, results, ledger, Placeholders(plan, ledger, Path(folder)))


def _preview_row(
    preview_of: _Preview, experiment: Experiment, model: str
) -> tuple[JsonObject, list[Entry]]:
    """Return the row of a run without its hours, and the calls that it would make."""
    missing = [
        str(path)
        for path in preview_of.source_artifacts(experiment, model).values()
        if not path.exists()
    ]
    row: JsonObject = {"experiment": experiment.name, "model": model, "needs": ", ".join(missing)}
    ledger = preview_of.ledger
    progress = Progress(f"preview of {experiment.name}")
    earlier_calls = set(ledger.placeholders)
    people = PlaceholderPeople()
    debates = preview_of.hold(experiment, model, progress, people)
    if debates is None:
        return row, []
    stored_labels, new_labels = preview_of.label(experiment, model, debates)
    preview_of.kinds.update(dict.fromkeys((entry.call_id for entry in new_labels), LABEL))
    new_entries = [
        entry for call_id, entry in ledger.placeholders.items() if call_id not in earlier_calls
    ]
    row |= {
        "debates": progress.debates_done,
        "calls_in_ledger": progress.ledger_calls + stored_labels,
        "calls_to_make": progress.new_calls + len(new_labels),
        "prompt_tokens": sum(entry.reply.prompt_tokens for entry in new_entries),
        "completion_tokens": sum(entry.reply.completion_tokens for entry in new_entries),
        "usd": round(progress.cost_usd + sum(entry.reply.cost_usd for entry in new_labels), 4),
        "waves": progress.waves or None,
        "answers_by_people": people.missing_answers or None,
    }
    return row, new_entries


def _label_entries(
    plan: Plan, experiment: Experiment, model: str, debates: Sequence[Debate]
) -> list[Entry]:
    """Return the calls by which models label debates, with placeholder replies; each once.

    A statement without words may have some in a real debate, so it is counted.
    """
    judges = list_judges(plan, experiment.name, model)
    rubric = plan.rubric(experiment.name)
    if not judges or rubric is None or not debates:
        return []
    rows = []
    for debate in debates:
        rows += [transcript_row(debate, utterance) for utterance in debate.utterances]
    frame = pd.DataFrame(rows)
    statements = frame[are_statements(frame, rubric.utterance_kinds)]
    turns = statements["debate_id"] + " " + statements["turn"].astype(str)
    texts = statements["text"].where(statements["text"].str.strip() != "", turns)
    facts = {debate.case.case_id: debate.case.text for debate in debates}
    entries: dict[str, Entry] = {}
    for judge in judges:
        server = served_as(judge.config)
        calls = label_calls(judge, statements.assign(text=texts), facts)
        for key, request in calls.items():
            prompt_tokens = int(request.prompt_characters / CHARACTERS_PER_TOKEN)
            max_tokens = int(request.parameters.get("max_tokens", judge.config.max_tokens))
            usd = judge.config.cost(prompt_tokens, max_tokens)
            reply = Reply(
                "", prompt_tokens=prompt_tokens, completion_tokens=max_tokens, cost_usd=usd
            )
            entries[key] = Entry(key, judge.name, request.to_json(server), 0, reply)
    return list(entries.values())


def preview(plan: Plan, results: Path) -> pd.DataFrame:
    """Return `preview_rows` as a frame with a last row of totals.

    The totals leave out unknown hours.
    """
    frame = pd.DataFrame(list(preview_rows(plan, results)), columns=_COLUMNS)
    frame[_SUMMED_COLUMNS] = frame[_SUMMED_COLUMNS].astype("float64")
    frame["has_typical_speed"] = frame["has_typical_speed"].eq(True)
    total: JsonObject = {"experiment": "total", "model": "", "needs": ""}
    total["has_typical_speed"] = frame["has_typical_speed"].any()
    frame.loc[len(frame)] = total | frame[_SUMMED_COLUMNS].sum(min_count=1).to_dict()
    return frame


def describe_trial_runs(plan: Plan) -> list[str]:
    """Return a sentence on each experiment of the user that has too few debates for an answer."""
    minimum = plan.config.min_debates
    return [
        f"{name}: fewer debates than `min_debates` ({minimum}), so that no table and no contrast"
        " has it. Raise `cases`, or lower `min_debates`."
        for name in sorted(own_experiments(plan))
        if plan.config.is_trial(plan.experiments[name].config)
    ]


def describe_servers(plan: Plan) -> str:
    """Return a line for each model of this run: its server, and where its key is read."""
    models = {name: plan.config.models[name] for name in sorted(plan.models_used)}
    return "".join(
        f"{name}: {describe_destination(model)}\n"
        for name, model in models.items()
        if not endpoint_traits(model.endpoint).is_recorded
    )


_SUMMED_COLUMNS = [
    "debates",
    "calls_in_ledger",
    "calls_to_make",
    "prompt_tokens",
    "completion_tokens",
    "usd_likely",
    "usd",
    "hours",
    "answers_by_people",
]
_COLUMNS = ["experiment", "model", *_SUMMED_COLUMNS, "waves", "has_typical_speed", "needs"]
