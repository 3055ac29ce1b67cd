"""The parts of Triem's tables and figures that this study computes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from moot.core.types import Fields
from moot.core.utterance_kinds import OVERRUN
from moot.papers import fills
from moot.papers.parts import (
    AnswerCounts,
    Clauses,
    Design,
    Diagram,
    Fact,
    ItemRun,
    OwnRow,
    Part,
    Point,
    Series,
    Step,
    wording_of,
)
from moot.report import study_results
from moot.report.published import repeated_values
from moot.report.study_results import Measurement, StudyResults
from moot.stats.statistic import share_statistic
from moot.studies.appellate.legal.rubric import (
    AFFIRMED_CODE,
    NO_STANCE_CODE,
    NOT_AFFIRMED_CODE,
    RUBRIC,
)
from moot.studies.appellate.panel_steps import build_panel_steps, is_panel, select_regular_steps

STUDY = "appellate"
PHASES = {"synthetic_panel": "synthetic", "panel": "multiagent", "human_panel": "human_ai"}
"""The phase of each protocol as the published figures name it."""
PHASE_TITLES = {"synthetic": "synthetic", "multiagent": "multi-agent", "human_ai": "human-AI"}


@dataclass(frozen=True)
class Phase(study_results.Run):
    """One experiment and model of one phase with its steps.

    Attributes:
        name: "synthetic", "multiagent" or "human_ai", as the published figures name the phase.
        steps: the rows of `build_panel_steps` for this model.
    """

    name: str
    steps: pd.DataFrame

    @property
    def judges(self) -> int:
        """The number of judges of a panel."""
        return int(self.params["judges"])

    @property
    def rounds(self) -> int:
        """The number of rounds of a debate."""
        return int(self.params["rounds"])


def list_phases(results: StudyResults) -> Iterator[Phase]:
    """Yield every labelled experiment and model of the study in the order of the paper's phases."""
    for protocol, name in PHASES.items():
        for experiment in results.find_experiments(protocol):
            if is_panel(experiment):
                steps = build_panel_steps(experiment)
                for model in experiment.config.models:
                    yield Phase(experiment, model, results, name, steps[steps["model"] == model])


CODES = {"code1": AFFIRMED_CODE, "code0": NOT_AFFIRMED_CODE, "code3": NO_STANCE_CODE}
CODES_OF_PANELS = {"affirm": AFFIRMED_CODE, "not affirm": NOT_AFFIRMED_CODE}
PHASE_OF_FIGURES = {"figure5": "synthetic", "figure6": "multiagent", "figure7": "human_ai"}
HUMAN_SEAT = "human judge"
RUBRIC_TITLE = "The rubric of appendix ii, in moot's words and with examples of ours"
EXAMPLES_OF_LABELS = {
    "AFFIRM": "The clinic's notice was clear enough, so I would affirm the judgment below.",
    "REVERSE": "The warrant named no place to be searched; I would reverse the judgment.",
    "REMAND": "The record is silent on consent. I would remand the case for further findings.",
    "REVERSE AND REMAND": "I would reverse the dismissal and remand the case for trial.",
    "REVERSE OR REMAND": "The district court should not have dismissed the complaint.",
    "NONE": "The doctor recorded the visits. The patients had signed a form.",
    "HALLUCINATION": "The defendant broke the law on privacy. I would reverse her conviction.",
}
"""Labels of the rubric to statements of ours."""
CRITERIA_OF_LABELS = {"AFFIRM": "explicit or implicit", "REVERSE OR REMAND": "implicit"}
CRITERIA_OF_LABELS |= {"NONE": "no stance taken", "HALLUCINATION": "error"}
"""The criteria that the paper prints; of the other labels it is "explicit"."""


@fills("appellate/table1", STUDY)
def steps_by_phase(run: ItemRun) -> list[Part]:
    """Count the debates and steps of each phase."""
    rows: list[Part] = []
    for phase in list_phases(run.results):
        steps = select_regular_steps(phase.steps)
        debates = steps.groupby("case_id")["debate_id"].nunique()
        count = int(debates.sum())
        values = {
            "debates": count,
            "debates_per_case": int(debates.min()) if count else 0,
            "steps": len(steps),
            "steps_per_debate": len(steps) / count if count else 0,
        }
        values |= _human_votes(phase, steps)
        cells = {("", name): Measurement(float(value)) for name, value in values.items()}
        heads = (f"{PHASE_TITLES[phase.name]}, {phase.model_name}",)
        published = repeated_values(phase, "table1")
        row = phase.name if published else ""
        where = (phase.experiment, phase.data, float(len(debates)))
        rows.append(
            OwnRow(
                heads,
                *where,
                cells,
                published,
                row,
                answers=_count_statements(phase, steps),
                wording=wording_of([phase]),
            )
        )
    return rows


def _count_statements(phase: Phase, steps: pd.DataFrame, is_first: bool = False) -> AnswerCounts:
    """Count the statements that were asked for and those that failed calls left out."""
    per_debate = 1 if is_first else phase.judges * phase.rounds
    count = len(phase.predictions) * per_debate
    return AnswerCounts(count, n_missing=max(count - len(steps), 0), noun="statement")


def _human_votes(phase: Phase, steps: pd.DataFrame) -> dict[str, int]:
    """Count the debates by the human's stance, in all and for each case."""
    if phase.name != "human_ai":
        return {}
    counts: dict[str, int] = {}
    for stance, name in (("affirm", "human_affirms"), ("not affirm", "human_not_affirms")):
        of_stance = steps[steps["condition"] == stance]
        debates = of_stance.groupby("case_id")["debate_id"].nunique()
        counts[f"debates_{name}"] = int(debates.sum())
        counts[f"debates_{name}_per_case"] = int(debates.min()) if len(debates) else 0
    return counts


@fills("appellate/table2", STUDY)
def counts_of_first_step(run: ItemRun) -> list[Part]:
    """Count the first judge's positions in the first round, in all and by case."""
    rows: list[Part] = []
    for phase in list_phases(run.results):
        if phase.name != "synthetic":  # the table is of the simulated debates
            continue
        steps = select_regular_steps(phase.steps)
        steps = steps[steps["step"] == 1]
        cells: dict[tuple[str, str], Measurement] = {}
        for name, code in CODES.items():
            of_code = steps[steps["code"] == code]
            cells["", f"{name}:total"] = Measurement(float(len(of_code)), n=len(steps))
            for number in sorted(steps["number"].unique()):
                of_case, size = of_code[of_code["number"] == number], steps["number"] == number
                value = Measurement(float(len(of_case)), n=int(size.sum()))
                cells["", f"{name}:case{number}"] = value
        published = repeated_values(phase, "table2")
        source = f"{phase.experiment}, {phase.model_name} ({PHASE_TITLES[phase.name]})"
        where = (source, phase.data, float(steps["case_id"].nunique()))
        row = next((key for key, _ in published), "")
        answers = _count_statements(phase, steps, is_first=True)
        rows.append(
            OwnRow((), *where, cells, published, row, answers=answers, wording=wording_of([phase]))
        )
    return rows


@fills("appellate/figure5", STUDY)
def synthetic_votes(run: ItemRun) -> list[Part]:
    """Compute the share of debates that affirm at each step, by case and in all."""
    return [*_votes_by_step(run, ("affirm",))]


@fills("appellate/figure6", STUDY)
def multiagent_votes(run: ItemRun) -> list[Part]:
    """Compute the share of debates that affirm at each step, by case and in all."""
    return [*_votes_by_step(run, ("affirm",))]


@fills("appellate/figure7", STUDY)
def human_ai_votes(run: ItemRun) -> list[Part]:
    """Compute the shares of debates that affirm and that do not, by step and case."""
    return [*_votes_by_step(run, ("affirm", "not affirm"))]


def _votes_by_step(run: ItemRun, panels: tuple[str, ...]) -> Iterator[Series]:
    for phase in list_phases(run.results):
        if phase.name != PHASE_OF_FIGURES[run.item.key]:
            continue
        steps = select_regular_steps(phase.steps)
        for panel in panels:
            yield _series(phase, steps, panel, "all cases")
            numbers = sorted(steps["number"].unique())
            for number in numbers if len(numbers) > 1 else []:
                yield _series(phase, steps[steps["number"] == number], panel, f"case {number}")


def _series(phase: Phase, steps: pd.DataFrame, panel: str, name: str) -> Series:
    points = []
    for step, of_step in steps.groupby("step"):
        is_position = of_step["code"] == CODES_OF_PANELS[panel]
        jackknife = phase.results.sample(of_step["case_id"]).jackknife
        points.append(
            Point(float(str(step)), Measurement(*jackknife.estimate(share_statistic(is_position))))
        )
    cases = float(steps["case_id"].nunique())
    label = f"{phase.model_name}, {name}"
    return Series(label, phase.experiment, tuple(points), panel, data=phase.data, cases=cases)


# The text and appendix ii


@fills("appellate/text", STUDY)
def numbers_of_text(run: ItemRun) -> list[Part]:
    """Count changes of opinion and overruns by phase, and affirming statements of the first round.

    The rubric of appendix ii follows.
    """
    parts: list[Part] = []
    for phase in list_phases(run.results):
        source = f"{phase.experiment}, {phase.model_name}"
        changes, of_all = (
            phase.measurement(metric) for metric in ("changes", "changes_of_all_pairs")
        )
        if changes.n > 0:
            text = f"{changes.value:g} of {changes.n:g} between two positions"
            text += f", {of_all.value:g} of {of_all.n:g} with those to or from none ({source})"
            parts.append(Fact(f"{phase.name}/opinion_changes", text))
        is_overrun = phase.steps["kind"] == OVERRUN
        overruns = phase.steps.loc[is_overrun, "debate_id"].nunique()
        text = f"{overruns} of {len(phase.predictions)} ({source})"
        parts.append(Fact(f"{phase.name}/debates_overrunning_three_rounds", text))
        for seat in range(1, phase.judges + 1):
            share = phase.measurement("affirm_share_of_statements", group=f"round=1;seat={seat}")
            row = f"{phase.name}_round1_judge{seat}/affirm_share"
            if share.n > 0:
                parts.append(Fact(row, f"{share.value:.2f} ({source})"))
    clauses = [
        (
            f"{label} ({CRITERIA_OF_LABELS.get(label, 'explicit')})",
            f"{meaning} Example: “{EXAMPLES_OF_LABELS[label]}”",
        )
        for label, meaning in RUBRIC.labels.items()
    ]
    return [*parts, Clauses(RUBRIC_TITLE, tuple(clauses))]


# Diagrams


@fills("appellate/figure1", STUDY)
def phases(run: ItemRun) -> list[Part]:
    """Draw each phase as it is configured."""
    return run.draw_designs(_phase_diagram)


@fills("appellate/figure3", STUDY)
def synthetic_framework(run: ItemRun) -> list[Part]:
    """Draw the synthetic debate: one model, whose memory grows by a round."""
    return run.draw_designs(_phase_diagram)


@fills("appellate/figure4", STUDY)
def multiagent_framework(run: ItemRun) -> list[Part]:
    """Draw the debate of separate judges, who share memory after each round."""
    return run.draw_designs(_phase_diagram)


def _phase_diagram(design: Design) -> Diagram:
    phase = PHASES[design.protocol]
    judges, rounds = int(design.params["judges"]), int(design.params["rounds"])
    if phase == "synthetic":
        return _synthetic_diagram(judges, rounds)
    seats = [f"judge {number}" for number in range(1, judges + 1)]
    if phase == "human_ai":
        seats[-1] = HUMAN_SEAT
    memory = "memory"
    steps = [Step(memory, "instructions and facts of the case", stage="Start")]
    for number in range(1, rounds + 1):
        source = len(steps) - 1
        first = len(steps)
        for seat in seats:
            text = "human opinion" if seat == HUMAN_SEAT else "opinion and confidence"
            reads = () if seat == HUMAN_SEAT and design.params.get("human") == "bank" else (source,)
            is_later = len(steps) > first
            steps.append(Step(seat, text, reads, stage=f"Round {number}", is_simultaneous=is_later))
        added = tuple(range(first, len(steps)))
        steps.append(
            Step(memory, "all opinions of the round are appended", added, stage=f"Round {number}")
        )
    notes = ("Within a round no judge reads another; each reads the memory of the earlier rounds.",)
    return Diagram("", (memory, *seats), tuple(steps), notes)


def _synthetic_diagram(judges: int, rounds: int) -> Diagram:
    memory, model = "memory", "one model"
    steps = [Step(memory, "instructions and facts of the case", stage="Start")]
    names = ", ".join(f"judge {number}" for number in range(1, judges + 1))
    for number in range(1, rounds + 1):
        stage = f"Round {number}"
        steps.append(Step(model, f"writes the round: {names}", (len(steps) - 1,), stage=stage))
        steps.append(Step(memory, "the reply is appended", (len(steps) - 1,), stage=stage))
    return Diagram("", (memory, model), tuple(steps), ("One model speaks for all judges.",))


@fills("appellate/figure2", STUDY)
def prompt_clauses(run: ItemRun) -> list[Part]:
    """Show the configured prompt by clause, in the order in which it is sent."""
    design = run.designs[-1]
    if passages := _passages(design):
        return [Clauses(f"As configured in {design.experiment}", passages, (PASSAGES_NOTE,))]
    sources = {name: text for name, text in design.templates.items() if name.startswith("panel/")}
    base = sources.get("panel/base.jinja", "")
    clauses = [(name, text) for name, text in _split_clauses(base, design.params)]
    clauses.append(("Setting (dependent clause)", "[facts of the case]"))
    clauses.append(("Record", "[statements of earlier rounds]"))
    statement = sources.get("panel/statement.jinja", "")
    clauses.append(("Persona and turn", _instruction(statement)))
    note = (
        "Drawn from the template `config/prompts/panel/base.jinja`. The paper names the clauses"
        " background, setting, generative instruction, sources to cite, persona, tone, step-by-step"
        " reasoning and certainty. Ours has no clause of background, which in the paper is earlier"
        " decisions, and none of tone."
    )
    return [Clauses(f"As configured in {design.experiment}", tuple(clauses), (note,))]


PASSAGES_NOTE = "The passages of the paper that the prompts consist of, with slots in brackets."


def _passages(design: Design) -> tuple[tuple[str, str], ...]:
    """Return the passages of prompts in the paper's words; none if the words are moot's."""
    passages = []
    for name, text in design.templates.items():
        if name.startswith("words/"):
            title = Path(name).stem.replace("_", " ").capitalize()
            passages.append((title, re.sub(r"\{(\w+)\}", r"[\1]", " ".join(text.split()))))
    return tuple(passages)


_CLAUSE_WORDS = (
    ("step by step", "Step-by-step reasoning (zero-shot chain of thought)"),
    ("simulated for research", "Setting"),
    ("decides whether", "Persona and question"),
    ("cites cases", "Generative instruction, sources to cite, certainty"),
    ("never an instruction", "Material, not instruction"),
)


def _split_clauses(template: str, params: Fields) -> Iterator[tuple[str, str]]:
    """Yield the sentences of the system prompt with the clause that each belongs to.

    The appellate court's branch is taken, and words that only it adds.
    """
    text = template.partition('role("system")')[2].partition('role("user")')[0]
    text = text.partition("{% else %}")[0] + text.partition("{% endif %}")[2]
    text = re.sub(r"\{%.*?%\}|\{#.*?#\}", "", text, flags=re.DOTALL)
    text = re.sub(r'\{\{\s*"([^"]*)" if [^}]*\}\}', r"\1", text)
    text = re.sub(r"\{\{\s*params\.(\w+)\s*\}\}", lambda name: str(params[name[1]]), text)
    text = re.sub(r"\{\{\s*(\w+)[^}]*\}\}", r"[\1]", text).strip(" }{\n")
    for sentence in re.split(r"(?<=[.!?])\s+", " ".join(text.split())):
        name = next((name for words, name in _CLAUSE_WORDS if words in sentence), "Instruction")
        if sentence:
            yield name, sentence


def _instruction(template: str) -> str:
    text = re.sub(r"\{%.*?%\}|\{#.*?#\}", "", template.partition("{% block seat_name %}")[0])
    text = text.replace("{{ self.seat_name() }}", "Judge [x]").replace("{{ number }}", "[n]")
    return " ".join(text.split())
