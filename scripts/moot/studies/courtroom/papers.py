"""The parts of AgenticSimLaw's tables and figures that this study computes."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from moot.core.types import Fields
from moot.papers import fills
from moot.papers.parts import (
    Design,
    Diagram,
    Fact,
    ItemRun,
    OwnRow,
    Part,
    Point,
    Series,
    Step,
    count_cases,
    measure,
    rows_of_runs,
)
from moot.report.published import repeated_baseline_values
from moot.report.study_results import Measurement, Run, StudyResults
from moot.studies.courtroom.protocol import DEFENSE, JUDGE, PHASES, PROSECUTOR, SILENT_JUDGE
from moot.training.baselines import REBALANCED

STUDY = "courtroom"
DEBATE = "courtroom"
PUBLISHED_PROMPTS = ("zero_shot", "cot", "n_shot_cot")


def list_runs(study: StudyResults, *protocols: str) -> list[Run]:
    """List the runs of some protocols in the order of these protocols."""
    experiments = sorted(
        study.find_experiments(*protocols),
        key=lambda results: protocols.index(results.config.protocol),
    )
    return study.runs(experiments, Run)


PAPER, COMMERCIAL = "paper-", "-commercial"
"""The prefix of experiments of the papers' designs, and the suffix of those with commercial
models.
"""
PROMPT_NAMES = {"zero_shot": "zero-shot", "cot": "CoT", "n_shot_cot": "n-shot CoT"}
PROMPT_NAMES_OF_TABLES = {
    "table6": {"zero_shot": "zero-shot", "cot": "cot", "n_shot_cot": "n-shot"},
    "table7": {"zero_shot": "system1", "cot": "cot", "n_shot_cot": "cot-nshot"},
}


@fills("courtroom/table1", STUDY)
def model_ensemble(run: ItemRun) -> list[Part]:
    """State the configured model of each row."""
    keys = [row.key for row in run.item.rows]
    return [Fact(key, run.models[key]) for key in keys if key in run.models]


@fills("courtroom/table4", STUDY)
def single_prompts(run: ItemRun) -> list[Part]:
    """Compute accuracy and F1 by model and prompt."""
    placed_runs = []
    for prompt_run in _prompt_runs(run):
        protocol = prompt_run.results.config.protocol
        placed_runs.append((protocol, (prompt_run.model_name,), prompt_run))
    return [*rows_of_runs(run.item, placed_runs)]


def _prompt_runs(run: ItemRun) -> Iterator[Run]:
    """Yield the runs of single prompts, without runs of the paper's other ensemble.

    The paper gives the same prompts to small and to commercial models, in different tables.
    """
    repeats_commercial = all(name.endswith(COMMERCIAL) for name in run.item.experiments)
    for prompt_run in list_runs(run.results, *PUBLISHED_PROMPTS):
        designs = {*prompt_run.paper_match.repeats, prompt_run.experiment}
        of_paper = {name for name in designs if name.startswith(PAPER)}
        is_commercial = any(name.endswith(COMMERCIAL) for name in of_paper)
        if not of_paper or is_commercial == repeats_commercial:
            yield prompt_run


@fills("courtroom/table5", STUDY)
def debates(run: ItemRun) -> list[Part]:
    """Compute accuracy and F1 of debates by model."""
    runs = list_runs(run.results, DEBATE)
    return [*rows_of_runs(run.item, [("", (_label(debate),), debate) for debate in runs])]


def _label(run: Run) -> str:
    """Return the model of a run; debates by the design of the authors' program say so."""
    has_program_design = run.params.get("silent_judge", False)
    return f"{run.model_name} (authors' program)" if has_program_design else run.model_name


@fills("courtroom/table6", STUDY)
def commercial_models(run: ItemRun) -> list[Part]:
    """Compute accuracy and F1 of each model and prompt."""
    return [*_rows_by_prompt(run)]


def _rows_by_prompt(run: ItemRun) -> list[OwnRow]:
    names = PROMPT_NAMES_OF_TABLES[run.item.key]
    placed_runs = []
    for prompt_run in _prompt_runs(run):
        heads = (prompt_run.model_name, names[prompt_run.results.config.protocol])
        placed_runs.append(("", heads, prompt_run))
    rows = rows_of_runs(run.item, placed_runs)
    models = list(dict.fromkeys(row.heads[0] for row in rows))
    return sorted(rows, key=lambda row: models.index(row.heads[0]))


@fills("courtroom/table7", STUDY)
def commercial_counts(run: ItemRun) -> list[Part]:
    """Count the cases by outcome and prediction; the precision is for NO."""
    rows = []
    for row in _rows_by_prompt(run):
        right, wrong = row.cells.get(("", "tn/binary")), row.cells.get(("", "fn/binary"))
        cells = dict(row.cells)
        if right and wrong and right.value + wrong.value:
            cells["", "precision_of_no"] = Measurement(right.value / (right.value + wrong.value))
        rows.append(replace(row, cells=cells))
    return [*rows]


@fills("courtroom/table2", STUDY)
def leaderboard(run: ItemRun) -> list[Part]:
    """Compute the cross-validated scores of trained models."""
    return [*_trained_rows(run, "cross_validation")]


@fills("courtroom/table3", STUDY)
def tabpfn(run: ItemRun) -> list[Part]:
    """Compute the scores of TabPFN on the test split."""
    return [row for row in _trained_rows(run, "test") if row.source == "tabpfn"]


def _trained_rows(run: ItemRun, evaluation: str) -> Iterator[OwnRow]:
    table = run.item.published.partition("/")[2]
    order = [row.key for row in run.item.rows]
    titles = {row.key: row.heads[1] for row in run.item.rows if len(row.heads) > 1}
    for data, board in run.results.baselines.items():
        board_rows = board[(board["evaluation"] == evaluation)].to_dict("records")
        board_rows.sort(key=partial(_place_of_baseline, order))
        for board_row in board_rows:
            name = str(board_row["baseline"])
            paper_name = name.removesuffix(REBALANCED)
            cells: dict[tuple[str, str], Measurement] = {}
            for score in _scores(run):
                value = board_row.get(score, math.nan)
                if isinstance(value, (int, float)) and not math.isnan(value):
                    low, high = (
                        board_row.get(f"{score}_{end}", math.nan) for end in ("low", "high")
                    )
                    cells["", score] = Measurement(value, low, high, board_row["n"])
            published = repeated_baseline_values(run.results, table, data, paper_name)
            heads = (name, titles.get(name, str(board_row["title"])))
            row = paper_name if published and paper_name in order else ""
            label = run.results.data_label(data)
            if cells:
                yield OwnRow(heads, name, label, float(board_row["n"]), cells, published, row)


def _place_of_baseline(
    order: Sequence[str], row: Mapping[Hashable, object]
) -> tuple[int, bool, str]:
    """Return the place of a model: the paper's, then the others; plain before rebalanced."""
    name = str(row["baseline"])
    paper_name = name.removesuffix(REBALANCED)
    place = order.index(paper_name) if paper_name in order else len(order)
    return place, name != paper_name, name


def _scores(run: ItemRun) -> list[str]:
    scores: dict[str, None] = {}
    for row in run.item.rows:
        for column in run.item.columns:
            scores |= dict.fromkeys(run.item.cell(row, column).scores)
    return list(filter(None, scores))


@fills("courtroom/figure2", STUDY)
def f1_by_seconds(run: ItemRun) -> list[Part]:
    """Compute F1 and seconds a case of single prompts."""
    score = run.item.entry["x"]["score"]
    places = [(prompt, measure(prompt, score).value) for prompt in _prompt_runs(run)]
    return [*_scatter(run, places)]


@fills("courtroom/figure3", STUDY)
def f1_by_tokens(run: ItemRun) -> list[Part]:
    """Compute F1 and the tokens of a typical statement of debates."""
    debates = list_runs(run.results, DEBATE)
    return [*_scatter(run, [(debate, tokens_of_statement(debate)) for debate in debates])]


def tokens_of_statement(run: Run) -> float:
    """Return the tokens of a statement's call, as the authors' script computes Figure 3's x.

    For each place in the order of speakers it takes the median of the prompts' tokens and that of
    the replies', adds them, and returns the median over places. Seats' strategies and the judge
    have no place.
    """
    tokens = ["prompt_tokens", "completion_tokens"]
    columns = ["debate_id", "speaker", "call_id"]
    statements = pd.concat([*run.results.public_statements(columns, run.model)])
    statements = statements[statements["speaker"].isin([PROSECUTOR, DEFENSE])]
    calls = pd.concat([part[["call_id", *tokens]] for part in run.results.calls_of(run.model)])
    usage = statements.merge(calls, on="call_id")
    place = usage.groupby("debate_id").cumcount()
    return float(usage[tokens].groupby(place).median().sum(axis=1).median())


def _scatter(run: ItemRun, places: Iterable[tuple[Run, float]]) -> Iterator[Series]:
    for model_run, x in places:
        y = measure(model_run, run.item.entry["y"]["score"])
        if not math.isnan(x + y.value):
            yield _series(model_run, Point(x, y))


def _series(run: Run, *points: Point) -> Series:
    prompt = PROMPT_NAMES.get(run.results.config.protocol, "")
    name = f"{run.model_name}, {prompt}" if prompt else _label(run)
    data, cases = run.data, count_cases([run])
    return Series(name, run.experiment, points, group=prompt, data=data, cases=cases)


@fills("courtroom/figure4", STUDY)
def sorted_prompts(run: ItemRun) -> list[Part]:
    """Compute F1 and accuracy of each model and prompt."""
    return [*_score_series(run, _prompt_runs(run))]


@fills("courtroom/figure5", STUDY)
def sorted_debates(run: ItemRun) -> list[Part]:
    """Compute F1 and accuracy of each model's debates."""
    return [*_score_series(run, list_runs(run.results, DEBATE))]


def _score_series(run: ItemRun, runs: Iterable[Run]) -> Iterator[Series]:
    for model_run in runs:
        f1 = measure(model_run, run.item.entry["y"]["score"])
        accuracy = measure(model_run, run.item.entry["y"]["second"])
        if not math.isnan(f1.value):
            yield replace(
                _series(model_run, Point(_label(model_run), f1, accuracy)), name=_label(model_run)
            )


@fills("courtroom/text", STUDY)
def tokens_of_debates(run: ItemRun) -> list[Part]:
    """State the tokens a case of each model's debates."""
    facts: list[Part] = []
    for debate in list_runs(run.results, DEBATE):
        tokens = measure(debate, "tokens_per_case")
        if not math.isnan(tokens.value):
            text = f"{tokens.value:,.0f} ({debate.experiment}, {_label(debate)})"
            facts.append(Fact("courtroom/total_tokens_per_case", text))
    return facts


@fills("courtroom/figure1", STUDY)
def interaction(run: ItemRun) -> list[Part]:
    """Draw the turns of a trial as they are configured."""
    return run.draw_designs(_trial_diagram)


def _trial_diagram(design: Design) -> Diagram:
    params = design.params
    steps: list[Step] = []
    statements: list[int] = []
    beliefs: list[int] = []
    for number, phase in enumerate(PHASES, start=1):
        stage = f"Round {number}: {phase}"
        for seat in (PROSECUTOR, DEFENSE):
            _add_turn(params, steps, statements, seat, phase, stage)
            if params["beliefs"] == "after_turn":
                _add_belief(params, steps, statements, beliefs, stage)
        if params["beliefs"] == "after_round":
            _add_belief(params, steps, statements, beliefs, stage)
    text = f"turn {len(statements) + 1}: verdict with prediction, confidence and reasons"
    text += ", and a critique of both sides" if params["critique"] else ""
    has_silent_judge = bool(params["silent_judge"])
    reads = _judge_reads(params, statements, [] if has_silent_judge else beliefs)
    steps.append(Step(JUDGE, text, reads, stage="Verdict"))
    sees = {
        "facts": "the facts alone",
        "transcript": "the statements alone",
        "ranked": "the most important facts and all statements",
    }
    notes = [
        f"The judge reads {sees.get(str(params['judge_sees']), 'the facts and all statements')}."
        " Every advocate reads the facts and all earlier statements. Dashed boxes are private."
        " Arrows show what is new to the reader.",
    ]
    if params["critique"]:
        notes.append("The paper's protocol names no critique; its appendix B prints one.")
    judges = (JUDGE, SILENT_JUDGE) if has_silent_judge else (JUDGE,)
    return Diagram("", (PROSECUTOR, *judges, DEFENSE), tuple(steps), tuple(notes))


def _add_turn(
    params: Fields, steps: list[Step], statements: list[int], seat: str, phase: str, stage: str
) -> None:
    """Add the private strategy of an advocate, if there is one, and the public statement."""
    reads = tuple(statements[-1:])
    if params["strategy"] in ("call", "inline"):
        steps.append(Step(seat, "private strategy", reads, True, stage))
        reads = (len(steps) - 1,)
    text = f"turn {len(statements) + 1}: {phase} statement"
    text += ", by fixed points" if params["strategy"] == "fixed" else ""
    steps.append(Step(seat, text, reads, stage=stage))
    statements.append(len(steps) - 1)


def _add_belief(
    params: Fields, steps: list[Step], statements: list[int], beliefs: list[int], stage: str
) -> None:
    seat, earlier_beliefs = JUDGE, beliefs
    if params["silent_judge"]:
        seat, earlier_beliefs = SILENT_JUDGE, []
    reads = _judge_reads(params, statements, earlier_beliefs)
    text = "private belief: prediction, confidence, reasons"
    steps.append(Step(seat, text, reads, True, stage))
    beliefs.append(len(steps) - 1)


def _judge_reads(params: Fields, statements: list[int], beliefs: list[int]) -> tuple[int, ...]:
    """Return the judge's last belief and, if the judge hears them, the statements since."""
    new = [place for place in statements if not beliefs or place > beliefs[-1]]
    return (*beliefs[-1:], *(new if params["judge_sees"] != "facts" else ()))
