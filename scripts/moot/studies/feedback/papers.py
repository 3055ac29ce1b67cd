"""The parts of Debate-Feedback's tables and figures that this study computes."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import pandas as pd

from moot.core.utterance_kinds import OPENING, RELIABILITY, STATEMENT_SUMMARY
from moot.papers import fills
from moot.papers.parts import (
    Design,
    Diagram,
    Example,
    ExampleRow,
    Fact,
    ItemRun,
    OwnRow,
    Part,
    Point,
    Series,
    Step,
    count_answers,
    count_cases,
    measure_strictly,
    rows_of_runs,
    wording_of,
)
from moot.papers.selection import PREFIX
from moot.report import study_results
from moot.report.published import repeated_baseline_values, repeated_values
from moot.report.study_results import Measurement, StudyResults
from moot.scores.results import ExperimentResults
from moot.scores.score import OVERALL

STUDY = "feedback"
DEBATE = "feedback"
SINGLE, ASSISTED = "Debate-Feedback (single)", "Debate-Feedback (assistant)"
METHODS = {
    "zero_shot": "zero-shot",
    "few_shot": "few-shot",
    "cot": "chain of thought",
    "four_step_cot": "chain of thought, 4 steps",
    "reflexion": "Reflexion",
    "self_consistency": "self-consistency",
}
SWEPT = ("debaters", "rounds")


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
    """Return the runs over test cases that belong to no sweep, in the order of methods; of all
    protocols if none is given.

    Of two runs of a model with the same parameters the first belongs to no sweep.
    """
    order = [*METHODS, DEBATE]
    swept_runs = set[tuple[str, str]]()
    for name in SWEPT:
        for group in sweeps(results, name):
            swept_runs.update(_in_sweep(group, name))
    experiments = [
        results_of_run
        for results_of_run in results.find_experiments(*protocols)
        if results_of_run.config.split == "test" and results_of_run.config.protocol in order
    ]
    experiments.sort(
        key=lambda results_of_run: (
            order.index(results_of_run.config.protocol),
            bool(results_of_run.config.params.get("assistant")),
        )
    )
    return [
        run
        for run in results.runs(experiments, Run)
        if (run.experiment, run.model) not in swept_runs
    ]


def sweeps(results: StudyResults, name: str) -> list[list[ExperimentResults]]:
    """Group debates over the same cases that differ in one parameter only.

    They are sorted by the values of the parameter.
    """
    groups: dict[tuple[object, ...], list[ExperimentResults]] = {}
    for experiment in results.find_experiments(DEBATE):
        if experiment.config.split == "test":
            parameters = sorted(
                (key, repr(value)) for key, value in experiment.config.params.items() if key != name
            )
            cases = tuple(sorted(experiment.predictions["case_id"].unique()))
            groups.setdefault((experiment.config.dataset, cases, *parameters), []).append(
                experiment
            )
    swept = []
    for group in groups.values():
        values = {experiment.config.params[name] for experiment in group}
        if len(values) > 1:
            group.sort(key=lambda experiment: float(experiment.config.params[name]))
            swept.append(group)
    return swept


def _in_sweep(group: Sequence[ExperimentResults], name: str) -> Iterator[tuple[str, str]]:
    """Yield the experiments and models of a sweep; of a model's runs with the same parameters all
    but the first.
    """
    models = chain.from_iterable(experiment.config.models for experiment in group)
    for model in dict.fromkeys(models):
        of_model = [
            results_of_run for results_of_run in group if model in results_of_run.config.models
        ]
        values = [results_of_run.config.params[name] for results_of_run in of_model]
        for place, results_of_run in enumerate(of_model):
            if len(set(values)) > 1 and (
                values[place] in values[:place] or values.count(values[place]) == 1
            ):
                yield results_of_run.experiment, model


JUDGE, ASSISTANT, DEBATER = "judge", "assistant", "debater "
MAX_EXAMPLE_CHARS = 700
FEATURES = {"tfidf": "TF-IDF vectors"}


@fills("feedback/table2", STUDY)
def models(run: ItemRun) -> list[Part]:
    """Compute accuracy and F1 of trained models, single prompts and debates, by data set."""
    runs = list_runs(run.results, DEBATE, "zero_shot")
    return [*_trained_rows(run), *_method_rows(run, runs)]


@fills("feedback/table3", STUDY)
def reasoning(run: ItemRun) -> list[Part]:
    """Compute accuracy and F1 by method of reasoning and data set."""
    return [*_method_rows(run, list_runs(run.results))]


def _method_rows(run: ItemRun, runs: list[Run]) -> list[OwnRow]:
    placed_runs = []
    for model_run in runs:
        heads = (f"{model_run.method}, {model_run.model_name}",)
        placed_runs.append((_data_part(model_run), heads, model_run))
    rows = rows_of_runs(run.item, placed_runs)
    by_experiment = {(model_run.experiment, model_run.model): model_run for model_run in runs}
    return [_with_subset_accuracy(row, by_experiment) for row in rows]


def _data_part(run: Run) -> str:
    """Return the loader of a run's data; masked data are not part of the paper's tables."""
    config = run.results.config
    is_whole = config.dataset.removeprefix(PREFIX) == config.loader
    return config.loader if is_whole else f"other {config.dataset}"


def _with_subset_accuracy(row: OwnRow, runs: dict[tuple[str, str], Run]) -> OwnRow:
    """Compare whole answers where cases have several labels, as the paper's Equation 2 does."""
    cells, strict_cells = dict(row.cells), dict(row.strict_cells)
    for (experiment, model), run in runs.items():
        is_of_row = experiment in row.source.split(", ") and model in row.heads[0]
        if is_of_row and run.results.task.multilabel:
            cells[_data_part(run), "accuracy"] = run.measurement("subset_accuracy")
            strict_cells[_data_part(run), "accuracy"] = measure_strictly(run, "subset_accuracy")
    return replace(row, cells=cells, strict_cells=strict_cells)


def _trained_rows(run: ItemRun) -> Iterator[OwnRow]:
    table = run.item.published.partition("/")[2]
    rows: dict[str, OwnRow] = {}
    for data, board in run.results.baselines.items():
        loader = run.results.experiment_by_dataset[data].config.loader
        tested = board[(board["evaluation"] == "test") & board["accuracy"].notna()]
        for board_row in tested.to_dict("records"):
            name = str(board_row["baseline"])
            cells = {}
            for score, column in (("accuracy", "accuracy"), ("f1/macro", "f1_macro")):
                value = board_row.get(column, math.nan)
                low, high = (board_row.get(f"{column}_{end}", math.nan) for end in ("low", "high"))
                cells[loader, score] = Measurement(value, low, high, board_row["n"])
            published = repeated_baseline_values(run.results, table, data, name)
            label = run.results.data_label(data)
            row_key = name if published else ""
            own_row = OwnRow(
                (f"{board_row['title']} (trained)",),
                name,
                label,
                float(board_row["n"]),
                cells,
                published,
                row_key,
            )
            rows[name] = _merge_rows(rows[name], own_row) if name in rows else own_row
    yield from rows.values()


def _merge_rows(first: OwnRow, second: OwnRow) -> OwnRow:
    """Return one row of two data sets."""
    return replace(
        first,
        data=f"{first.data}, {second.data}",
        cases=max(first.cases, second.cases),
        cells={**first.cells, **second.cells},
        published={**first.published, **second.published},
        row=first.row or second.row,
    )


@fills("feedback/table5", STUDY)
def smoothing(run: ItemRun) -> list[Part]:
    """Count corrections and degradations without smoothing (T = 1) and with it."""
    rows: list[Part] = []
    table = run.item.published.partition("/")[2]
    for debate in list_runs(run.results, DEBATE):
        published = repeated_values(debate, table)
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
            place_of_cases = (debate.experiment, debate.data, count_cases([debate]))
            if cells:
                own_row = OwnRow(heads, *place_of_cases, cells, published, row if published else "")
                answers, wording = count_answers([debate]), wording_of([debate])
                rows.append(replace(own_row, answers=answers, wording=wording))
    return rows


@fills("feedback/figure2", STUDY)
def debaters(run: ItemRun) -> list[Part]:
    """Compute accuracy by the number of debaters."""
    return [*_sweep_series(run, "debaters")]


@fills("feedback/figure3", STUDY)
def rounds(run: ItemRun) -> list[Part]:
    """Compute accuracy by the number of rounds."""
    return [*_sweep_series(run, "rounds")]


def _sweep_series(run: ItemRun, name: str) -> Iterator[Series]:
    """Yield the sweeps of a parameter, then the debates that belong to no sweep.

    Other experiments of the paper's design repeat a point of its sweep.
    """
    swept: set[tuple[str, str]] = set()
    for group in sweeps(run.results, name):
        for model in group[0].config.models:
            runs = [Run(results, model, run.results) for results in group]
            swept |= {(model_run.experiment, model) for model_run in runs}
            yield _series(_one_run_a_value(runs, name, run.item.experiments), name)
    for model_run in list_runs(run.results, DEBATE):
        is_of_paper = model_run.experiment.startswith(PREFIX)
        if (model_run.experiment, model_run.model) not in swept and not is_of_paper:
            yield _series([model_run], name)


def _one_run_a_value(runs: list[Run], name: str, experiments: Sequence[str]) -> list[Run]:
    """Return a run for each value of a parameter, if possible of the item's own experiments."""
    runs_of_values: dict[float, Run] = {}
    for model_run in runs:
        is_own = model_run.experiment.startswith(tuple(experiments))
        value = float(model_run.params[name])
        if is_own or value not in runs_of_values:
            runs_of_values[value] = model_run
    return [runs_of_values[value] for value in sorted(runs_of_values)]


def _series(runs: list[Run], name: str) -> Series:
    points = []
    for run in runs:
        metric = "subset_accuracy" if run.results.task.multilabel else "accuracy"
        points.append(Point(float(run.params[name]), run.measurement(metric)))
    label = f"{runs[0].method}, {runs[0].model_name}"
    return Series(
        label,
        runs[0].experiment,
        tuple(points),
        data=runs[0].data,
        cases=count_cases(runs),
    )


# Facts, diagram and example


@fills("feedback/table1", STUDY)
def assistant_data(run: ItemRun) -> list[Part]:
    """State the training data of the configured assistant."""
    params = next(
        (design.params for design in run.designs if design.params.get("assistant")),
        run.designs[0].params,
    )
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


@fills("feedback/figure1", STUDY)
def structure(run: ItemRun) -> list[Part]:
    """Draw the four steps of a round as they are configured."""
    return run.draw_designs(_round_diagram)


def _round_diagram(design: Design) -> Diagram:
    params = design.params
    seats = [f"debater {number}" for number in range(1, int(params["debaters"]) + 1)]
    steps = [Step(JUDGE, "reads the case: first prediction O₀", stage="1. Initial step")]
    rounds = int(params["rounds"])
    stage = f"2. Debate step ({'one round' if rounds == 1 else f'each of {rounds} rounds'})"
    openings = tuple(range(1, 1 + len(seats)))
    for place, seat in enumerate(seats):
        side = "argues a given side" if params["sides"] == "opposed" else "states an opinion"
        steps.append(Step(seat, side, stage=stage, is_simultaneous=place > 0))
    for place, seat in enumerate(seats):
        heard_steps = tuple(step for step in openings if step != openings[place]) or openings
        text = "comments, having read the others' opinions"
        steps.append(Step(seat, text, heard_steps, stage=stage, is_simultaneous=place > 0))
    rebuttals = tuple(range(len(steps) - len(seats), len(steps)))
    lanes = [JUDGE, *seats]
    sources = rebuttals
    if params.get("assistant"):
        lanes.append(ASSISTANT)
        stage = "3. Verification step"
        read_steps = rebuttals
        if params["statement_summaries"]:
            text = "summarises each debater's statement"
            steps.append(Step(JUDGE, text, rebuttals, stage=stage))
            read_steps = (len(steps) - 1,)
        steps.append(Step(ASSISTANT, "reliability of each opinion", read_steps, stage=stage))
        sources = (*rebuttals, len(steps) - 1)
    stage = "4. Output step"
    steps.append(Step(JUDGE, "summarises the round", sources, stage=stage))
    text = f"new prediction, smoothed with the earlier one: T = {params['weight']:g}"
    if params.get("assistant"):
        text += f"; O₀ without a mean reliability of at least {params['threshold']:g}"
    steps.append(Step(JUDGE, text, (0, len(steps) - 1), stage=stage))
    notes = ("Every seat reads the case. Without an assistant step 3 is left out.",)
    return Diagram("", tuple(lanes), tuple(steps), notes)


@fills("feedback/table4", STUDY)
def example(run: ItemRun) -> list[Part]:
    """Show the first round of this run's first debate step by step, as the paper does."""
    debates = run.results.find_experiments(DEBATE)
    for results in sorted(
        debates, key=lambda debate: debate.experiment not in run.item.experiments
    ):
        transcripts = results.transcripts
        if len(transcripts):
            is_first = pd.Series(True, transcripts.index)
            for column in ("model", "debate_id"):
                is_first &= transcripts[column] == transcripts[column].iloc[0]
            first = transcripts[is_first & (transcripts["round"] <= 1)]
            title = (
                f"{results.experiment}, {first['model'].iloc[0]}, case {first['case_id'].iloc[0]}"
            )
            rows = tuple(_example_rows(run, first))
            return [Example(title, rows, results.experiment)]
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
        seats = rows["parsed"].map(lambda parsed: json.loads(parsed)["debater"])
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
            excerpt = text if len(text) <= MAX_EXAMPLE_CHARS else f"{text[:MAX_EXAMPLE_CHARS]} […]"
            name = "opinion" if kind == OPENING else str(kind)
            lines.append(f"{speaker}, {name}: {excerpt}" if has_speaker else f"{name}: {excerpt}")
    return "\n\n".join(lines)
