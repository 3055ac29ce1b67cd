"""The parts of AgenticSimLaw's tables and figures that this study computes."""

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from moot.papers import fills
from moot.papers.diagrams import draw_designs
from moot.papers.own_rows import (
    measure,
    rows_of_runs,
    rows_of_trained_models,
    scores_of,
    series_of_run,
)
from moot.papers.parts import Fact, ItemRun, OwnRow, Part, Point, Series
from moot.papers.selection import PREFIX
from moot.report.study_results import Measurement, Run, StudyResults
from moot.studies.courtroom.protocol import DEFENSE, PHASES, PROSECUTOR

STUDY = "courtroom"
DEBATE = "courtroom"
PROMPT_NAMES = {"zero_shot": "zero-shot", "cot": "CoT", "n_shot_cot": "n-shot CoT"}
"""A protocol of single prompts to its name in the paper's figures."""


def list_runs(study: StudyResults, *protocols: str) -> list[Run]:
    """List the runs of some protocols in the order of these protocols."""
    experiments = sorted(
        study.find_experiments(*protocols),
        key=lambda results: protocols.index(results.config.protocol),
    )
    return study.runs(experiments, Run)


def prompt_runs(run: ItemRun) -> Iterator[Run]:
    """Yield the runs of single prompts, without those that repeat experiments of other items.

    The paper gives the same prompts to small and to commercial models, in different tables.
    """
    for prompt_run in list_runs(run.results, *PROMPT_NAMES):
        names = {*prompt_run.paper_match.repeats, prompt_run.experiment}
        of_paper = {name for name in names if name.startswith(PREFIX)}
        if not of_paper or of_paper & set(run.item.experiments):
            yield prompt_run


@fills(STUDY, "courtroom/table1")
def model_ensemble(run: ItemRun) -> Iterable[Part]:
    """State the configured model of each row."""
    keys = [row.key for row in run.item.rows]
    return [Fact(key, run.models[key]) for key in keys if key in run.models]


@fills(STUDY, "courtroom/table4")
def single_prompts(run: ItemRun) -> Iterable[Part]:
    """Compute accuracy and F1 by model and prompt."""
    placed_runs = []
    for prompt_run in prompt_runs(run):
        protocol = prompt_run.results.config.protocol
        placed_runs.append((protocol, (prompt_run.model_name,), prompt_run))
    return rows_of_runs(run.item, placed_runs)


@fills(STUDY, "courtroom/table5")
def debates(run: ItemRun) -> Iterable[Part]:
    """Compute accuracy and F1 of debates by model."""
    runs = list_runs(run.results, DEBATE)
    return rows_of_runs(run.item, [("", (_label(debate),), debate) for debate in runs])


def _label(run: Run) -> str:
    """Return the model of a run; debates by the design of the authors' program say so."""
    has_program_design = run.params.get("silent_judge", False)
    return f"{run.model_name} (authors' program)" if has_program_design else run.model_name


@fills(STUDY, "courtroom/table6", "courtroom/table7")
def commercial_models(run: ItemRun) -> Iterable[Part]:
    """Compute the scores of each model and prompt; in Table 7 the share of NO among right ones."""
    titles = {row.key.partition("/")[2]: row.heads[1] for row in run.item.rows}
    placed_runs = []
    for prompt_run in sorted(prompt_runs(run), key=lambda prompt_run: prompt_run.model):
        title = titles[prompt_run.results.config.protocol]
        placed_runs.append(("", (prompt_run.model_name, title), prompt_run))
    rows = rows_of_runs(run.item, placed_runs)
    keys = [key for key in scores_of(run.item) if key[1].startswith("confusion:")]
    return [_with_counts(row, keys) for row in rows]


def _with_counts(row: OwnRow, keys: Collection[tuple[str, str]]) -> OwnRow:
    """Add counts of 0, which have no score, and the precision of NO.

    What Table 7 prints as precision is the share of NO among the correct answers.
    """
    counts = [row.cells[key] for key in keys if key in row.cells]
    if not counts:  # of other labels, or not Table 7
        return row
    cells = {**dict.fromkeys(keys, replace(counts[0], value=0.0)), **row.cells}
    of_no, of_yes = (cells["", f"confusion:{label}:{label}"].value for label in ("no", "yes"))
    if of_no + of_yes:
        cells["", "precision_of_no"] = Measurement(of_no / (of_no + of_yes))
    return replace(row, cells=cells)


@fills(STUDY, "courtroom/table2")
def leaderboard(run: ItemRun) -> Iterable[Part]:
    """Compute the cross-validated scores of trained models."""
    return rows_of_trained_models(run, "cross_validation")


@fills(STUDY, "courtroom/table3")
def tabpfn(run: ItemRun) -> Iterable[Part]:
    """Compute the scores of TabPFN on the test split."""
    return [row for row in rows_of_trained_models(run) if row.source == "tabpfn"]


@fills(STUDY, "courtroom/figure2")
def f1_by_seconds(run: ItemRun) -> Iterable[Part]:
    """Compute F1 and seconds a case of single prompts."""
    score = run.item.entry["x"]["score"]
    places = [(prompt, measure(prompt, score).value) for prompt in prompt_runs(run)]
    return _scatter(run, places)


@fills(STUDY, "courtroom/figure3")
def f1_by_tokens(run: ItemRun) -> Iterable[Part]:
    """Compute F1 and the tokens of a typical statement of debates."""
    runs = list_runs(run.results, DEBATE)
    return _scatter(run, [(debate, tokens_of_statement(debate)) for debate in runs])


def tokens_of_statement(run: Run) -> float:
    """Return the tokens of a statement's call, as the authors' script computes Figure 3's x.

    For each place in the order of speakers it takes the median of the prompts' tokens and that of
    the replies', adds them, and returns the median over places. Seats' strategies and the judge
    have no place.
    """
    tokens = ["prompt_tokens", "completion_tokens"]
    columns = ["debate_id", "speaker", "call_id"]
    statements = pd.concat(list(run.results.public_statements(columns, run.model)))
    statements = statements[statements["speaker"].isin([PROSECUTOR, DEFENSE])]
    calls = pd.concat([part[["call_id", *tokens]] for part in run.results.calls_of(run.model)])
    usage = statements.merge(calls, on="call_id")
    place = usage.groupby("debate_id").cumcount()
    return float(usage[tokens].groupby(place).median().sum(axis=1).median())


def _scatter(run: ItemRun, places: Iterable[tuple[Run, float]]) -> Iterator[Series]:
    for model_run, x in places:
        y = measure(model_run, run.item.entry["y"]["score"])
        if not math.isnan(x + y.value):
            prompt = _prompt_name(model_run)
            name = ", ".join(filter(None, [_label(model_run), prompt]))
            yield series_of_run(model_run, name, [Point(x, y)], group=prompt)


def _prompt_name(run: Run) -> str:
    """Return the name of a single prompt; "" for a debate."""
    return PROMPT_NAMES.get(run.results.config.protocol, "")


@fills(STUDY, "courtroom/figure4")
def sorted_prompts(run: ItemRun) -> Iterable[Part]:
    """Compute F1 and accuracy of each model and prompt."""
    return _score_series(run, prompt_runs(run))


@fills(STUDY, "courtroom/figure5")
def sorted_debates(run: ItemRun) -> Iterable[Part]:
    """Compute F1 and accuracy of each model's debates."""
    return _score_series(run, list_runs(run.results, DEBATE))


def _score_series(run: ItemRun, runs: Iterable[Run]) -> Iterator[Series]:
    for model_run in runs:
        f1 = measure(model_run, run.item.entry["y"]["score"])
        accuracy = measure(model_run, run.item.entry["y"]["second"])
        if not math.isnan(f1.value):
            label = _label(model_run)
            points = [Point(label, f1, accuracy)]
            yield series_of_run(model_run, label, points, group=_prompt_name(model_run))


@fills(STUDY, "courtroom/text")
def tokens_of_debates(run: ItemRun) -> Iterator[Part]:
    """State the tokens a case of each model's debates."""
    for debate in list_runs(run.results, DEBATE):
        tokens = measure(debate, "tokens_per_case")
        if not math.isnan(tokens.value):
            text = f"{tokens.value:,.0f} ({debate.experiment}, {_label(debate)})"
            yield Fact("courtroom/total_tokens_per_case", text)


@fills(STUDY, "courtroom/figure1")
def interaction(run: ItemRun) -> Iterable[Part]:
    """Draw the turns of a trial as they are configured."""
    return draw_designs(run, Path(__file__).parent / "interaction.yaml", phases=PHASES)
