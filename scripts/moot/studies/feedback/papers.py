"""The parts of Debate-Feedback's tables and figures that this study computes."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.utterance_kinds import OPENING, RELIABILITY, STATEMENT_SUMMARY
from moot.papers import fills
from moot.papers.diagrams import draw_designs
from moot.papers.examples import excerpt, first_debate
from moot.papers.own_rows import (
    count_cases,
    measure,
    row_of_runs,
    rows_of_runs,
    rows_of_trained_models,
    series_of_run,
)
from moot.papers.parts import Example, ExampleRow, Fact, ItemRun, OwnRow, Part, Point, Series
from moot.papers.selection import PREFIX
from moot.report import study_results
from moot.report.published import repeated_values
from moot.report.study_results import StudyResults
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL

STUDY = "feedback"
DEBATE = "feedback"
CASELAW = "caselaw"
SINGLE, ASSISTED = "Debate-Feedback (single)", "Debate-Feedback (assistant)"
METHODS = {
    "zero_shot": "zero-shot",
    "few_shot": "few-shot",
    "cot": "chain of thought",
    "four_step_cot": "chain of thought, 4 steps",
    "reflexion": "Reflexion",
    "self_consistency": "self-consistency",
}
SWEPT_IN_FIGURES = {"figure2": "debaters", "figure3": "rounds"}


@dataclass(frozen=True)
class Run(study_results.Run):
    """One experiment and one of its models."""

    @property
    def method(self) -> str:
        """The method in words; Debate-Feedback by whether it has an assistant."""
        protocol = self.results.config.protocol
        if protocol == DEBATE:
            return ASSISTED if self.params.get("assistant") else SINGLE
        return METHODS.get(protocol, protocol)


def list_runs(results: StudyResults, *protocols: str) -> list[Run]:
    """Return the runs over test cases that belong to no sweep, in the order of methods.

    Without `protocols` those of all protocols are returned.
    """
    order = [*METHODS, DEBATE]
    swept_names: set[str] = set()
    for name in SWEPT_IN_FIGURES.values():
        for group in sweeps(results, name):
            swept_names.update(results_of_run.experiment for results_of_run in group)
    experiments = [
        experiment
        for experiment in results.find_experiments(*protocols)
        if experiment.config.split == "test"
        and experiment.config.protocol in order
        and experiment.experiment not in swept_names
    ]
    experiments.sort(
        key=lambda experiment: (
            order.index(experiment.config.protocol),
            bool(experiment.config.params.get("assistant")),
        )
    )
    return results.runs(experiments, Run)


def sweeps(results: StudyResults, name: str) -> list[list[ExperimentResults]]:
    """Group the debates of a grid that differ in one parameter, sorted by its values."""
    groups: dict[tuple[object, ...], list[ExperimentResults]] = {}
    for experiment in results.find_experiments(DEBATE):
        config = experiment.config
        if config.split == "test":
            values = [(key, repr(config.params[key])) for key in sorted(config.params)]
            fixed_values = [value for value in values if value[0] != name]
            key = (config.entry, config.prompts, *fixed_values)
            groups.setdefault(key, []).append(experiment)
    swept_groups = []
    for group in groups.values():
        group.sort(key=lambda experiment: float(experiment.config.params[name]))
        if group[0].config.params[name] != group[-1].config.params[name]:
            swept_groups.append(group)
    return swept_groups


JUDGE, ASSISTANT, DEBATER = "judge", "assistant", "debater "
MAX_EXAMPLE_CHARS = 700
FEATURES = {"tfidf": "TF-IDF vectors"}


@fills(STUDY, "feedback/table2")
def models(run: ItemRun) -> Iterable[Part]:
    """Compute accuracy and F1 of trained models, single prompts and debates, by data set."""
    runs = list_runs(run.results, DEBATE, "zero_shot")
    return [*rows_of_trained_models(run), *_method_rows(run, runs)]


@fills(STUDY, "feedback/table3")
def reasoning(run: ItemRun) -> Iterable[Part]:
    """Compute accuracy and F1 by method of reasoning and data set."""
    return _method_rows(run, list_runs(run.results))


def _method_rows(run: ItemRun, runs: list[Run]) -> list[OwnRow]:
    placed_runs = []
    for model_run in runs:
        config = model_run.results.config
        # Masked data are not part of the paper's tables.
        if config.dataset.removeprefix(PREFIX) == config.loader:
            heads = (f"{model_run.method}, {model_run.model_name}",)
            placed_runs.append((config.loader, heads, model_run))
    return rows_of_runs(run.item, placed_runs)


@fills(STUDY, "feedback/table5")
def smoothing(run: ItemRun) -> Iterator[Part]:
    """Count corrections and degradations without smoothing (T = 1) and with it."""
    for debate in list_runs(run.results, DEBATE):
        if debate.results.config.loader != CASELAW:
            continue  # the paper counts on CaseLaw alone
        published = repeated_values(debate, run.item.published_table)
        for row, group in (("without_smoothing", "T=1"), ("with_smoothing", OVERALL)):
            cells = {}
            for score, metric in (
                ("corrections", "corrections"),
                ("degradations", "degradations"),
                ("accuracy", "accuracy_final"),
            ):
                value = debate.measurement(metric, group=group)
                if not math.isnan(value.value):
                    cells["", score] = value
            heads = (f"{row.replace('_', ' ').capitalize()}, {debate.method}, {debate.model_name}",)
            if cells:
                row_key = row if published else ""
                yield row_of_runs([debate], heads, cells, published, row=row_key)


@fills(STUDY, "feedback/figure2", "feedback/figure3")
def accuracy_by_number(run: ItemRun) -> Iterator[Part]:
    """Compute accuracy by the number of debaters or rounds.

    Own debates that belong to no sweep follow. The paper's debates repeat a point of its sweep.
    """
    name = SWEPT_IN_FIGURES[run.item.key]
    for group in sweeps(run.results, name):
        for model in group[0].config.models:
            runs = [Run(results, model, run.results) for results in group]
            yield _series(runs, name, runs[0].results.config.entry)
    for model_run in list_runs(run.results, DEBATE):
        if not model_run.experiment.startswith(PREFIX):
            yield _series([model_run], name, model_run.experiment)


def _series(runs: list[Run], name: str, source: str) -> Series:
    points = [Point(float(run.params[name]), measure(run, "accuracy")) for run in runs]
    label, cases = f"{runs[0].method}, {runs[0].model_name}", count_cases(runs)
    return series_of_run(runs[0], label, points, source=source, cases=cases)


# Facts, diagram and example


@fills(STUDY, "feedback/table1")
def assistant_data(run: ItemRun) -> Iterable[Part]:
    """State the training data of the configured assistant."""
    params_of_designs = [design.view.params for design in run.designs]
    with_assistant = (params for params in params_of_designs if params.get("assistant"))
    params = next(with_assistant, params_of_designs[0])
    features = str(params["assistant_features"])
    source = str(params.get("assistant") or "no assistant configured")
    opinion = (
        "summary of the debater's opinion" if params["statement_summaries"] else "debater's opinion"
    )
    texts = {
        "training_x": f"case text + {opinion}, as {FEATURES.get(features, features)} ({source})",
        "training_y": "whether the label that the opinion argues for is the true one",
    }
    return [Fact(row, text) for row, text in texts.items()]


@fills(STUDY, "feedback/figure1")
def structure(run: ItemRun) -> Iterable[Part]:
    """Draw the four steps of a round as they are configured."""
    return draw_designs(run, Path(__file__).parent / "structure.yaml")


@fills(STUDY, "feedback/table4")
def example(run: ItemRun) -> Iterable[Part]:
    """Show the first round of this run's first debate step by step, as the paper does."""
    debates = run.results.find_experiments(DEBATE)
    for results in sorted(
        debates, key=lambda debate: debate.experiment not in run.item.experiments
    ):
        transcripts = results.transcripts
        if len(transcripts):
            first = first_debate(transcripts)
            first = first[first["round"] <= 1]
            title = (
                f"{results.experiment}, {first['model'].iloc[0]}, case {first['case_id'].iloc[0]}"
            )
            rows = tuple(_example_rows(run, first))
            return [Example(title, rows, results.config.made_up)]
    return []


def _example_rows(run: ItemRun, debate: pd.DataFrame) -> Iterator[ExampleRow]:
    """Yield the rows of one round: a cell of the judge, or a cell for each debater."""
    initial_step, debate_step, verification_step, output_step = [
        step["head"] for step in run.item.entry["steps"]
    ]
    is_of_judge = debate["speaker"] == JUDGE
    is_summary = debate["kind"] == "summary"
    judge_rows = debate[is_of_judge & ~is_summary & (debate["kind"] != STATEMENT_SUMMARY)]
    yield ExampleRow(initial_step, {JUDGE: _quote(judge_rows.head(1))})
    of_debaters = debate[debate["speaker"].str.startswith(DEBATER)]
    for _, rows in of_debaters.groupby("kind", sort=False):
        yield ExampleRow(debate_step, _quote_seats(rows, rows["speaker"]))
    about_debaters = debate[debate["kind"].isin([STATEMENT_SUMMARY, RELIABILITY])]
    for _, rows in about_debaters.groupby("kind", sort=False):
        seats = rows["parsed"].map(lambda parsed: json.loads(str(parsed))["debater"])
        yield ExampleRow(verification_step, _quote_seats(rows, seats))
    if not (debate["kind"] == RELIABILITY).any():
        yield ExampleRow(verification_step, {ASSISTANT: "This debate has no assistant."})
    last_rows = pd.concat([debate[is_summary], judge_rows.iloc[1:].tail(2)])
    yield ExampleRow(output_step, {JUDGE: _quote(last_rows)})


def _quote_seats(rows: pd.DataFrame, seats: "pd.Series[str]") -> dict[str, str]:
    """Return the texts of utterances by the debater who spoke or of whom they are."""
    return {
        str(seat): _quote(rows_of_seat, has_speaker=False)
        for seat, rows_of_seat in rows.groupby(seats, sort=False)
    }


def _quote(rows: pd.DataFrame, has_speaker: bool = True) -> str:
    """Return the texts of utterances; the answer in place of a text that is empty."""
    lines = []
    columns = ["speaker", "kind", "text", "prediction"]
    for speaker, kind, words, answer in rows[columns].itertuples(index=False, name=None):
        text = words or (answer if isinstance(answer, str) else "")
        if text:
            name = "opinion" if kind == OPENING else str(kind)
            name = f"{speaker}, {name}" if has_speaker else name
            lines.append(f"{name}: {excerpt(text, MAX_EXAMPLE_CHARS)}")
    return "\n\n".join(lines)
